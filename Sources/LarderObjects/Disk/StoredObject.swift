import LarderStorage

/// A row as a lookup reads it.
struct StoredObject: Sendable {
  let id: Int64
  let expires: Int64?
  let encoded: EncodedObject

  static let columns = "object.id, object.expires, object.coding, object.checksum, object.value"
  static let query = "SELECT \(columns) FROM object WHERE key = ?"

  /// Reads ``columns``, starting at column `first`. Throws `damaged` if the bytes are not those that were written.
  init(_ row: borrowing Row, key: String, from first: Int32 = 0) throws(StorageError) {
    id = try row.int64(first)
    expires = try row.int64OrNil(first + 1)
    let coding = ObjectCoding(rawValue: Int(clamping: try row.int64(first + 2)))
    let bytes = try row.bytes(first + 4)
    isDamaged = try Checksum.of(bytes) != row.int64(first + 3) || coding == nil
    encoded = EncodedObject(coding: coding ?? .bytes, bytes: bytes)
  }

  let isDamaged: Bool

  /// Throws `damaged` if the bytes are not those that were written.
  func check(key: String, for operation: ObjectStoreError.Operation) throws(ObjectStoreError) {
    if isDamaged { throw ObjectStoreError(operation, key: key, .damaged) }
  }
}

extension ObjectMetadata {
  static let columns = """
    object.id, object.key, object.created, object.updated, object.expires, object.size, object.labels, object.coding,
    (SELECT times FROM request WHERE request.object = object.id),
    (SELECT last FROM request WHERE request.object = object.id)
    """

  /// Reads ``columns``, starting at column `first`. Adds the requests that only `memory` knows to those of the row.
  init(_ row: borrowing Row, from first: Int32 = 0, memory: Memory) throws(StorageError) {
    let key = try row.text(first + 1)
    let lastWritten = try row.int64OrNil(first + 9) ?? 0
    let pending = memory.pendingRequests(ObjectKey(stored: key), try row.int64(first), after: lastWritten)
    let (times, isOver) = Int(clamping: try row.int64OrNil(first + 8) ?? 0).addingReportingOverflow(pending)
    self.init(
      key: key, created: Timestamp.date(try row.int64(first + 2)), updated: Timestamp.date(try row.int64(first + 3)),
      expires: try row.int64OrNil(first + 4).map(Timestamp.date),
      timesRequested: isOver ? .max : times,
      byteCount: Int(clamping: try row.int64(first + 5)),
      labels: LabelSet(stored: row.isNull(first + 6) ? nil : try row.bytes(first + 6)).texts,
      coding: ObjectCoding(rawValue: Int(clamping: try row.int64(first + 7))) ?? .bytes)
  }
}
