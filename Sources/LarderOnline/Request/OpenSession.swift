@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

/// What the requests of an open store use: the conversation and the cache at that time.
final class OpenSession: Sendable {
  let conversation: ODataConversation
  let cache: TechnicalCache?
  let tracksChanges: Bool
  let report: @Sendable (LarderDiagnostic) -> Void
  private let memory: SessionMemory

  init(
    conversation: ODataConversation, cache: TechnicalCache?, tracksChanges: Bool, memory: SessionMemory,
    report: @escaping @Sendable (LarderDiagnostic) -> Void
  ) {
    self.conversation = conversation
    self.cache = cache
    self.tracksChanges = tracksChanges
    self.memory = memory
    self.report = report
  }

  var batchesSupportConditions: Bool { memory.batchesSupportConditions }

  /// Sends a request, conditionally or for changes only if `revalidation` says so.
  func send(
    _ request: ODataRequest, _ revalidation: RevalidationRequest, keys: [CacheKey?]
  ) async throws(ODataServiceError) -> ODataResponse {
    switch request {
    case .single(let single): .single(try await send(single, revalidation, isCached: keys.first ?? nil != nil))
    case .batch(let batch): .batch(try await send(batch, revalidation))
    }
  }

  private func send(
    _ request: ODataSingleRequest, _ revalidation: RevalidationRequest, isCached: Bool
  ) async throws(ODataServiceError) -> ODataSingleResponse {
    var request = request
    var requestsDelta = isCached
    switch revalidation {
    case .plain: break
    case .conditional(let validators):
      request.validators = validators.first ?? nil
      requestsDelta = true
    case .changes(let link):
      request.path = link
      requestsDelta = false
    }
    var tracking = request
    guard requestsDelta, requestDeltaLink(&tracking) else { return try await conversation.send(request) }
    do throws(ODataServiceError) { return try await conversation.send(tracking) } catch {
      guard !error.isForeign, let status = error.httpStatus, status == 400 || status == 501 else { throw error }
      // The service may reject the preference, which the store added.
      let response = try await conversation.send(request)
      memory.recordTrackingRejection()
      report(.trackingRejected(status: status))
      return response
    }
  }

  /// Adds the preference for a delta link. Returns false, and adds nothing, if none is wanted.
  private func requestDeltaLink(_ request: inout ODataSingleRequest) -> Bool {
    guard tracksChanges, memory.supportsTracking, request.operation == .read,
      conversation.knownVersion.map({ $0 >= .v4 }) ?? false,
      !(request.fields[.prefer] ?? "").contains("track-changes")
    else { return false }
    request.fields[.prefer] = request.fields[.prefer].map { $0 + ", odata.track-changes" } ?? "odata.track-changes"
    return true
  }

  private func send(
    _ batch: ODataBatchRequest, _ revalidation: RevalidationRequest
  ) async throws(ODataServiceError) -> ODataBatchResponse {
    guard case .conditional(let validators) = revalidation else { return try await conversation.send(batch) }
    var conditional = batch
    for index in conditional.items.indices where index < validators.count {
      guard let validators = validators[index], case .single(var request) = conditional.items[index] else { continue }
      request.validators = validators
      conditional.items[index] = .single(request)
    }
    // Changes are never sent twice: only a batch of reads tests whether the service accepts conditions.
    guard batch.isRead else { return try await conversation.send(batch) }
    let batchResponse = try await conversation.send(conditional)
    for (slot, validators) in zip(batchResponse.slots, validators) where validators != nil {
      guard let status = slot?.failure?.httpStatus, [400, 412, 428, 501].contains(status) else { continue }
      memory.recordConditionsRejection()
      report(.batchConditionsRejected(status: status))
      return try await conversation.send(batch)
    }
    return batchResponse
  }

  /// Checks once, during the first request, whether the cached metadata is still the service's.
  func refreshMetadata() {
    guard let cache, memory.claimRefresh() else { return }
    let (conversation, report) = (conversation, report)
    memory.refreshing(
      conversation.options.environment.task {
        // After a failure the known model stays; the next opening tries again.
        guard let document = try? await conversation.metadataDocument(), !Task.isCancelled,
          !document.sender.isOtherOrigin
        else { return }
        do throws(StorageError) { try await ServiceMetadata.take(document, into: conversation, cache: cache) } catch {
          if ![.closed, .suspended].contains(error.category) {
            report(.cacheWriteFailed(urls: [document.url], error))
          }
        }
      })
  }
}

/// What a store learns about the service between its opening and its closing.
final class SessionMemory: Sendable {
  private let state = Locked(State())

  private struct State {
    var batchesSupportConditions = true
    var supportsTracking = true
    var wantsRefresh = false
    var refresh: Task<Void, Never>?
  }

  var batchesSupportConditions: Bool { state.withLock { $0.batchesSupportConditions } }

  /// Whether the service has never rejected the preference for change tracking.
  var supportsTracking: Bool { state.withLock { $0.supportsTracking } }

  func recordTrackingRejection() { state.withLock { $0.supportsTracking = false } }

  func recordConditionsRejection() { state.withLock { $0.batchesSupportConditions = false } }

  /// Records that cached metadata was used and must be compared with the service's once.
  func wantsRefresh() { state.withLock { $0.wantsRefresh = true } }

  /// True for the first caller only.
  func claimRefresh() -> Bool {
    state.withLock { state in
      defer { state.wantsRefresh = false }
      return state.wantsRefresh
    }
  }

  func refreshing(_ task: Task<Void, Never>) { _ = state.withLock { exchange(&$0.refresh, with: task) } }

  /// Ends the work that runs beside the requests.
  func end() async {
    let task = state.withLock { $0.refresh.take() }
    task?.cancel()
    await task?.value
  }
}
