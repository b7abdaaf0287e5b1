import LarderOData
import LarderStorage

/// The SQL of a query, and how its rows become a result. `QueryWriter` creates it from a bound URL; `ResultRun` runs
/// it.
///
/// Each expanded navigation property has a plan of its own, which runs once for each row of the enclosing plan. Because
/// the statement is prepared and the joining columns have an index, a run takes microseconds and no memory, and nested
/// options keep their meaning.
final class ReadPlan: Sendable {
  /// The SQL of the statement.
  let sql: String
  /// What the parameters are bound to, in their order.
  let parameters: [ReadParameter]
  /// What the columns are.
  let content: ReadContent
  /// Whether there is at most one row: `Set(key)`, a singleton, a to-one navigation property.
  let isSingle: Bool
  /// The statement for `$count=true`: its only column is the number of all rows.
  let count: ReadCount?
  /// The limit of the page. The statement reads one row more, to see whether there is a next page; nil reads all rows.
  let page: ReadPage?
  /// The statement to run if there are no rows, or if `/$count` is 0: it counts the rows that the path goes through
  /// before its last step. If that count is 0, there is no such resource (404); otherwise a collection is empty and a
  /// single value is null (204). With nil, a collection always exists, and a missing single entity is no resource
  /// (404).
  let owner: ReadCount?
  /// What must be in the copy. The checks run before the rows are read.
  let checks: [ReadCheck]
  /// The tables without a full-text index whose strings `$search` compares one by one. With an index
  /// (`Replica.prepareSearch`), search finds whole words, and the query is planned again.
  let unindexed: Set<Int>
  /// Whether the plan contains the time at which it was created: a later run of the same query needs a new plan.
  let usesCurrentTime: Bool
  /// Runs the query again if a function has no value for a row, to name the row; nil if no function can fail.
  let rowNaming: RowNaming?

  init(
    sql: String, parameters: [ReadParameter], content: ReadContent, isSingle: Bool, count: ReadCount? = nil,
    page: ReadPage? = nil, owner: ReadCount? = nil, checks: [ReadCheck] = [], unindexed: Set<Int> = [],
    usesCurrentTime: Bool = false, rowNaming: RowNaming? = nil
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
    self.usesCurrentTime = usesCurrentTime
    self.rowNaming = rowNaming
  }

  /// Returns a copy of the plan with other parameter values.
  func with(_ parameters: [ReadParameter]) -> ReadPlan {
    ReadPlan(
      sql: sql, parameters: parameters, content: content, isSingle: isSingle, count: count, page: page, owner: owner,
      checks: checks, unindexed: unindexed, usesCurrentTime: usesCurrentTime)
  }

  /// Returns a copy of the plan with the checks that its statement needs.
  func addingChecks(_ statement: SelectStatement) -> ReadPlan {
    guard !statement.checks.isEmpty else { return self }
    return ReadPlan(
      sql: sql, parameters: parameters, content: content, isSingle: isSingle, count: count, page: page, owner: owner,
      checks: statement.checks.map(ReadCheck.init), unindexed: unindexed,
      usesCurrentTime: usesCurrentTime)
  }

  /// Returns a copy of the plan with what the writer recorded while it wrote the query.
  func addingNotes(_ context: QueryContext) -> ReadPlan {
    guard !context.unindexed.isEmpty || context.usesCurrentTime || context.canFail else { return self }
    return ReadPlan(
      sql: sql, parameters: parameters, content: content, isSingle: isSingle, count: count, page: page, owner: owner,
      checks: checks, unindexed: context.unindexed, usesCurrentTime: context.usesCurrentTime,
      rowNaming: context.canFail ? context.rowNaming : nil)
  }
}

extension ReadPlan {
  /// Runs the checks of a plan that is not nested. Throws if data that the plan needs is not in the copy.
  func check(_ connection: Connection) throws {
    for check in checks { try check.run(check.parameters.values(), connection) }
  }

  /// Runs the checks of a nested plan, for one row of the enclosing plan.
  func check(_ connection: Connection, at row: borrowing Row) throws {
    for check in checks { try check.run(check.parameters.values(at: row), connection) }
  }
}

/// A statement that counts rows.
struct ReadCount: Sendable {
  let sql: String
  let parameters: [ReadParameter]
}

/// A statement that returns a row if data that a plan needs is not in the copy, or does not fit its declared type.
struct ReadCheck: Sendable {
  let sql: String
  let parameters: [ReadParameter]
  /// The error to throw if there is a row.
  let failure: OfflineODataError
  /// For values that do not fit, the path of the property. The row contains the name of the entity.
  private let rawProperty: String?

  init(_ check: SelectStatement.Check) {
    (sql, parameters) = (check.text.sql + " LIMIT 1", check.text.parameters)
    (failure, rawProperty) = (check.failure, check.rawProperty)
  }

  fileprivate func run(_ values: [SQLValue], _ connection: Connection) throws {
    var failure: OfflineODataError?
    try connection.forEachRow(sql, values) { (row) throws(StorageError) in
      failure = self.failure
      if let rawProperty, let entity = try row.textOrNil(0) {
        failure = RawValue.failure(of: entity, rawProperty)
      }
      return false
    }
    if let failure { throw failure }
  }
}

/// Server-driven paging: after `size` rows the result ends, with a link to the rows after the last one.
struct ReadPage: Sendable {
  /// The number of rows of a page; the statement reads one row more.
  let size: Int
  /// The columns that contain a row's position in the order, for ``SkipToken``.
  let token: [Int32]
  /// The digest of the query's order, which the token also contains.
  let order: UInt64
  /// The number of rows on the pages before; `$top` includes them. The next page's token contains `delivered + size`.
  let delivered: Int
}

/// What the columns of a statement contain.
indirect enum ReadContent: Sendable {
  /// Entities, or rows of `$apply` that have no identity (`table` is nil).
  case objects(ReadShape)
  /// References to entities.
  case references(ReadShape)
  /// One primitive, enumeration, complex or JSON value for each row: `Set(key)/Property`, `/$value`.
  case value(ReadMember, isRaw: Bool)
  /// The number of entities as text: `/$count`.
  case count
  /// The bytes of a media entity or stream property: the columns contain its identity and the details of the stream.
  case media(ReadShape, property: String?)
}

/// Which columns contain the parts of one object. Column positions count from 0.
final class ReadShape: Sendable {
  /// The table of the entities; nil for objects of `$apply` and `$compute` that are not entities, and for complex
  /// values.
  let table: EntityTable?
  /// The declared type at this place; nil if the query creates the type.
  let type: EdmStructure?
  /// The set or singleton for context URLs and entity-ids; nil for contained entities and computed objects.
  let source: ODataBoundSource?
  /// The position of each system column; nil if the statement does not read it.
  let id: Int32?
  let typeNumber: Int32?
  let etag: Int32?
  let uri: Int32?
  let media: Int32?
  let state: Int32?
  /// The positions of the parts of the key, for entity-ids.
  let key: [Int32]
  /// The properties that the result shows, in their order.
  let members: [ReadMember]
  /// The expanded navigation properties.
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
  /// The name in the result.
  let name: String
  let kind: Kind
  /// The type of the value, for computed values (`$compute`, aggregates) and for enumerations.
  let type: ODataBoundType
  /// The types that have the property, as indices in the table's types; nil for all. A row of another type omits the
  /// property.
  var types: Set<Int>? = nil
  /// The types of the enclosing complex value that have the member, if `$select` names types; empty for all.
  var casts: [EdmStructure] = []
  /// The position of a column that is 0 in rows whose property was not downloaded. Such a row omits the property if it
  /// has no value.
  var presence: Int32? = nil
  /// Whether the column may have a ``RawValue``: an annotation then shows it, and the property is left out.
  var mayBeRaw = false

  enum Kind: Sendable {
    /// A primitive or JSON value.
    case column(Int32, ColumnStorage)
    /// A complex value: the position of its marker, and its properties.
    case complex(Int32, [ReadMember])
    /// The undeclared properties of an open type, which are shown among the others. `nil` shows all, otherwise those
    /// named.
    case dynamic(Int32, only: Set<String>?)
    /// The navigation link of an entity that is not inline. The columns of the shape contain its identity
    /// (`$crossjoin`).
    case link(ReadShape)
  }
}

/// An expanded navigation property.
struct ReadExpand: Sendable {
  /// The path of names: more than one if the property belongs to a complex property.
  let path: [String]
  let isCollection: Bool
  let content: ODataBoundExpandItem.Content
  /// The types that have the property, as in ``ReadMember/types``.
  var types: Set<Int>? = nil
  /// The plan of the related entities; its parameters come from the enclosing row. `$levels` has a plan for each level.
  let plan: ReadPlan
  /// Whether an entity that already occurs above itself omits the property: for `$levels=max`.
  var stopsAtCycles = false
  /// Whether `nest` or `addnested` created the collection: its context describes its content (Data Aggregation 4.0
  /// §3.4.3, §3.5.2).
  var isComputed = false
  /// The set or singleton of its entities, if the shape of the plan does not contain it.
  var source: ODataBoundSource?
  /// For one of several alternatives for entities of any type: the value that chooses its rows; nil applies to all
  /// rows.
  var only: Only?
  /// The alternative's options, which no `$expand` item of the query's own has.
  var options: ODataBoundOptions?

  /// The column value that chooses an alternative.
  struct Only: Sendable, Hashable {
    let column: Int32
    /// The value; nil for NULL.
    let text: String?
  }
}
