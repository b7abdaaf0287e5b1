import LarderOData
import LarderStorage

/// Rows and links from a payload, ready to be written. The writer looks up their identities.
struct RowChunk: Sendable {
  /// The position of a row in the chunk: the slot of its table, and its number in there.
  struct Place: Sendable, Hashable {
    let slot: Int32
    let row: Int32
  }

  /// A link between two rows, for a link table.
  struct Link: Sendable {
    let link: Int
    let source: Place
    let target: Place
    /// False if a nested delta removes the link.
    var isAdded = true
  }

  /// A row whose links in a link table the payload contains completely. The row is their source or their target.
  struct CompleteLinks: Sendable {
    let link: Int
    let row: Place
    let isSource: Bool
  }

  /// A navigation property of a row of the chunk.
  struct Navigation: Sendable, Hashable {
    let source: Place
    let navigation: Int
  }

  /// An inline entity of a navigation property.
  struct Member: Sendable {
    let navigation: Navigation
    let target: Place
    /// False if a nested delta removes the entity.
    let isAdded: Bool
  }

  /// An inline collection that continues behind a link.
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
    /// Whether the entity outside the chunk is the source.
    let isForward: Bool
  }

  var slots: [RowSlot] = []
  /// All rows in the order of the payload: containing entities before those that they contain.
  var order: [Place] = []
  var links: [Link] = []
  var outerLinks: [OuterLink] = []
  var completeLinks: [CompleteLinks] = []
  /// For changes: the navigation properties that the payload contains completely, and the inline entities of all
  /// navigation properties.
  var completeNavigations: [Navigation] = []
  var members: [Member] = []
  var inlines: [Inline] = []
  /// The links of a delta, by entity-ids.
  var deltaLinks: [(link: ODataDeltaLink, isDeleted: Bool)] = []

  var isEmpty: Bool { order.isEmpty && deltaLinks.isEmpty }
  var byteCount: Int { slots.reduce(0) { $0 + $1.batch.byteCount } }
}

/// The rows of one table in a chunk.
struct RowSlot: Sendable {
  /// The special states of a row. A row without flags is an existing entity.
  struct Flags: OptionSet, Sendable {
    let rawValue: UInt8
    /// Only the id is known: the payload refers to the entity without its properties.
    static let reference = Flags(rawValue: 1)
    /// The service has deleted the entity.
    static let deleted = Flags(rawValue: 2)
    /// The entity no longer belongs to the query.
    static let left = Flags(rawValue: 4)
  }

  let table: EntityTable
  /// The cells of ``SystemColumn``, then those of properties.
  var batch: RowBatch
  /// Which columns of properties the payload had: `words` numbers for each row.
  var present: [UInt64] = []
  var flags: [Flags] = []
  /// The containing entity's row in the chunk; nil if it is not there.
  var parents: [RowChunk.Place?] = []
  /// The containing entity in the store, for rows of an inline page.
  var outerParents: [Int: Int64] = [:]
  /// Entity-ids of rows that their properties do not identify: deleted ones, and contained ones outside their
  /// container.
  var ids: [Int: String] = [:]
  /// True if a row is not plain or lacks properties.
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

  /// Completes a plain row whose cells are already in the batch.
  mutating func appendPlain(_ present: ArraySlice<UInt64>) {
    self.present += present
    flags.append([])
    parents.append(nil)
  }

  /// Removes all rows and keeps the memory.
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

  /// Whether the payload had all columns of a row except those of undeclared properties.
  func isComplete(_ row: Int) -> Bool {
    var missing = table.columns.count
    for word in 0..<words { missing -= present[row * words + word].nonzeroBitCount }
    if missing == 0 { return true }
    let types = table.types
    let type = typeNumber(row)
    // A row cannot lack properties that its type does not have.
    return table.columns.allSatisfy { column in
      isPresent(row, column.number) || column.storage == .dynamic || column.storage == .stream
        || !(types.indices.contains(type) && types[type].chain.contains { $0 === column.declaringType })
    }
  }

  func typeNumber(_ row: Int) -> Int {
    if case .integer(let number) = batch.value(row, SystemColumn.type.place) { Int(number) } else { 0 }
  }

  /// The cells that identify a row; nil if one of them is missing.
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
