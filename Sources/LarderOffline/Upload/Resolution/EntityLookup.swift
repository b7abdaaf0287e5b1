import LarderHTTP
import LarderOData
import LarderService

/// Reads what the service has now, to find out what became of a request, and to see another's version.
struct EntityLookup: Sendable {
  let store: OpenStore

  /// What a read found.
  enum LookupResult: Sendable {
    case existing(ServerResponse)
    case gone
    /// The service does not answer the question.
    case unanswered
  }

  private var conversation: ODataConversation { store.conversation }
  private var model: EdmModel { store.replica.model }

  /// Reads an entity by its path. Throws ``UploadStop`` where the service cannot be asked.
  func entity(_ path: String, expand: String = "") async throws -> LookupResult {
    var request = ODataSingleRequest.read(path, useCache: false)
    if !expand.isEmpty {
      request.path += (path.contains("?") ? "&" : "?") + "$expand=" + PercentEncoding.encode(expand)
    }
    let response: ODataSingleResponse
    do throws(ODataServiceError) { response = try await conversation.send(request) } catch {
      return try result(for: error)
    }
    guard !UnrecognizedResponse.isOne(response) else {
      throw UploadStop(UnrecognizedResponse.error(response, of: "read"))
    }
    var serverResponse = ServerResponse(response, model: model)
    serverResponse.isLookedUp = true
    // A single-valued path that leads nowhere is answered without content.
    return serverResponse.entity == nil ? (response.httpStatus == 204 ? .gone : .unanswered) : .existing(serverResponse)
  }

  /// Reads all entities of a collection that a filter holds for, all of it without one, page by page; nil where the service does not answer the
  /// question, or not to its end: there are `limit` and more, or a link leads elsewhere. Throws ``UnreadableLookup`` for a
  /// response that cannot be read.
  func entities(_ collection: String, filter: String?, limit: Int) async throws -> [ODataEntity]? {
    var entities: [ODataEntity] = []
    let filterOption = filter.map { "$filter=\(PercentEncoding.encode($0))&" } ?? ""
    var path = "\(collection)?\(filterOption)$top=\(limit)"
    // A service may refuse an option that is ours and not the question's.
    var pathWithoutTop = filter == nil ? nil : "\(collection)?\(filterOption.dropLast())"
    while true {
      guard let page = try await page(path, otherwise: pathWithoutTop) else { return nil }
      pathWithoutTop = nil
      entities += page.entities
      guard entities.count < limit else { return nil }
      guard let next = page.nextLink else { return entities }
      // A page with nothing on it and another behind it may go on for ever.
      guard !page.entities.isEmpty, let relativePath = try? store.relative(next) else { return nil }
      path = relativePath
    }
  }

  private func page(_ path: String, otherwise pathWithoutTop: String?) async throws -> ODataEntityCollection? {
    let response: ODataSingleResponse
    do throws(ODataServiceError) {
      response = try await conversation.send(.read(path, useCache: false))
    } catch {
      if let pathWithoutTop, let status = error.httpStatus, DownloadMachine.isAboutOptions(status) {
        return try await page(pathWithoutTop, otherwise: nil)
      }
      // That there is no such resource tells nothing of what is in it.
      _ = try result(for: error)
      return nil
    }
    guard !UnrecognizedResponse.isOne(response) else {
      throw UploadStop(UnrecognizedResponse.error(response, of: "read"))
    }
    let payload: ODataPayload
    do { payload = try response.payload(model: model) } catch {
      throw UnreadableLookup()
    }
    switch payload {
    case .collection(let collection): return collection
    case .property(let property) where property.value == .collection([]): return ODataEntityCollection()
    default: return nil
    }
  }

  private func result(for error: ODataServiceError) throws -> LookupResult {
    switch UploadOutcome.of(error, isRemoval: true) {
    case .doneBefore: return .gone
    case .stop: throw UploadStop(error)
    default: return .unanswered
    }
  }
}

/// The response to a look-up cannot be read: it tells nothing, and a narrower question would tell less.
struct UnreadableLookup: Error {}

/// The upload stops: the service cannot be asked, or the caller cancelled.
struct UploadStop: Error {
  let error: ODataServiceError

  init(_ error: ODataServiceError) { self.error = error }

  /// The error that the upload throws for it.
  var cause: any Error {
    if error.isCancelled { return CancellationError() }
    if UnrecognizedResponse.isOne(error) { return OfflineODataError(.serviceUnavailable, error.description) }
    // A 403 stops an upload only where it asks for credentials.
    return error.httpStatus == 403 ? OfflineODataError(.authenticationFailed, cause: error) : OfflineODataError(error)
  }
}
