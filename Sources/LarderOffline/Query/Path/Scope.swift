import LarderOData
import LarderStorage

/// What a name, `$it`, `$this` or a lambda variable refers to in SQL.
indirect enum Scope {
  /// A row of an entity table.
  case entity(EntityScope)
  /// A complex value whose parts are columns.
  case complex(ComplexScope)
  /// A primitive value.
  case value(SQLOperand)
  /// A value in JSON: complex, untyped, or a collection.
  case json(JSONPlace)
  /// A row that `$apply` or `$crossjoin` has computed: members by name.
  case row(ComputedRow)
  /// A collection of rows that `$apply` has computed for each row.
  case nested(NestedRows)
}

/// A row of an entity table in a statement.
struct EntityScope {
  /// The statement whose text has the alias.
  let statement: SelectStatement
  let alias: String
  let table: EntityTable
  /// The type that the row is known to have at this place.
  var type: EdmStructure
  /// The numbers of the types that the row must have, if a cast requires a type that the row is not known to have. If
  /// the row has another type, its properties are null.
  var guardedBy: [Int]?
  /// Properties of `$compute` and `$apply`; a property with the name of a declared one replaces it.
  var computed: [String: Scope] = [:]
  /// Names of the computed entities that the result shows inline, as in ``ComputedRow``.
  var inLine: Set<String> = []
}

/// A complex value whose parts are columns of an entity's row.
struct ComplexScope {
  let owner: EntityScope
  /// The path from the entity.
  let path: [String]
  var type: EdmStructure?
  /// Whether a cast requires a type that the value is not known to have.
  var isCast = false
}

/// A value in a JSON text.
struct JSONPlace {
  /// The JSON text.
  var base: SQLText
  /// The path of a row of `json_each` in the JSON text; nil for the root of the text.
  var key: SQLText?
  /// The steps from `key`: `."Name"[0]`.
  var steps = ""
  var type: ODataBoundType
  /// For a collection, the types of the items that a cast keeps.
  var onlyTypes: [String]?

  /// The place of a column. A collection is never null (CSDL 4.01 §7.2.1): if it was never set, its column is NULL and
  /// the collection is empty.
  static func column(_ text: SQLText, type: ODataBoundType) -> JSONPlace {
    JSONPlace(base: type.isCollection ? .atom("ifnull(\(text), '[]')") : text, type: type)
  }

  /// The JSON path, as SQL.
  var path: SQLText {
    guard let key else { return SQLText(.text("$" + steps)) }
    return steps.isEmpty ? key : .atom("(\(key) || \(value: .text(steps)))")
  }

  /// Whether the place is the whole JSON text.
  var isWhole: Bool { key == nil && steps.isEmpty }

  /// The value as JSON.
  var json: SQLText { isWhole ? base : .atom("(\(operand: base) -> \(path))") }

  /// The value of a scalar; for other values, their JSON.
  var scalar: SQLText { .atom("json_extract(\(base), \(path))") }

  /// The JSON type (`object`, `array`, `text`, `null` …); NULL if there is no value.
  var kind: SQLText { .atom("json_type(\(base), \(path))") }

  /// The table of the items of a collection.
  func items(as alias: String) -> SQLText {
    isWhole ? "json_each(\(base)) AS \(alias: alias)" : "json_each(\(base), \(path)) AS \(alias: alias)"
  }

  /// The condition that an object is of one of some types. The object names its type if that is not the declared one.
  static func isOf(_ types: [String], _ object: SQLText, declared: ODataBoundType) -> SQLText {
    let name: SQLText = "json_extract(\(object), '$.\"@odata.type\"')"
    let declaredName = SQLText(.text("#" + (declared.item.structure?.name ?? "")))
    let list = SQLText.joined(types.map { SQLText(.text("#" + $0)) }, ", ")
    return .atom("(json_type(\(object)) = 'object' AND ifnull(\(name), \(declaredName)) IN (\(list)))")
  }

  /// The place of a member of the object.
  func member(_ name: String, type: ODataBoundType) throws -> JSONPlace {
    guard !name.unicodeScalars.contains(where: { $0 == "\"" || $0 == "\\" || $0.value < 0x20 }) else {
      throw OfflineODataError.unsupported("a property name with quotes or control characters")
    }
    var place = self
    place.steps += ".\"" + name + "\""
    place.type = type
    return place
  }

  /// The place of an item, by its index; negative indexes count from the end.
  func item(_ ordinal: Int) -> JSONPlace {
    var place = self
    place.steps += ordinal < 0 ? "[#\(ordinal)]" : "[\(ordinal)]"
    place.type.isCollection = false
    return place
  }

  /// The scalar as an operand.
  var operand: SQLOperand { JSONPlace.operand(scalar, type: type) }

  /// A scalar read from JSON, in the form that a column of its type has.
  static func operand(_ text: SQLText, type: ODataBoundType) -> SQLOperand {
    var value = SQLOperand(text: text, storage: type.storage, type: type)
    switch value.storage {
    case .real:
      value.text = .atom("CASE \(text) WHEN 'INF' THEN 9e999 WHEN '-INF' THEN -9e999 ELSE \(text) END")
      value.canBeNaN = true
    case .json: value.storage = nil
    default: break
    }
    return value
  }
}

/// Rows of other tables that a path leads to: the tables and their join conditions.
struct RelatedRows {
  /// The number of tables that SQLite can join at most, in any build.
  static let maximumTables = 64

  var tables: [SQLText] = []
  var conditions: [SQLText] = []

  /// `FROM … WHERE …` with one additional condition.
  func from(_ more: SQLText? = nil) -> SQLText {
    let all = conditions + (more.map { [$0] } ?? [])
    let tables = SQLText.joined(tables, ", ")
    if all.isEmpty { return "FROM \(tables)" }
    if all.count == 1 { return "FROM \(tables) WHERE \(all[0])" }
    return "FROM \(tables) WHERE \(SQLText.joined(all.map(\.operand), " AND "))"
  }

  /// The value of an expression in the first row.
  func value(_ text: SQLText) -> SQLText { .atom("(SELECT \(text) \(from()))") }
}

/// The result of the segments of a path.
struct PathPlace {
  /// The rows that the path has gone through, except the one where it began.
  var rows: RelatedRows?
  /// Where the next segment starts: for a collection, each item.
  var scope: Scope
  /// Whether the path leads to a collection.
  var isCollection = false
}

/// The instances that the paths in an expression refer to.
struct Environment {
  /// Where paths without a root start.
  var current: Scope?
  /// `$it`
  var it: Scope?
  /// `$this`
  var this: Scope?
  /// `$these`: the rows that conditions and transformations start with.
  var these: PathPlace?
  /// The variables of lambdas.
  var variables: [String: Scope] = [:]

  /// The environment of another current instance. `$it` is kept if it is set.
  func on(_ scope: Scope) -> Environment {
    Environment(current: scope, it: it ?? scope, this: scope, these: these, variables: variables)
  }
}
