@_spi(Stores) import LarderCore
import LarderOData

/// The entity sets of which the service has returned data, as look-ups have shown. While a service answers, its 404 and
/// 410 are its own.
package final class ServicePresence: Sendable {
  private struct State {
    var confirmed: Set<String> = []
    var lookUps: [String: SharedFetch<Bool, ODataServiceError>] = [:]
  }

  private let state = Locked(State())

  package init() {}

  /// Forgets what was looked up: at the beginning of each upload and download.
  package func forget() { state.withLock { $0 = State() } }

  /// Whether a set, or the root, answers. Callers that ask for the same set at the same time share one look-up.
  fileprivate func isConfirmed(
    _ set: String, _ environment: LarderEnvironment,
    _ lookUp: @escaping @Sendable () async -> Result<Bool, ODataServiceError>
  ) async throws(ODataServiceError) -> Bool {
    let running = state.withLock { state -> SharedFetch<Bool, ODataServiceError>? in
      if state.confirmed.contains(set) { return nil }
      if let running = state.lookUps[set] { return running }
      let fetch = SharedFetch<Bool, ODataServiceError>(
        cancelled: ODataServiceError(.cancelled, operation: "read"), environment: environment)
      state.lookUps[set] = fetch
      return fetch
    }
    guard let running else { return true }
    return try await running.value { [self] in
      if state.withLock({ $0.confirmed.contains(set) }) { return .success(true) }
      let result = await lookUp()
      if case .success(true) = result { state.withLock { _ = $0.confirmed.insert(set) } }
      return result
    }
  }
}

extension ODataConversation {
  /// Returns an error with the status 404 or 410 as foreign (`isForeign`) if the response is not the service's own: it
  /// is no error of OData about the resource, and neither the entity set nor the root of the service answers with OData.
  /// Other errors are returned unchanged. Throws only if the caller cancels.
  ///
  /// - Parameters:
  ///   - set: the name of the set to look up, percent-encoded; nil for the first segment of the request's path.
  package func attributed(
    _ error: ODataServiceError, presence: ServicePresence, set: String? = nil
  ) async throws(ODataServiceError) -> ODataServiceError {
    guard let statement = AbsenceStatement(error), statement != .resource, !error.isForeign else { return error }
    let set = set ?? error.response.flatMap { firstSegment($0.url) } ?? ""
    let isPresent = try await presence.isConfirmed(set, options.environment) { [self] in
      do throws(ODataServiceError) {
        if !set.isEmpty, try await answers(set + "?$top=1") { return .success(true) }
        return .success(try await answers(""))
      } catch { return .failure(error) }
    }
    guard !isPresent else { return error }
    var foreign = error
    foreign.isForeign = true
    return foreign
  }

  /// The name with which the path of a URL of the service begins; nil for `$metadata` and the like.
  private func firstSegment(_ url: String) -> String? {
    guard let path = root.relative(url) else { return nil }
    let name = path.prefix { !"(/?".contains($0) }
    return name.isEmpty || name.hasPrefix("$") ? nil : String(name)
  }

  /// Whether a path is answered with OData. Throws only if the caller cancels.
  private func answers(_ path: String) async throws(ODataServiceError) -> Bool {
    do throws(ODataServiceError) {
      return ServiceAnswer.isOData(try await send(.read(path, useCache: false)))
    } catch {
      if case .cancelled = error.category { throw error }
      return false
    }
  }
}

/// Recognizes the content of a service's entity sets and of its root.
enum ServiceAnswer {
  /// Whether a successful response has the form of an entity set, an entity or a service document, of any version.
  static func isOData(_ response: ODataSingleResponse) -> Bool {
    var response = response
    response.url = ""
    switch PayloadForm(response) {
    case .json:
      guard let node = try? JSONNode(response.payloadBytes) else { return false }
      return node["value"]?.items != nil || node["d"]?.items != nil || node["d"]?.members != nil
        || ["@odata.context", "@context", "odata.metadata"].contains { node[$0]?.text != nil }
    case .xml:
      let text = String(decoding: response.payloadBytes.prefix(4096), as: UTF8.self)
      return text.contains("http://www.w3.org/2005/Atom") || text.contains("http://www.w3.org/2007/app")
    case .count, .text, .bytes, .multipart: return false
    }
  }
}
