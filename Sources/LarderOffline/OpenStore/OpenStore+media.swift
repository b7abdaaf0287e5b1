@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderStorage

extension OpenStore {
  /// Returns the stream that a path leads to: `Photos(1)/$value`, `Products(1)/Photo`.
  func streamName(_ path: String) async throws(OfflineODataError) -> StoredStreams.Name {
    let text = try relative(path)
    return try await read { [self] snapshot in
      let query = try preparedQuery(text, snapshot)
      guard case .media(let shape, let property) = query.plan.content, let id = shape.id else {
        throw OfflineODataError(.unsupportedRequest, "'\(path.prefix { $0 != "?" })' does not lead to media")
      }
      try query.plan.check(snapshot.connection)
      var entity: Int64?
      try ResultWriter(
        connection: snapshot.connection,
        types: ResultTypes(model: snapshot.plan.model, form: form(.init(), snapshot.plan.model))
      )
      .forEachRow(query.plan.sql, query.plan.parameters.values()) { row in
        entity = row.integer(id)
        return false
      }
      guard let entity else { throw OfflineODataError(.entityNotFound, "'\(path.prefix { $0 != "?" })'") }
      return StoredStreams.Name(entity: entity, property: property ?? "")
    }
  }

  /// Returns the bytes that a path leads to. Throws `notFound` if they are not in the store.
  func media(_ path: String) async throws(OfflineODataError) -> OfflineODataMedia {
    let name = try await streamName(path)
    let head = try await read { snapshot in try StoredStreams.head(name, snapshot.connection) }
    guard let head else { throw OfflineODataError(.mediaNotFound, "'\(path.prefix { $0 != "?" })'") }
    return OfflineODataMedia(
      contentType: head.contentType, etag: head.etag, body: StoredStreams.body(head, self))
  }
}

extension StoredStreams {
  /// The bytes of a stream, read on demand. All bytes belong to the version for which the stream was opened.
  static func body(_ head: Head, _ store: OpenStore) -> HTTPBodyStream {
    let next = Locked<Int64>(0)
    let count = (head.byteCount + Int64(chunk) - 1) / Int64(chunk)
    return HTTPBodyStream(length: Int(clamping: head.byteCount)) {
      let number = next.withLock { number in
        defer { number += 1 }
        return number
      }
      guard number < count else { return nil }
      let bytes = try await store.read { snapshot in
        try snapshot.connection.first(
          "SELECT bytes FROM larder_stream_chunk WHERE generation = ?1 AND number = ?2", .integer(head.generation),
          .integer(number)
        ) { (row) throws(StorageError) in try row.bytes(0) }
      }
      guard let bytes else { throw OfflineODataError(.mediaNotFound, "the stream was replaced while it was read") }
      return bytes
    }
  }
}
