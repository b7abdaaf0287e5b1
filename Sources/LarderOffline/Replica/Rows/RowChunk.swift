import LarderOData
import LarderStorage

/// Rows and links as a payload told them, ready to be written: their identities are found by who writes.
struct RowChunk: Sendable {
  /// A row of the chunk: the place of its table's rows, and its number in there.
  struct Place: Sendable, Hashable {
    let slot: Int32
    let row: Int32
  }

  /// A link between two rows, of a link table.
  struct Link: Sendable {
    let link: Int
    let source: Place
    let target: Place
    /// False for one that a nested delta takes away.
    var isAdded = true
  }

  /// The row whose links of a table the payload has told completely; it is at their source, or at their target.
  struct Told: Sendable {
    let link: Int
    let row: Place
    let isSource: Bool
  }

  /// A navigation property of a row of the chunk.
  struct Navigation: Sendable, Hashable {
    let source: Place
    let navigation: Int
  }

  /// An entity in line behind a navigation property.
  struct Member: Sendable {
    let navigation: Navigation
    let target: Place
    /// False for one that a nested delta takes away.
    let isAdded: Bool
  }

  /// A collection in line that goes on behind a link.
  struct Inline: Sendable {
    let link: String
    let parent: Place
    let navigation: Int
  }

  /// A link between a row and an entity of the store that is not in the chunk.
  struct OuterLink: Sendable {
    let link: Int
    let outer: Int64
    let inner: Place
    /// Where the outer one is the source.
    let isForward: Bool
  }

  var slots: [RowSlot] = []
  /// All rows in the order of the payload: containing entities before those that they contain.
  var order: [Place] = []
  var links: [Link] = []
  var outerLinks: [OuterLink] = []
  var told: [Told] = []
  /// Of changes: the navigation properties that were told completely, and the entities in line behind any.
  var toldMembers: [Navigation] = []
  var members: [Member] = []
  var inlines: [Inline] = []
  /// Links of a delta, by entity-ids.
  var deltaLinks: [(link: ODataDeltaLink, isDeleted: Bool)] = []

  var isEmpty: Bool { order.isEmpty && deltaLinks.isEmpty }
  var byteCount: Int { slots.reduce(0) { $0 + $1.batch.byteCount } }
}

/// The rows of one table in a chunk.
struct RowSlot: Sendable {
  /// What a row is, beside an entity that is there.
  struct Flags: OptionSet, Sendable {
    let rawValue: UInt8
    /// Known by its id alone: related, not told.
    static let reference = Flags(rawValue: 1)
    /// Deleted at the service.
    static let deleted = Flags(rawValue: 2)
    /// No longer of the query.
    static let left = Flags(rawValue: 4)
    /// No entity after all.
    static let void = Flags(rawValue: 8)
  }

  let table: EntityTable
  /// Cells of ``SystemColumn`` first, then those of properties.
  var batch: RowBatch
  /// Which columns of properties the payload had: `words` numbers a row.
  var present: [UInt64] = []
  var flags: [Flags] = []
  /// The containing entity's row in the chunk; nil where it is not in there.
  var parents: [RowChunk.Place?] = []
  /// The containing entity in the store, for rows of a page in line.
  var outerParents: [Int: Int64] = [:]
  /// Entity-ids of rows that properties do not tell: deleted ones, contained ones told apart from their container.
  var ids: [Int: String] = [:]
  /// True where a row is no plain one, or lacks properties.
  var hasFlags = false
  let words: Int

  static let systemCount = SystemColumn.allCases.count

  init(_ table: EntityTable) {
    self.table = table
    words = max(1, (table.columns.count + 63) / 64)
    batch = RowBatch(width: RowSlot.systemCount + table.columns.count)
  }

  var rowCount: Int { flags.count }

  mutating func appendRow(type: Int, queries: Int64, parent: RowChunk.Place?) -> Int {
    let row = batch.appendRow()
    batch.set(row, SystemColumn.type.place, integer: Int64(type))
    batch.set(row, SystemColumn.queries.place, integer: queries)
    batch.set(row, SystemColumn.state.place, integer: 0)
    for _ in 0..<words { present.append(0) }
    flags.append([])
    parents.append(parent)
    return row
  }

  /// Appends what belongs to a row that is no more than its cells, which are in the batch.
  mutating func appendPlain(_ present: ArraySlice<UInt64>) {
    self.present += present
    flags.append([])
    parents.append(nil)
  }

  /// Forgets all rows and keeps the memory.
  mutating func removeAll() {
    batch.removeAll()
    present.removeAll(keepingCapacity: true)
    flags.removeAll(keepingCapacity: true)
    parents.removeAll(keepingCapacity: true)
    outerParents = [:]
    ids = [:]
    hasFlags = false
  }

  mutating func removeLastRow() {
    batch.removeLastRow()
    present.removeLast(min(words, present.count))
    _ = flags.popLast()
    _ = parents.popLast()
  }

  @inline(__always)
  mutating func mark(_ row: Int, _ column: Int) { present[row * words + column >> 6] |= 1 << UInt64(column & 63) }

  func isPresent(_ row: Int, _ column: Int) -> Bool {
    present[row * words + column >> 6] & 1 << UInt64(column & 63) != 0
  }

  /// Whether the payload had all columns of a row but those of undeclared properties.
  func isComplete(_ row: Int) -> Bool {
    var missing = table.columns.count
    for word in 0..<words { missing -= present[row * words + word].nonzeroBitCount }
    if missing == 0 { return true }
    let types = table.types
    let type = typeNumber(row)
    // What a row's type does not have it cannot lack.
    return table.columns.allSatisfy { column in
      isPresent(row, column.number) || column.storage == .dynamic || column.storage == .stream
        || !(types.indices.contains(type) && types[type].chain.contains { $0 === column.declaringType })
    }
  }

  func typeNumber(_ row: Int) -> Int {
    if case .integer(let number) = batch.value(row, SystemColumn.type.place) { Int(number) } else { 0 }
  }

  /// The cells that identify a row; nil where one of them is missing.
  func identity(_ row: Int) -> [SQLValue]? {
    guard !table.key.isEmpty else {
      let uri = batch.value(row, SystemColumn.uri.place)
      return uri == .null ? nil : [uri]
    }
    var values: [SQLValue] = []
    values.reserveCapacity(table.key.count)
    for column in table.key {
      let value = batch.value(row, RowSlot.systemCount + column)
      if value == .null { return nil }
      values.append(value)
    }
    return values
  }
}
