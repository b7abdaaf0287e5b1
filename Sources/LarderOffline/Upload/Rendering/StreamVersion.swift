import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

// The bytes of media entities and stream properties have ETags of their own, separate from their entities'. Changes of
// a stream are sent with the stream's ETag (OData Protocol 4.01 §11.4.7.2, §11.4.8.1; [MS-ODATA] 3.1.4.4.1).

/// The version of a stream at the service: from the response to its change, or from a read.
struct StreamVersion: Hashable, Sendable {
  /// The column of the entity's table that contains the metadata of the stream.
  var column: String
  var etag: String
  /// The media type of the bytes that were sent.
  var contentType: String?
}

extension QueuedRequest {
  /// Whether it changes the bytes of a media entity or stream property.
  var isOfStream: Bool { operation == .updateMedia || operation == .deleteMedia }

  /// Whether it changes links.
  var isOfLink: Bool { operation == .createLink || operation == .updateLink || operation == .deleteLink }

  /// Whether it changes the link of a navigation property to a single entity.
  var isOfSingleLink: Bool { operation == .updateLink || operation == .deleteLink && body == .none }

  /// Whether it changes one of the links to many entities. Such a request has no condition.
  var isOfManyLink: Bool { isOfLink && !isOfSingleLink }

  /// The ETag of the changed resource when the change was made: the stream's, otherwise the entity's.
  var resourceETag: String? { isOfStream && usesEntityETag != true ? streamETag : baseETag }

  /// Whether it is sent with an ETag of its entity that an earlier change of the store may have replaced. A change of a
  /// single link does not count: its ETag is that of the last version whose links are known. If the condition fails, the
  /// link is looked up.
  var hasOldCondition: Bool { isETagOld == true && ifMatch != "*" && !changesSingleLink && !isOfStream }

  /// For a change of a stream, the column of its entity's table that contains the metadata of the stream; otherwise
  /// nil.
  func streamColumn(_ plan: ReplicaPlan) -> String? {
    guard isOfStream, let table = entity.flatMap({ plan.table($0.table) }) else { return nil }
    let steps = target.path.split(separator: "/").map(String.init).filter { !$0.contains(".") }
    return steps.last == "$value" ? SystemColumn.media.rawValue : table.column(steps)?.name
  }

  /// The version of the request's stream in an entity's cells.
  func streamVersion(in cells: EntityCells?, _ plan: ReplicaPlan) -> StreamVersion? {
    guard let column = streamColumn(plan), let etag = cells?.streamETag(column) else { return nil }
    return StreamVersion(column: column, etag: etag)
  }
}

extension EntityCells {
  /// The ETag of a stream, by its column; nil if it is not known.
  func streamETag(_ column: String) -> String? { media(column).etag }

  /// The metadata of a stream, by its column.
  func media(_ column: String) -> MediaInfo {
    var info = MediaInfo()
    guard case .text(let text)? = self[column], let node = try? JSONNode(Array(text.utf8)) else { return info }
    let known = ResultMedia(node)
    (info.contentType, info.etag, info.readLink, info.editLink) = (
      known.contentType, known.etag, known.readLink, known.editLink
    )
    info.isReadOnly = known.isReadOnly
    return info
  }

  /// Updates the metadata of a stream by its new version.
  mutating func take(_ stream: StreamVersion) {
    var info = media(stream.column)
    info.etag = stream.etag
    info.contentType = info.contentType ?? stream.contentType
    self[stream.column] = .text(info.json)
  }
}

extension ServerResponse {
  /// Reads the response to a change. For a stream or link, the ETag field of the response is not the entity's.
  init(_ response: ODataSingleResponse, to request: QueuedRequest, _ plan: ReplicaPlan) {
    self.init(response, model: plan.model)
    if request.makesEntity { removeLocation(of: request.target.path) }
    guard request.isOfStream || request.isOfLink else { return }
    etag = entity?.etag
    // A response that contains the entity has the entity's ETag.
    guard entity == nil, let etag = response.etag, let column = request.streamColumn(plan) else { return }
    stream = StreamVersion(column: column, etag: etag)
    if case .media(_, _, let type) = request.body { stream?.contentType = type }
  }

  /// The ETag of the resource that a request changes: the stream's, otherwise the entity's.
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
  /// The server's version of an entity, with the version of the stream that a request changes. If the entity does not
  /// contain that, the stream is requested.
  ///
  /// - Parameter path: the path of the stream at the service.
  func withStream(_ serverResponse: ServerResponse, of request: QueuedRequest, at path: String?) async -> ServerResponse
  {
    let plan = replica.plan
    guard let path, let column = request.streamColumn(plan), serverResponse.resourceETag(of: request, plan) == nil,
      let response = await lookUp(
        path, { try await conversation.streamResponse(to: ODataSingleRequest(.readMedia, path, useCache: false)) })
    else { return serverResponse }
    response.body.cancel()
    var serverResponse = serverResponse
    serverResponse.stream = response.etag.map { StreamVersion(column: column, etag: $0) }
    return serverResponse
  }
}

extension LocalRows {
  /// The ETag of a stream at the service: from its entity, otherwise from the bytes that were downloaded.
  func streamETag(_ column: String, of entity: RowReference, _ server: EntityCells?) throws(StorageError) -> String? {
    if let etag = server?.streamETag(column) { return etag }
    let property = plan.table(entity.table)?.columns.first { $0.name == column && $0.storage == .stream }?.path.last
    return try StoredStreams.downloadedHead(.init(entity: entity.row, property: property ?? ""), connection)?.etag
  }
}

extension ChangeQueue {
  /// Updates the ETag in the pending changes of a stream, without failed ones.
  ///
  /// - Parameter path: the path of the stream below its entity, as in the requests.
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
