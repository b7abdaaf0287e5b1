import LarderOData
import LarderStorage

/// What a name, `$it`, `$this` or a variable of a lambda stands for in SQL.
indirect enum Scope {
  /// A row of an entity table.
  case entity(EntityScope)
  /// A complex value whose parts are columns.
  case complex(ComplexScope)
  /// A primitive value.
  case value(SQLOperand)
  /// A value in JSON: complex, untyped, or a collection.
  case json(JSONPlace)
  /// What `$apply` or `$crossjoin` has made: members by name.
  case row(ComputedRow)
  /// A collection of rows that `$apply` has made of each row.
  case nested(NestedRows)
}

/// A row of an entity table in a statement.
struct EntityScope {
  /// The statement whose text has the alias.
  let home: Statement
  let alias: String
  let table: EntityTable
  /// What the row is known as at this place.
  var type: EdmStructure
  /// The numbers of the types that it must have, where a cast asks for more than the row is known to be: else its
  /// properties are null.
  var guardedBy: [Int]?
  /// Properties of `$compute` and `$apply`; one with the name of a declared property stands in its place.
  var computed: [String: Scope] = [:]
  /// Entities among these that the answer shows in line, as in ``ComputedRow``.
  var inLine: Set<String> = []
}

/// A complex value whose parts are columns of an entity's row.
struct ComplexScope {
  let owner: EntityScope
  /// From the entity.
  let path: [String]
  var type: EdmStructure?
  /// Whether a cast asks for more than the value is known to be.
  var isCast = false
}

/// A value in a JSON text.
struct JSONPlace {
  /// The JSON text.
  var base: SQLText
  /// Where in it a row of `json_each` stands; nil for its beginning.
  var key: SQLText?
  /// The steps from there: `."Name"[0]`.
  var steps = ""
  var type: ODataBoundType
  /// Of a collection, the types that a cast leaves of its items.
  var onlyTypes: [String]?

  /// The place of a column. A collection is never null (CSDL 4.01 §7.2.1): one that nobody has given is empty, which its
  /// column has as NULL.
  static func column(_ text: SQLText, type: ODataBoundType) -> JSONPlace {
    JSONPlace(base: type.isCollection ? .atom("ifnull(\(text), '[]')") : text, type: type)
  }

  /// The path in SQL.
  var path: SQLText {
    guard let key else { return SQLText(.text("$" + steps)) }
    return steps.isEmpty ? key : .atom("(\(key) || \(value: .text(steps)))")
  }

  /// Whether it is the whole text.
  var isWhole: Bool { key == nil && steps.isEmpty }

  /// The value as JSON.
  var json: SQLText { isWhole ? base : .atom("(\(operand: base) -> \(path))") }

  /// The value of a scalar; JSON of others.
  var scalar: SQLText { .atom("json_extract(\(base), \(path))") }

  /// `object`, `array`, `text`, `null` … ; NULL where there is none.
  var kind: SQLText { .atom("json_type(\(base), \(path))") }

  /// The table of its items.
  func items(as alias: String) -> SQLText {
    isWhole ? "json_each(\(base)) AS \(alias: alias)" : "json_each(\(base), \(path)) AS \(alias: alias)"
  }

  /// Whether an object is of one of some types: it says its own where that is not the declared one.
  static func isOf(_ types: [String], _ object: SQLText, declared: ODataBoundType) -> SQLText {
    let name: SQLText = "json_extract(\(object), '$.\"@odata.type\"')"
    let own = SQLText(.text("#" + (declared.item.structure?.name ?? "")))
    let list = SQLText.joined(types.map { SQLText(.text("#" + $0)) }, ", ")
    return .atom("(json_type(\(object)) = 'object' AND ifnull(\(name), \(own)) IN (\(list)))")
  }

  /// A member of it.
  func member(_ name: String, type: ODataBoundType) throws -> JSONPlace {
    guard !name.unicodeScalars.contains(where: { $0 == "\"" || $0 == "\\" || $0.value < 0x20 }) else {
      throw OfflineODataError.unsupported("the name of a property with quotes or control characters")
    }
    var place = self
    place.steps += ".\"" + name + "\""
    place.type = type
    return place
  }

  /// An item by its place; negative from the end.
  func item(_ ordinal: Int) -> JSONPlace {
    var place = self
    place.steps += ordinal < 0 ? "[#\(ordinal)]" : "[\(ordinal)]"
    place.type.isCollection = false
    return place
  }

  /// The scalar as an operand.
  var operand: SQLOperand { JSONPlace.operand(scalar, type: type) }

  /// A scalar that came out of JSON, in the form of a column of its type.
  static func operand(_ text: SQLText, type: ODataBoundType) -> SQLOperand {
    var value = SQLOperand(text: text, storage: type.storage, type: type)
    switch value.storage {
    case .real:
      value.text = .atom("CASE \(text) WHEN 'INF' THEN 9e999 WHEN '-INF' THEN -9e999 ELSE \(text) END")
      value.mayBeNaN = true
    case .json: value.storage = nil
    default: break
    }
    return value
  }
}

/// Rows of other tables that a path leads to: tables and what joins them.
struct RelatedRows {
  /// SQLite joins no more, whatever it is built with.
  static let mostTables = 64

  var tables: [SQLText] = []
  var conditions: [SQLText] = []

  /// `FROM … WHERE …` with one condition more.
  func from(_ more: SQLText? = nil) -> SQLText {
    let all = conditions + (more.map { [$0] } ?? [])
    let tables = SQLText.joined(tables, ", ")
    if all.isEmpty { return "FROM \(tables)" }
    if all.count == 1 { return "FROM \(tables) WHERE \(all[0])" }
    return "FROM \(tables) WHERE \(SQLText.joined(all.map(\.operand), " AND "))"
  }

  /// The value that a text has in the first row.
  func value(_ text: SQLText) -> SQLText { .atom("(SELECT \(text) \(from()))") }
}

/// What the steps of a path have come to.
struct PathPlace {
  /// The rows that the path has gone through beside the one that it began at.
  var rows: RelatedRows?
  /// What a step goes on from: of a collection, each item.
  var scope: Scope
  /// Whether there are many.
  var isCollection = false
}

/// What expressions stand on.
struct Environment {
  /// Where paths without a root begin.
  var current: Scope?
  /// `$it`
  var it: Scope?
  /// `$this`
  var this: Scope?
  /// `$these`: the rows that conditions and transformations begin with.
  var these: PathPlace?
  /// Variables of lambdas.
  var variables: [String: Scope] = [:]

  /// One that stands on something else; `$it` stays what it is, where there is one.
  func on(_ scope: Scope) -> Environment {
    Environment(current: scope, it: it ?? scope, this: scope, these: these, variables: variables)
  }
}
