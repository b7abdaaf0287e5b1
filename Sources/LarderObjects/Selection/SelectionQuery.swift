import LarderStorage

/// The SQL of a selection: one statement for each shape, with all texts bound.
struct SelectionQuery: Sendable {
  let selection: ObjectSelection
  let cursor: ObjectCursor?
  let now: Int64

  /// Throws `invalidCursor` for a cursor that is not in the selection's order.
  init(
    _ selection: ObjectSelection, after cursor: ObjectCursor?, now: Int64
  ) throws(ObjectStoreError) {
    self.selection = selection
    self.cursor = cursor
    self.now = now
    guard let cursor else { return }
    let fits =
      selection.keys.contains(cursor.key)
      && (selection.labels == nil) == (cursor.label == nil)
      && cursor.label.map { selection.labels?.contains($0) ?? false } ?? true
    guard fits else { throw ObjectStoreError(.read, .invalidCursor) }
  }

  /// Calls `body` for each row with its place, until it returns false. `columns` follow the three columns of the query
  /// itself.
  func forEachRow(
    _ columns: String, on connection: Connection,
    _ body: (borrowing Row, ObjectCursor) throws(StorageError) -> Bool
  ) throws(StorageError) {
    let (sql, values) = statement(columns)
    try connection.forEachRow(sql, values) { (row) throws(StorageError) in
      let key = ObjectKey(stored: try row.text(0))
      guard let bounds = selection.labels else { return try body(row, ObjectCursor(label: nil, key: key)) }
      let label = ObjectKey(stored: try row.text(1))
      if !bounds.isOne, !isFirst(label, of: LabelSet(stored: row.isNull(2) ? nil : try row.bytes(2)), in: bounds) {
        return true
      }
      return try body(row, ObjectCursor(label: label, key: key))
    }
  }

  /// The number of columns before the requested ones.
  static let leadingColumns: Int32 = 3

  /// True if a value appears at this label, which is its first label in the range, in the requested order.
  private func isFirst(_ label: ObjectKey, of labels: LabelSet, in bounds: ObjectSelection.Bounds) -> Bool {
    let inRange = labels.labels.filter(bounds.contains)
    return (selection.isDescending ? inRange.last : inRange.first) == label
  }

  private func statement(_ columns: String) -> (sql: String, values: [SQLValue]) {
    var (conditions, values): ([String], [SQLValue]) = ([], [])
    let order = selection.isDescending ? " DESC" : ""
    let comparison = selection.isDescending ? "<" : ">"
    func add(_ condition: String, _ bound: SQLValue...) {
      conditions.append(condition)
      values += bound
    }
    func add(_ bounds: ObjectSelection.Bounds, _ column: String) {
      if bounds.isOne { return add("\(column) = ?", .text(bounds.lower)) }
      if !bounds.lower.isEmpty { add("\(column) >= ?", .text(bounds.lower)) }
      if let upper = bounds.upper { add("\(column) \(bounds.includesUpper ? "<=" : "<") ?", .text(upper)) }
    }
    let start: String
    let end: String
    if let labels = selection.labels {
      start =
        "SELECT label.key, label.label, object.labels, \(columns) FROM label CROSS JOIN object ON object.id = label.object"
      end = labels.isOne ? "label.key\(order)" : "label.label\(order), label.key\(order)"
      add(labels, "label.label")
      add(selection.keys, "label.key")
      if let cursor, let label = cursor.label {
        if labels.isOne {
          add("label.key \(comparison) ?", .text(cursor.key.text))
        } else {
          add("(label.label, label.key) \(comparison) (?, ?)", .text(label.text), .text(cursor.key.text))
        }
      }
    } else {
      start = "SELECT object.key, NULL, NULL, \(columns) FROM object"
      end = "object.key\(order)"
      add(selection.keys, "object.key")
      if let cursor { add("object.key \(comparison) ?", .text(cursor.key.text)) }
    }
    add("(object.expires IS NULL OR object.expires > ?)", .integer(now))
    return ("\(start) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(end)", values)
  }
}
