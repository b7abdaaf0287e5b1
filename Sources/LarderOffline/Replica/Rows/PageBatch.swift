import LarderOData
import LarderStorage

/// Rows and links of a page, ready to be written. The writer looks up their identities.
struct PageBatch: Sendable {
  /// A row of the page. Other rows and links refer to it by its index in ``rows``.
  struct Row: Sendable {
    /// The index of the row's table in ``tables`` and ``cells``.
    let table: Int
    /// The number of its cells' row in there.
    let number: Int
    /// The index of the containing entity's row; nil if it is not in the batch.
    let parent: Int?
    var flags: Flags = []
  }

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

  /// A link between two rows, for a link table.
  struct Link: Sendable {
    let link: Int
    let source: Int
    let target: Int
    /// False if a nested delta removes the link.
    var isAdded = true
  }

  /// A row whose links in a link table the payload contains completely. The row is their source or their target.
  struct CompleteLinks: Sendable {
    let link: Int
    let row: Int
    let isSource: Bool
  }

  /// A navigation property of a row.
  struct Navigation: Sendable, Hashable {
    let source: Int
    let navigation: Int
  }

  /// An inline entity of a navigation property.
  struct Member: Sendable {
    let navigation: Navigation
    let target: Int
    /// False if a nested delta removes the entity.
    let isAdded: Bool
  }

  /// An inline collection that continues behind a link.
  struct Inline: Sendable {
    let link: String
    let parent: Int
    let navigation: Int
    /// Whether the link is followed only if the service does not expand it.
    var isCandidate = false
  }

  /// A link between a row and an entity of the store that is not in the batch.
  struct OuterLink: Sendable {
    let link: Int
    let outer: Int64
    let inner: Int
    /// Whether the entity outside the batch is the source.
    let isForward: Bool
  }

  private(set) var tables: [EntityTable] = []
  /// The cells of each table's rows: those of ``SystemColumn``, then those of properties. The cells of properties that
  /// the payload did not have are absent.
  var cells: [RowBatch] = []
  /// All rows in the order of the payload: containing entities before those that they contain.
  private(set) var rows: [Row] = []
  /// Whether a row has flags.
  private(set) var hasFlags = false
  /// The containing entity in the store, for rows of an inline page.
  var outerParents: [Int: Int64] = [:]
  /// Entity-ids of rows that their properties do not identify: deleted ones, and contained ones outside their
  /// container.
  var ids: [Int: String] = [:]
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

  var isEmpty: Bool { rows.isEmpty && deltaLinks.isEmpty }
  var byteCount: Int { cells.reduce(0) { $0 + $1.byteCount } }

  /// Whether the batch should be written: it is large, or nothing follows.
  func isRipe(isEnd: Bool) -> Bool {
    rows.count >= 1000 || byteCount >= 2 << 20 || isEnd && !(isEmpty && completeLinks.isEmpty)
  }

  /// Whether the batch contains only rows that need no special handling: their columns contain everything that joins
  /// them.
  var isPlain: Bool {
    guard links.isEmpty, outerLinks.isEmpty, completeLinks.isEmpty, inlines.isEmpty, deltaLinks.isEmpty, !hasFlags
    else { return false }
    return tables.allSatisfy { !$0.isContained && !$0.key.isEmpty }
  }

  /// The index of a table in ``tables``.
  mutating func index(of table: EntityTable) -> Int {
    if let last = tables.last, last === table { return tables.count - 1 }
    if let existing = tables.firstIndex(where: { $0 === table }) { return existing }
    tables.append(table)
    cells.append(RowBatch(width: table.columnNames.count))
    return tables.count - 1
  }

  /// Appends a row whose properties are absent. Returns it; its index is the last one.
  mutating func appendRow(of table: EntityTable, type: Int, parent: Int?) -> Row {
    let index = index(of: table)
    let number = cells[index].appendRow()
    cells[index].set(number, SystemColumn.type.place, integer: Int64(type))
    cells[index].set(number, SystemColumn.queries.place, integer: 0)
    cells[index].set(number, SystemColumn.state.place, integer: 0)
    let row = Row(table: index, number: number, parent: parent)
    rows.append(row)
    return row
  }

  mutating func removeLastRow() {
    guard let row = rows.popLast() else { return }
    cells[row.table].removeLastRow()
  }

  /// Removes the rows from an index on, and everything that belongs to them.
  mutating func removeRows(from first: Int) {
    while rows.count > first { removeLastRow() }
    links.removeAll { $0.source >= first || $0.target >= first }
    outerLinks.removeAll { $0.inner >= first }
    completeLinks.removeAll { $0.row >= first }
    completeNavigations.removeAll { $0.source >= first }
    members.removeAll { $0.navigation.source >= first || $0.target >= first }
    inlines.removeAll { $0.parent >= first }
    ids = ids.filter { $0.key < first }
    outerParents = outerParents.filter { $0.key < first }
  }

  mutating func set(_ flags: Flags, of row: Int) {
    rows[row].flags = flags
    hasFlags = true
  }

  /// Moves the rows of a plain batch to the packed rows of their tables, by table number.
  mutating func pack(into packed: inout [Int: PackedRows], empty: (EntityTable) -> PackedRows) {
    guard isPlain else { return }
    for (index, table) in tables.enumerated() where cells[index].rowCount > 0 {
      packed[table.number, default: empty(table)].append(cells[index])
      cells[index].removeAll()
    }
    rows.removeAll(keepingCapacity: true)
  }

  // MARK: Cells

  func table(of row: Int) -> EntityTable { tables[rows[row].table] }

  func isPresent(_ row: Int, _ column: Int) -> Bool {
    !cells[rows[row].table].isAbsent(rows[row].number, EntityTable.systemCount + column)
  }

  /// The value of a property's column.
  func value(_ row: Int, _ column: Int) -> SQLValue {
    cells[rows[row].table].value(rows[row].number, EntityTable.systemCount + column)
  }

  mutating func set(_ row: Int, _ column: Int, _ value: SQLValue) {
    cells[rows[row].table].set(rows[row].number, EntityTable.systemCount + column, value)
  }

  mutating func set(_ row: Int, _ column: SystemColumn, _ value: SQLValue) {
    cells[rows[row].table].set(rows[row].number, column.place, value)
  }

  /// Whether the payload had any property of a row.
  func hasProperties(_ row: Int) -> Bool { table(of: row).columns.indices.contains { isPresent(row, $0) } }

  /// Whether a column of a row's key is NULL.
  func lacksKey(_ row: Int) -> Bool {
    table(of: row).key.contains { cells[rows[row].table].isNull(rows[row].number, EntityTable.systemCount + $0) }
  }
}
