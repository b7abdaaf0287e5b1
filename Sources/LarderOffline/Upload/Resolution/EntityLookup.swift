@_spi(Stores) import LarderHTTP
import LarderOData
import LarderService

/// Reads the current version at the service, to determine the outcome of a request, or for a conflict.
struct EntityLookup: Sendable {
  let store: OpenStore

  /// The result of a read.
  enum LookupResult: Sendable {
    case existing(ServerResponse)
    case gone
    /// The service returns another entity, which has this path.
    case other(String)
    /// The service rejects the query.
    case inconclusive
  }

  private var conversation: ODataConversation { store.conversation }
  private var model: EdmModel { store.replica.model }

  /// Reads an entity by its path. Throws ``UploadStop`` if the service cannot be reached.
  ///
  /// - Parameter row: the row of the entity; nil if the service may return any entity.
  func entity(_ path: String, of row: RowReference?, expand: String = "") async throws -> LookupResult {
    var request = ODataSingleRequest.read(path, useCache: false)
    if !expand.isEmpty {
      request.path += (path.contains("?") ? "&" : "?") + "$expand=" + PercentEncoding.encode(expand)
    }
    let response: ODataSingleResponse
    do throws(ODataServiceError) { response = try await conversation.send(request) } catch {
      return try result(for: try await store.attributed(error))
    }
    guard !UnrecognizedResponse.isOne(response) else {
      throw UploadStop(UnrecognizedResponse.error(response, of: "read"))
    }
    var serverResponse = ServerResponse(response, model: model)
    serverResponse.isLookedUp = true
    // A single-valued path without a target gets a response without content.
    guard serverResponse.entity == nil else {
      let other = try await store.otherEntity(in: serverResponse, than: row)
      return other.map { .other($0) } ?? .existing(serverResponse)
    }
    return response.httpStatus == 204 ? .gone : .inconclusive
  }

  /// Reads all entities of a collection that match a filter, page by page; without a filter, all entities. Nil if the
  /// service rejects the query, or the result is incomplete: there are `limit` entities or more, or a link points
  /// outside the service. Throws ``UnreadableLookup`` for a response that cannot be read.
  func entities(_ collection: String, filter: String?, limit: Int) async throws -> [ODataEntity]? {
    var entities: [ODataEntity] = []
    let filterOption = filter.map { "$filter=\(PercentEncoding.encode($0))&" } ?? ""
    var path = "\(collection)?\(filterOption)$top=\(limit)"
    // A service may reject the `$top` option, which is not necessary for the query.
    var pathWithoutTop = filter == nil ? nil : "\(collection)?\(filterOption.dropLast())"
    while true {
      guard let page = try await page(path, otherwise: pathWithoutTop) else { return nil }
      pathWithoutTop = nil
      entities += page.entities
      guard entities.count < limit else { return nil }
      guard let next = page.nextLink else { return entities }
      // An empty page with a next link may lead to an endless sequence of pages.
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
      // A collection that does not exist says nothing about its former content, so content that is not the service's
      // is the only kind to tell apart.
      _ = try result(for: AbsenceStatement(error) == .foreign ? try await store.attributed(error) : error)
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
    default: return .inconclusive
    }
  }
}

/// The response to a look-up cannot be read. It is inconclusive, and a more specific query would be, too.
struct UnreadableLookup: Error {}

/// The upload stops, because the service cannot be reached, or the caller cancelled.
struct UploadStop: Error {
  let error: ODataServiceError

  init(_ error: ODataServiceError) { self.error = error }

  /// The error that the upload throws.
  var cause: any Error {
    if error.isCancelled { return CancellationError() }
    if UnrecognizedResponse.isOne(error) { return OfflineODataError(.serviceUnavailable, error.description) }
    // A 403 stops an upload only if it demands credentials.
    return error.httpStatus == 403 ? OfflineODataError(.authenticationFailed, cause: error) : OfflineODataError(error)
  }
}

extension OpenStore {
  /// Runs a look-up at the service without which the store can continue. Nil if it fails, which is reported.
  func lookUp<Value>(_ path: String, _ body: () async throws -> Value) async -> Value? {
    do { return try await body() } catch {
      let error =
        error is UnreadableLookup
        ? OfflineODataError(.malformedResponse) : OfflineODataError(below: (error as? UploadStop)?.cause ?? error)
      if !error.isCancelled { reportFailedLookUp(path, error) }
      return nil
    }
  }

  func reportFailedLookUp(_ path: String, _ error: OfflineODataError) {
    report(.lookUpFailed(url: (try? root.absoluteText(path)) ?? path, error))
  }
}
