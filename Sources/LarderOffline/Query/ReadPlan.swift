import LarderOData
import LarderStorage

/// A question as SQL, and how its rows become an answer. Made by `QueryWriter` from a bound URL; run by `Answers`.
///
/// Each expanded navigation property has a plan of its own that is run once for each row of the plan around it: with its
/// statement prepared and an index on what joins them, that costs microseconds and no memory, and nested options mean
/// what they say.
final class ReadPlan: Sendable {
  /// One statement.
  let sql: String
  /// What its parameters are bound to, in their order.
  let parameters: [ReadParameter]
  /// What its columns are.
  let content: ReadContent
  /// Whether there is one row at most: `Set(key)`, a singleton, a to-one navigation property.
  let isSingle: Bool
  /// The statement that counts all, for `$count=true`; its one column is the number.
  let count: ReadCount?
  /// The page's end: rows beyond it are asked for to see that there are some; nil reads all.
  let page: ReadPage?
  /// Where no row comes, or `/$count` is 0: the statement that counts what the path goes through before its last step. 0 means that there is
  /// no such resource (404); else a collection is empty, and a single value null (204). nil: a collection always is, and a
  /// single entity that does not come is none (404).
  let owner: ReadCount?
  /// What has to be in the copy, asked before the rows are.
  let checks: [ReadCheck]
  /// The tables whose strings `$search` looks through one by one, because they have no full-text index: with one
  /// (`Replica.prepareSearch`), words are found as words, and the question is planned anew.
  let unindexed: Set<Int>
  /// Whether the plan holds the time at which it was made: the same question later is another one.
  let isOfMoment: Bool
  /// What asks once more where a function has no value for a row; nil where none can fail.
  let naming: RowNaming?

  init(
    sql: String, parameters: [ReadParameter], content: ReadContent, isSingle: Bool, count: ReadCount? = nil,
    page: ReadPage? = nil, owner: ReadCount? = nil, checks: [ReadCheck] = [], unindexed: Set<Int> = [],
    isOfMoment: Bool = false, naming: RowNaming? = nil
  ) {
    self.sql = sql
    self.parameters = parameters
    self.content = content
    self.isSingle = isSingle
    self.count = count
    self.page = page
    self.owner = owner
    self.checks = checks
    self.unindexed = unindexed
    self.isOfMoment = isOfMoment
    self.naming = naming
  }

  /// The same plan with other values.
  func with(_ parameters: [ReadParameter]) -> ReadPlan {
    ReadPlan(
      sql: sql, parameters: parameters, content: content, isSingle: isSingle, count: count, page: page, owner: owner,
      checks: checks, unindexed: unindexed, isOfMoment: isOfMoment)
  }

  /// The same plan with what its statement needs.
  func checking(_ statement: Statement) -> ReadPlan {
    guard !statement.checks.isEmpty else { return self }
    return ReadPlan(
      sql: sql, parameters: parameters, content: content, isSingle: isSingle, count: count, page: page, owner: owner,
      checks: statement.checks.map { ReadCheck($0.text, $0.failure) }, unindexed: unindexed, isOfMoment: isOfMoment)
  }

  /// The same plan, with what was found while it was written.
  func noting(_ question: Question) -> ReadPlan {
    guard !question.unindexed.isEmpty || question.asksTime || question.mayFail else { return self }
    return ReadPlan(
      sql: sql, parameters: parameters, content: content, isSingle: isSingle, count: count, page: page, owner: owner,
      checks: checks, unindexed: question.unindexed, isOfMoment: question.asksTime,
      naming: question.mayFail ? question.naming : nil)
  }
}

extension ReadPlan {
  /// Throws what is not in the copy of what the plan needs, for a plan that stands in no other.
  func check(_ connection: Connection) throws {
    for check in checks { try check.run(ResultWriter.values(check.parameters), connection) }
  }

  /// The same at a row of the plan around it.
  func check(_ connection: Connection, at row: borrowing Row) throws {
    for check in checks { try check.run(ResultWriter.values(check.parameters, at: row), connection) }
  }
}

/// What a parameter of a plan's statement is bound to.
enum ReadParameter: Sendable, Hashable {
  case value(SQLValue)
  /// The value of a column of the row of the plan around it, by the column's place.
  case outer(Int32)
}

/// The statement that counts.
struct ReadCount: Sendable {
  let sql: String
  let parameters: [ReadParameter]
}

/// A statement that has a row where something that a plan needs is not in the copy.
struct ReadCheck: Sendable {
  let sql: String
  let parameters: [ReadParameter]
  /// What is thrown then.
  let failure: OfflineODataError

  init(_ text: SQLText, _ failure: OfflineODataError) {
    (sql, parameters, self.failure) = (text.sql + " LIMIT 1", text.parameters, failure)
  }

  fileprivate func run(_ values: [SQLValue], _ connection: Connection) throws {
    var isLacking = false
    try connection.forEachRow(sql, values) { (_) throws(StorageError) in
      isLacking = true
      return false
    }
    if isLacking { throw failure }
  }
}

/// Server-driven paging: after `size` rows the answer ends, with a link that goes on behind the last one.
struct ReadPage: Sendable {
  /// The rows of a page; the statement asks for one more.
  let size: Int
  /// The columns of a row that make its place in the order, for ``SkipToken``.
  let token: [Int32]
  /// What the token says beside the row's place: the question's order.
  let order: UInt64
  /// The rows of the pages before; `$top` counts them. The next page's token says `delivered + size`.
  let delivered: Int
}

/// What the columns of a statement are.
indirect enum ReadContent: Sendable {
  /// Entities, or rows of `$apply` that have no identity any more (`table` nil).
  case objects(ReadShape)
  /// References to entities.
  case references(ReadShape)
  /// One primitive, enumeration, complex or JSON value a row: `Set(key)/Property`, `/$value`.
  case value(ReadMember, isRaw: Bool)
  /// The number of entities as text: `/$count`.
  case count
  /// The bytes of a media entity or stream property: the columns hold its identity and what is known of it.
  case media(ReadShape, property: String?)
}

/// One object: which columns are its parts. Places count from 0.
final class ReadShape: Sendable {
  /// The table of the entities; nil for objects of `$apply` and `$compute` that are none, and for complex values.
  let table: EntityTable?
  /// The declared type at this place; nil where it is made by the question.
  let type: EdmStructure?
  /// The set or singleton for context URLs and entity-ids; nil for contained and made ones.
  let source: ODataBoundSource?
  /// Where the system columns stand; nil for those that the statement does not read.
  let id: Int32?
  let typeNumber: Int32?
  let etag: Int32?
  let uri: Int32?
  let media: Int32?
  let state: Int32?
  /// Where the parts of the key stand, for entity-ids.
  let key: [Int32]
  /// The properties that the answer shows, in their order.
  let members: [ReadMember]
  /// The navigation properties in line.
  let expands: [ReadExpand]

  init(
    table: EntityTable?, type: EdmStructure?, source: ODataBoundSource? = nil, id: Int32? = nil,
    typeNumber: Int32? = nil, etag: Int32? = nil, uri: Int32? = nil, media: Int32? = nil, state: Int32? = nil,
    key: [Int32] = [], members: [ReadMember], expands: [ReadExpand] = []
  ) {
    self.table = table
    self.type = type
    self.source = source
    self.id = id
    self.typeNumber = typeNumber
    self.etag = etag
    self.uri = uri
    self.media = media
    self.state = state
    self.key = key
    self.members = members
    self.expands = expands
  }
}

/// A property of an object.
struct ReadMember: Sendable {
  /// The name in the answer.
  let name: String
  let kind: Kind
  /// The type of the value, for values that are made (`$compute`, aggregates) and for enumerations.
  let type: ODataBoundType
  /// The types that have the property: nil for all, else indices in the table's types. A row of another type leaves it
  /// out.
  var types: Set<Int>? = nil
  /// The place of a column that is 0 in rows of which the property was not downloaded: without a value they leave it out.
  var presence: Int32? = nil

  enum Kind: Sendable {
    /// A primitive or JSON value.
    case column(Int32, ColumnStorage)
    /// A complex value: its marker's place, and its properties.
    case complex(Int32, [ReadMember])
    /// The undeclared properties of an open type: they stand among the others. `nil` shows all, else those named.
    case dynamic(Int32, only: Set<String>?)
    /// An entity that is not in line: its navigation link, of the identity that stands in the columns of the shape
    /// (`$crossjoin`).
    case link(ReadShape)
  }
}

/// An expanded navigation property.
struct ReadExpand: Sendable {
  /// The path of names: one, or more through complex properties.
  let path: [String]
  let isCollection: Bool
  let content: ODataBoundExpandItem.Content
  /// The types that have it, as in ``ReadMember``.
  var types: Set<Int>? = nil
  /// The plan of what is related, its parameters bound to the row around it. `$levels` has a plan for each level.
  let plan: ReadPlan
  /// `$levels=max`: an entity that stands above itself already shows nothing of this property any more.
  var stopsAtCycles = false
  /// A collection that `nest` or `addnested` made: its context says what it holds (Data Aggregation 4.0 §3.4.3, §3.5.2).
  var isMade = false
  /// Where its instances come from, where the plan's shape does not say.
  var source: ODataBoundSource?
  /// One of several alternatives for entities of any type: it is for rows with this value; nil is for all rows.
  var only: Only?
  /// The alternative's options, which no item of the question's own has.
  var options: ODataBoundOptions?

  /// What chooses among alternatives.
  struct Only: Sendable, Hashable {
    let column: Int32
    /// Nil for NULL.
    let text: String?
  }
}
