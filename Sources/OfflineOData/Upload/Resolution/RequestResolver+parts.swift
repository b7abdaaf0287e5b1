import HTTPCore
import OData
import ODataService
import Storage

// What became of changes of an entity's parts whose answers were lost: under a condition, a second time would be refused
// where the first was done; what a download has noticed may be the change itself. Else a second time has the effect of the
// first.
extension RequestResolver {
  // MARK: Properties

  func property(_ known: Case) async throws -> RequestEnd {
    guard let path = known.path, known.attempt.ifMatch != nil || known.isNoticed else { return .queued }
    let found = try await lookup.entity(path)
    guard let theirs = theirs(found) else { return .queued }
    let sent = sentProperty(known.entry.request).map { QueuedEntity(properties: [$0]) }
    let judgement = LookupJudgement.ofUpdate(
      found.answer, ifMatch: known.attempt.ifMatch,
      isMine: sent.map { isMine($0, found.answer?.entity, known) } ?? false, isBase: nil)
    return end(judgement, known, theirs)
  }

  /// The property that a request sets, in the complex values that it stands in; nil where that cannot be told.
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

  func media(_ known: Case) async throws -> RequestEnd {
    let condition = known.attempt.ifMatch
    guard let path = known.path, condition != "*", condition != nil || known.isNoticed else { return .queued }
    let found = try await lookup.entity(path)
    guard let theirs = theirs(found), let answer = found.answer, condition == nil || answer.etag != condition else {
      return .queued
    }
    if try await hasMedia(known) { return end(.done, known, theirs) }
    return condition == nil ? .queued : end(.conflict, known, theirs)
  }

  /// Whether the service has the bytes that were sent; none where they were to be deleted.
  private func hasMedia(_ known: Case) async throws -> Bool {
    let isDeletion = known.entry.request.operation == .deleteMedia
    let response: ODataMediaResponse
    do throws(ODataServiceError) {
      response = try await store.conversation.streamAnswer(
        to: ODataSingleRequest(.readMedia, known.attempt.url, useCache: false))
    } catch {
      switch UploadOutcome.of(error, isRemoval: true) {
      case .doneBefore: return isDeletion
      case .stop: throw UploadStop(error)
      default: return false
      }
    }
    guard response.httpStatus != 204, !isDeletion,
      case .media(let number, let byteCount, _) = known.entry.request.body
    else {
      response.body.cancel()
      return isDeletion && response.httpStatus == 204
    }
    let head = StoredStreams.Head(contentType: nil, etag: nil, byteCount: byteCount, generation: number)
    do { return try await Self.isSame(response.body, StoredStreams.body(head, store)) } catch {
      throw OfflineODataError(below: error)
    }
  }

  /// Whether two streams have the same bytes; neither is held as a whole.
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
