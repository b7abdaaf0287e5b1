import LarderHTTP
import LarderStorage

/// A metadata document as the cache stores it.
struct StoredMetadata: Sendable {
  var fields: HTTPFields
  var payload: [UInt8]
}

// Stores the service's metadata, so that a store can open while the server is unreachable.
extension TechnicalCache {
  /// The document stored for a client; nil if there is none, or it is damaged.
  func metadata(scope: [UInt8]) async throws(StorageError) -> StoredMetadata? {
    let stored = try await database.read { (connection) throws(StorageError) in
      try connection.first("SELECT checksum, fields, payload FROM metadata WHERE scope = ?", .blob(scope)) {
        (row) throws(StorageError) in
        (try row.int64(0), StoredMetadata(fields: CacheFields.fields(try row.text(1)), payload: try row.bytes(2)))
      }
    }
    guard let (checksum, metadata) = stored else { return nil }
    guard Checksum.of(metadata.payload) == checksum else {
      report(.metadataUnreadable(reason: "the checksum is wrong"))
      return nil
    }
    return metadata
  }

  /// Stores the document for a client in place of an earlier one.
  func storeMetadata(_ metadata: StoredMetadata, scope: [UInt8]) async throws(StorageError) {
    let now = timestamps.next()
    try await database.write { (connection) throws(StorageError) in
      try connection.run(
        "INSERT OR REPLACE INTO metadata(scope, stored, checksum, fields, payload) VALUES(?, ?, ?, ?, ?)",
        .blob(scope), .integer(now), .integer(Checksum.of(metadata.payload)),
        .text(CacheFields.text(CacheFields.storable(metadata.fields))), .blob(metadata.payload))
    }
  }
}
