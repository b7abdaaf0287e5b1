import LarderHTTP
import LarderOData
import LarderService

/// Reads what the service has now, to find out what became of a request, and to see another's version.
struct EntityLookup: Sendable {
  let store: OpenStore

  /// What a read found.
  enum Found: Sendable {
    case there(ServerResponse)
    case gone
    /// The service does not answer the question.
    case refused
  }

  private var conversation: ODataConversation { store.conversation }
  private var model: EdmModel { store.replica.model }

  /// Reads an entity by its path. Throws ``UploadStop`` where the service cannot be asked.
  func entity(_ path: String, expand: String = "") async throws -> Found {
    var request = ODataSingleRequest.read(path, useCache: false)
    if !expand.isEmpty {
      request.path += (path.contains("?") ? "&" : "?") + "$expand=" + PercentEncoding.encode(expand)
    }
    let response: ODataSingleResponse
    do throws(ODataServiceError) { response = try await conversation.send(request) } catch { return try found(error) }
    guard !UnrecognizedResponse.isOne(response) else {
      throw UploadStop(UnrecognizedResponse.error(response, of: "read"))
    }
    var answer = ServerResponse(response, model: model)
    answer.isLookedUp = true
    // A single-valued path that leads nowhere is answered without content.
    return answer.entity == nil ? (response.httpStatus == 204 ? .gone : .refused) : .there(answer)
  }

  /// Reads all entities of a collection that a filter holds for, all of it without one, page by page; nil where the service does not answer the
  /// question, or not to its end: there are `limit` and more, or a link leads elsewhere. Throws ``UnreadableLookup`` for a
  /// response that cannot be read.
  func entities(_ collection: String, filter: String?, limit: Int) async throws -> [ODataEntity]? {
    var all: [ODataEntity] = []
    let question = filter.map { "$filter=\(PercentEncoding.encode($0))&" } ?? ""
    var path = "\(collection)?\(question)$top=\(limit)"
    // A service may refuse an option that is ours and not the question's.
    var plain = filter == nil ? nil : "\(collection)?\(question.dropLast())"
    while true {
      guard let page = try await page(path, otherwise: plain) else { return nil }
      plain = nil
      all += page.entities
      guard all.count < limit else { return nil }
      guard let next = page.nextLink else { return all }
      // A page with nothing on it and another behind it may go on for ever.
      guard !page.entities.isEmpty, let inside = try? store.relative(next) else { return nil }
      path = inside
    }
  }

  private func page(_ path: String, otherwise plain: String?) async throws -> ODataEntityCollection? {
    let response: ODataSingleResponse
    do throws(ODataServiceError) {
      response = try await conversation.send(.read(path, useCache: false))
    } catch {
      if let plain, let status = error.httpStatus, DownloadMachine.isAboutOptions(status) {
        return try await page(plain, otherwise: nil)
      }
      // That there is no such resource tells nothing of what is in it.
      _ = try found(error)
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

  private func found(_ error: ODataServiceError) throws -> Found {
    switch UploadOutcome.of(error, isRemoval: true) {
    case .doneBefore: return .gone
    case .stop: throw UploadStop(error)
    default: return .refused
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
