@_spi(Stores) import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

/// Downloads the bytes of media entities and stream properties into the store.
struct StreamDownload: Sendable {
  let store: OpenStore
  /// Whether streams are downloaded again even if the store has the version that the rows name.
  var isWhole = false

  /// A stream to download.
  struct MissingStream: Sendable, Hashable {
    var name: StoredStreams.Name
    /// The name of the table of the stream's entity.
    var source: String
    /// The path of the stream at the service.
    var path: String
    /// The ETag in the rows; nil if they have none.
    var etag: String?
    /// The content type in the rows.
    var contentType: String?
  }

  /// Downloads all new or changed streams of a defining query's rows. Returns the number of bytes.
  func run(_ bound: BoundDefiningQuery, query: Int64, report: (Int64) -> Void) async throws -> Int64 {
    var bytes: Int64 = 0
    for number in (bound.tables ?? [bound.table.number]).sorted() {
      let table = store.replica.plan.tables[number]
      guard table.hasStreams, table.hasReachableStreams else { continue }
      for stream in try await missingStreams(table, query) {
        try Task.checkCancellation()
        bytes += try await fetch(stream)
        report(bytes)
      }
      try await store.replica.write { (snapshot) throws(StorageError) in
        try StoredStreams.sweep(table.name, snapshot.state.tables[number], snapshot.connection)
      }
    }
    return bytes
  }

  /// The streams of a query's rows that the store does not have in the version that the rows name.
  private func missingStreams(_ table: EntityTable, _ definingQuery: Int64) async throws -> [MissingStream] {
    try await store.read { [store] snapshot in
      let set = PercentEncoding.encode(table.name)
      let query = try store.preparedQuery(set, snapshot, QueryVariant(isPaged: false))
      guard case .objects(let shape) = query.plan.content, let id = shape.id else { return [] }
      let types = ResultTypes(model: snapshot.plan.model, form: store.form(.init(), snapshot.plan.model))
      var place = ResultIdentity.Place.set(Array(set.utf8))
      if case .singleton = table.place { place = .single(Array(set.utf8)) }
      let identity = ResultIdentity(shape, place: place, form: types.form, types: types)
      let queryRows = try StreamDownload.rows(of: definingQuery, table, snapshot)
      var missing: [MissingStream] = []
      let writer = ResultWriter(connection: snapshot.connection, types: types)
      try writer.forEachRow(query.plan.sql, query.plan.parameters.values()) { row in
        guard queryRows.contains(row.integer(id)) else { return true }
        let serviceURL = try identity.serviceURL(row)
        guard let path = try serviceURL ?? identity.path(row, below: nil).map({ String(decoding: $0, as: UTF8.self) })
        else {
          return true
        }
        let streams = try StreamDownload.streams(of: row, shape, table)
        for (property, isDerived, media) in streams {
          let name = StoredStreams.Name(entity: row.integer(id), property: property)
          let storedHead = try StoredStreams.downloadedHead(name, snapshot.connection)
          if !isWhole, let storedHead, let etag = media.etag, storedHead.etag == etag { continue }
          // The path of a property of a derived type includes the type (URL Conventions 4.01 §4.11).
          let cast = isDerived ? String(decoding: identity.cast(row), as: UTF8.self) : ""
          let place = media.readLink ?? path + cast + (property.isEmpty ? "/$value" : "/" + property)
          missing.append(
            MissingStream(name: name, source: table.name, path: place, etag: media.etag, contentType: media.contentType)
          )
        }
        return true
      }
      return missing
    }
  }

  /// The identities of the rows that a query has returned.
  private static func rows(
    of query: Int64, _ table: EntityTable, _ snapshot: ReplicaSnapshot
  ) throws(StorageError) -> Set<Int64> {
    guard let bit = try snapshot.connection.bit(of: query, in: table.name) else { return [] }
    let sql = "SELECT \"@id\" FROM \(snapshot.state.tables[table.number]) WHERE \"@queries\" & ?1 <> 0"
    var rowIDs: Set<Int64> = []
    try snapshot.connection.forEachRow(sql, [.integer(1 << bit)]) { (row) throws(StorageError) in
      rowIDs.insert(row.integer(0))
      return true
    }
    return rowIDs
  }

  /// The streams of an entity: its own, with an empty name, and its stream properties. `isDerived` says that only some
  /// types of the set have the property.
  private static func streams(
    of row: borrowing Row, _ shape: ReadShape, _ table: EntityTable
  ) throws -> [(String, isDerived: Bool, ResultMedia)] {
    func media(_ column: Int32) throws -> ResultMedia {
      guard row.storageClass(column) == .text else { return ResultMedia() }
      return ResultMedia(try JSONNode(Array(try row.text(column).utf8)))
    }
    let type = shape.typeNumber.map { Int(row.integer($0)) } ?? 0
    var streams: [(String, isDerived: Bool, ResultMedia)] = []
    if let column = shape.media, table.types.indices.contains(type), table.types[type].hasStream {
      streams.append(("", false, try media(column)))
    }
    for member in shape.members {
      guard case .column(let column, .stream) = member.kind, member.types.map({ $0.contains(type) }) ?? true else {
        continue
      }
      streams.append((member.name, member.types != nil, try media(column)))
    }
    return streams
  }

  /// Downloads one stream. Returns the number of bytes; 0 if the service has no stream or it is unchanged.
  func fetch(_ missingStream: MissingStream) async throws -> Int64 {
    for _ in 0..<3 { if let count = try await fetchOnce(missingStream) { return count } }
    throw OfflineODataError(
      .internalFailure, "the bytes of '\(missingStream.path)' were removed repeatedly during their download")
  }

  /// Returns nil if another process opened the store at the same time and removed the bytes as the rest of a crash.
  private func fetchOnce(_ missingStream: MissingStream) async throws -> Int64? {
    var request = ODataSingleRequest(.readMedia, missingStream.path, useCache: false)
    let media = try await store.read { snapshot in
      try StoredStreams.downloadedHead(missingStream.name, snapshot.connection)
    }
    if !isWhole, let etag = media?.etag { request.validators = HTTPValidators(etag: etag) }
    let response: ODataMediaResponse
    do throws(ODataServiceError) { response = try await store.conversation.streamResponse(to: request) } catch {
      if error.httpStatus == 304 { return 0 }
      // The end of a redirect says nothing about the stream itself.
      if !error.isOfRequestedURL, error.httpStatus == 404 || error.httpStatus == 410, error.response?.isWebPage == false
      {
        return 0
      }
      let error = try await checked(error)
      guard !error.isForeign, error.httpStatus == 404 || error.httpStatus == 410 else { throw error }
      return try await remove(missingStream)
    }
    guard response.httpStatus != 204 else { return try await remove(missingStream) }
    if let problem = missingStream.problem(response) {
      response.body.cancel()
      throw OfflineODataError(.malformedResponse, response.located(problem))
    }
    let (generation, byteCount) = try await StoredStreams.store(response.body, in: store.replica.database)
    // The entity tag of another URL means nothing to that of the stream.
    let etag = response.sender == .requested ? response.etag : nil
    let head = StoredStreams.Head(
      contentType: response.contentType, etag: etag ?? missingStream.etag, byteCount: byteCount, generation: generation)
    let isWhole = try await store.replica.database.write { (connection) throws(StorageError) in
      try StoredStreams.finish(missingStream.name, source: missingStream.source, head, connection)
    }
    return isWhole ? byteCount : nil
  }

  /// Returns an error as foreign if it does not say that the stream does not exist. A stream at another host is no
  /// resource of the service: there, everything but a web page says so.
  private func checked(_ error: ODataServiceError) async throws(ODataServiceError) -> ODataServiceError {
    if let url = error.response?.url, store.root.relative(url) != nil { return try await store.attributed(error) }
    var error = error
    error.isForeign = error.isForeign || error.response?.isWebPage ?? false
    return error
  }

  private func remove(_ missingStream: MissingStream) async throws -> Int64 {
    try await store.replica.database.write { (connection) throws(StorageError) in
      guard let head = try StoredStreams.downloadedHead(missingStream.name, connection) else { return }
      try StoredStreams.drop(head.generation, connection)
      try connection.run(
        "DELETE FROM larder_stream WHERE entity = ?1 AND property = ?2", .integer(missingStream.name.entity),
        .text(missingStream.name.property))
    }
    return 0
  }
}

extension StreamDownload.MissingStream {
  /// Why content cannot be that of the stream; nil if it can. Services redirect to servers of files, which may belong to
  /// others; and the networks of hotels redirect to log-in pages.
  fileprivate func problem(_ response: ODataMediaResponse) -> String? {
    let type = response.contentType ?? ""
    if let expectedType = contentType {
      if WebPage.isType(type), !WebPage.isType(expectedType) {
        return "expected \(expectedType), found a web page (\(type))"
      }
      guard response.sender.isOtherOrigin, !Self.isAlike(type, expectedType) else { return nil }
      return "expected \(expectedType), found \(type), sent by another server to which the request was redirected"
    }
    guard response.sender.isOtherOrigin, Self.isOfPages(type) else { return nil }
    return "found \(type), sent by another server to which the request was redirected"
  }

  /// Servers of files may not know a type.
  private static func isAlike(_ type: String, _ expected: String) -> Bool {
    let (type, expected) = (essence(type), essence(expected))
    return type == expected || ["", "application/octet-stream", "binary/octet-stream"].contains(type)
  }

  private static func isOfPages(_ type: String) -> Bool {
    let type = essence(type)
    return WebPage.isType(type) || type == "text/plain" || type.hasSuffix("json") || type.hasSuffix("xml")
  }

  private static func essence(_ type: String) -> String {
    String(type.prefix { $0 != ";" }.filter { $0 != " " }).lowercased()
  }
}
