import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

// Bytes of media entities and stream properties have ETags of their own, apart from their entities': changes of a stream go
// under the stream's (OData Protocol 4.01 §11.4.7.2, §11.4.8.1; [MS-ODATA] 3.1.4.4.1).

/// What a service says of a stream: in the response to its change, or where it is read.
struct StreamVersion: Hashable, Sendable {
  /// The column of the entity's table that says what is known of the stream.
  var column: String
  var etag: String
  /// The media type of the bytes that were sent.
  var contentType: String?
}

extension QueuedRequest {
  /// Whether it changes bytes that are a resource of their own.
  var isOfStream: Bool { operation == .updateMedia || operation == .deleteMedia }

  /// Whether it changes links.
  var isOfLink: Bool { operation == .createLink || operation == .updateLink || operation == .deleteLink }

  /// Whether it changes the link of a navigation property that leads to one.
  var isOfSingleLink: Bool { operation == .updateLink || operation == .deleteLink && body == .none }

  /// The ETag that what it changes had when it was made: the stream's, else the entity's.
  var resourceETag: String? { isOfStream && usesEntityETag != true ? streamETag : baseETag }

  /// Of a change of a stream: the column of its entity's table that says what is known of the stream.
  func streamColumn(_ plan: ReplicaPlan) -> String? {
    guard isOfStream, let table = entity.flatMap({ plan.table($0.table) }) else { return nil }
    let steps = target.path.split(separator: "/").map(String.init).filter { !$0.contains(".") }
    return steps.last == "$value" ? SystemColumn.media.rawValue : table.column(steps)?.name
  }

  /// The version of its stream that goes with an entity's cells.
  func streamVersion(in cells: EntityCells?, _ plan: ReplicaPlan) -> StreamVersion? {
    guard let column = streamColumn(plan), let etag = cells?.streamETag(column) else { return nil }
    return StreamVersion(column: column, etag: etag)
  }
}

extension EntityCells {
  /// The ETag of a stream, by its column; nil where none is known.
  func streamETag(_ column: String) -> String? { media(column).etag }

  /// What is known of a stream, by its column.
  func media(_ column: String) -> MediaInfo {
    var info = MediaInfo()
    guard case .text(let text)? = self[column], let node = try? JSONNode(Array(text.utf8)) else { return info }
    let known = ResultMedia(node)
    (info.contentType, info.etag, info.readLink, info.editLink) = (
      known.contentType, known.etag, known.readLink, known.editLink
    )
    return info
  }

  /// Lays a stream's version over what is known of it.
  mutating func take(_ stream: StreamVersion) {
    var info = media(stream.column)
    info.etag = stream.etag
    info.contentType = info.contentType ?? stream.contentType
    self[stream.column] = .text(info.json)
  }
}

extension ServerResponse {
  /// Reads the response to a change: of one of a stream or link the ETag field is not the entity's.
  init(_ response: ODataSingleResponse, to request: QueuedRequest, _ plan: ReplicaPlan) {
    self.init(response, model: plan.model)
    guard request.isOfStream || request.isOfLink else { return }
    etag = entity?.etag
    // A response that has the entity speaks of that.
    guard entity == nil, let etag = response.etag, let column = request.streamColumn(plan) else { return }
    stream = StreamVersion(column: column, etag: etag)
    if case .media(_, _, let type) = request.body { stream?.contentType = type }
  }

  /// The ETag of what a request changes: the stream's, else the entity's.
  func resourceETag(of request: QueuedRequest, _ plan: ReplicaPlan) -> String? {
    guard request.isOfStream, request.usesEntityETag != true else { return etag }
    return stream?.etag ?? streamInEntity(of: request, plan)?.etag
  }

  private func streamInEntity(of request: QueuedRequest, _ plan: ReplicaPlan) -> StreamVersion? {
    guard let table = request.entity.flatMap({ plan.table($0.table) }) else { return nil }
    return request.streamVersion(in: cells(in: table, plan), plan)
  }
}

extension OpenStore {
  /// What the service says of an entity, with the version of the stream that a request changes: asked for where the entity
  /// does not tell it.
  ///
  /// - Parameter path: where the service has the stream.
  func withStream(_ serverResponse: ServerResponse, of request: QueuedRequest, at path: String?) async -> ServerResponse
  {
    let plan = replica.plan
    guard let path, let column = request.streamColumn(plan), serverResponse.resourceETag(of: request, plan) == nil,
      let response = try? await conversation.streamAnswer(to: ODataSingleRequest(.readMedia, path, useCache: false))
    else { return serverResponse }
    response.body.cancel()
    var serverResponse = serverResponse
    serverResponse.stream = response.etag.map { StreamVersion(column: column, etag: $0) }
    return serverResponse
  }
}

extension LocalRows {
  /// The ETag of a stream as the service has it: from its entity, else from the bytes that a download has brought.
  func streamETag(_ column: String, of entity: RowReference, _ server: EntityCells?) throws(StorageError) -> String? {
    if let etag = server?.streamETag(column) { return etag }
    let property = plan.table(entity.table)?.columns.first { $0.name == column && $0.storage == .stream }?.path.last
    return try StoredStreams.downloadedHead(.init(entity: entity.row, property: property ?? ""), connection)?.etag
  }
}

extension ChangeQueue {
  /// Puts the changes of a stream that wait, but for failed ones, on another ETag of the stream's.
  ///
  /// - Parameter path: the stream's place behind its entity, as the requests have it.
  func rebaseStream(_ path: String, of row: Int64, on etag: String?) throws(StorageError) {
    try connection.run(
      """
      UPDATE larder_request SET request = CASE WHEN ?3 IS NULL THEN json_remove(request, '$.streamETag')
        ELSE json_set(request, '$.streamETag', ?3) END
        WHERE entity = ?1 AND state <> 2 AND json_extract(request, '$.target.path') = ?2
          AND json_extract(request, '$.operation') IN ('updateMedia', 'deleteMedia')
      """, .integer(row), .text(path), .text(etag))
  }
}
