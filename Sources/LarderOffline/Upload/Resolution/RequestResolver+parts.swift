import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

// Determines the outcome of changes of a part of an entity: a property, a stream.
extension RequestResolver {
  // MARK: Properties

  func property(_ uncertain: UncertainRequest) async throws -> Finding {
    guard let path = uncertain.path, let property = sentProperty(uncertain.entry.request) else {
      return Finding(.inconclusive)
    }
    let lookupResult = try await lookup.entity(path, of: uncertain.entry.request.entity)
    guard case .existing(let serverResponse) = lookupResult, let entity = serverResponse.entity else {
      return missing(lookupResult, uncertain)
    }
    let sent = QueuedEntity(properties: [property])
    return Finding(
      .init(
        etag: serverResponse.etag, condition: uncertain.condition, isAsSent: isMine(sent, entity, uncertain),
        isAsBefore: isAsBefore([property.name], entity, uncertain)), .existing(serverResponse))
  }

  /// The property that a request sets, nested in its complex values; nil if it cannot be determined.
  private func sentProperty(_ request: QueuedRequest) -> QueuedProperty? {
    let steps = request.target.path.split(separator: "/").map(String.init).filter {
      $0 != "$value" && !$0.contains(".")
    }
    guard var value = sentValue(request, at: steps), let name = steps.first else { return nil }
    for step in steps.dropFirst().reversed() {
      value = .complex(ODataComplexValue(properties: [ODataProperty(step, value)]))
    }
    return QueuedProperty(name: name, value: QueuedValue(value))
  }

  private func sentValue(_ request: QueuedRequest, at path: [String]) -> ODataValue? {
    switch (request.operation, request.body) {
    case (.deleteProperty, _): return .null
    case (_, .properties(let properties)): return properties.first?.value.value
    case (_, .bytes(let bytes, _)):
      let column = request.entity.flatMap { store.replica.plan.table($0.table)?.column(path) }
      guard let type = column?.type.primitive else { return nil }
      return type == .binary
        ? .binary(bytes) : try? ODataValue(text: String(decoding: bytes, as: UTF8.self), type: type)
    default: return nil
    }
  }

  // MARK: Media

  /// A stream has its own ETag (OData JSON Format 4.01 §4.6.9, `mediaEtag`): the entity's ETag does not cover its
  /// bytes.
  func media(_ uncertain: UncertainRequest) async throws -> Finding {
    let isDeletion = uncertain.entry.request.operation == .deleteMedia
    guard let stream = try await read(uncertain) else { return Finding(.inconclusive) }
    // A stream that does not exist cannot have been written by another client.
    guard let body = stream.body else { return Finding(isDeletion ? .asSent : .asBefore) }
    var finding = Finding(.sameVersion)
    finding.hasETag = stream.etag != nil
    if stream.etag != nil, stream.etag == uncertain.condition {
      body.cancel()
    } else {
      finding.evidence = try await evidence(
        body, uncertain, hasCondition: finding.hasETag && uncertain.condition != nil)
    }
    guard finding.evidence == .asSent, let etag = stream.etag,
      let column = uncertain.entry.request.streamColumn(store.replica.plan)
    else { return finding }
    var serverResponse = ServerResponse()
    serverResponse.stream = StreamVersion(column: column, etag: etag)
    serverResponse.isLookedUp = true
    finding.theirs = .existing(serverResponse)
    return finding
  }

  /// Compares the bytes of a stream with those that were sent and with the former ones.
  private func evidence(
    _ body: HTTPBodyStream, _ uncertain: UncertainRequest, hasCondition: Bool
  ) async throws -> UncertainOutcome.Evidence {
    if case .media(let number, let byteCount, _) = uncertain.entry.request.body {
      if try await isSame(body, number, byteCount) { return .asSent }
    } else {
      body.cancel()
    }
    guard let earlier = try await earlierStream(uncertain), let again = try await read(uncertain)?.body else {
      return hasCondition ? .different : .ambiguous
    }
    return try await isSame(again, earlier.generation, earlier.byteCount) ? .asBefore : .different
  }

  /// Reads the stream. Nil if the service rejects the request; the body is nil if there is no stream.
  private func read(_ uncertain: UncertainRequest) async throws -> (body: HTTPBodyStream?, etag: String?)? {
    do throws(ODataServiceError) {
      let response = try await store.conversation.streamResponse(
        to: ODataSingleRequest(.readMedia, uncertain.attempt.url, useCache: false))
      guard response.httpStatus != 204 else {
        response.body.cancel()
        return (nil, nil)
      }
      return (response.body, response.etag)
    } catch {
      let error = try await store.attributed(error)
      switch UploadOutcome.of(error, isRemoval: true) {
      case .doneBefore: return (nil, nil)
      case .stop: throw UploadStop(error)
      default: return nil
      }
    }
  }

  /// The stream's bytes before the change, if they were downloaded.
  private func earlierStream(_ uncertain: UncertainRequest) async throws(OfflineODataError) -> StoredStreams.Head? {
    guard let entity = uncertain.entry.request.entity else { return nil }
    let last = uncertain.entry.request.target.path.split(separator: "/").last.map(String.init)
    let property = last == nil || last == "$value" ? "" : last ?? ""
    return try await store.read { snapshot in
      try StoredStreams.downloadedHead(StoredStreams.Name(entity: entity.row, property: property), snapshot.connection)
    }
  }

  private func isSame(_ body: HTTPBodyStream, _ generation: Int64, _ byteCount: Int64) async throws -> Bool {
    let head = StoredStreams.Head(contentType: nil, etag: nil, byteCount: byteCount, generation: generation)
    do { return try await Self.isSame(body, StoredStreams.body(head, store)) } catch {
      throw OfflineODataError(below: error)
    }
  }

  /// Whether two streams have the same bytes. Neither is loaded into memory as a whole.
  static func isSame(_ one: HTTPBodyStream, _ other: HTTPBodyStream) async throws -> Bool {
    var (ones, others) = (one.makeAsyncIterator(), other.makeAsyncIterator())
    var (left, right) = (ArraySlice<UInt8>(), ArraySlice<UInt8>())
    while true {
      while left.isEmpty, let next = try await ones.next() { left = next[...] }
      while right.isEmpty, let next = try await others.next() { right = next[...] }
      let count = min(left.count, right.count)
      guard count > 0 else { return left.isEmpty && right.isEmpty }
      guard left.prefix(count).elementsEqual(right.prefix(count)) else { return false }
      left = left.dropFirst(count)
      right = right.dropFirst(count)
    }
  }
}
