@_spi(Stores) import LarderCore
public import LarderHTTP
// An import of this module also imports these modules.
@_exported public import LarderOData

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One conversation with a service: metadata, credentials, tokens and retries. Many requests may run at once.
///
/// Connections, TLS, certificates and proxies belong to the transport.
public final class ODataConversation: Sendable {
  /// The root of the service.
  package let root: ODataServiceRoot
  /// The options of the conversation.
  public let options: ODataConversationOptions

  let transport: any HTTPTransport
  let authentication: (any HTTPAuthentication)?
  let state: Locked<SessionState>
  let csrfFetch: SharedFetch<String, ODataServiceError>
  let metadataFetch: SharedFetch<EdmModel, ODataServiceError>

  /// Creates a conversation. Nothing is sent yet.
  ///
  /// Throws ``ODataServiceError`` (`invalidRequest`) for a root that is not an http or https URL.
  public init(
    root: URL, transport: any HTTPTransport, authentication: (any HTTPAuthentication)? = nil,
    options: ODataConversationOptions = ODataConversationOptions()
  ) throws(ODataServiceError) {
    self.root = try ODataServiceRoot(root)
    self.transport = transport
    self.authentication = authentication
    self.options = options
    state = Locked(SessionState(host: self.root.origin.host, csrf: options.csrf))
    csrfFetch = SharedFetch(
      cancelled: ODataServiceError(.cancelled, operation: "csrf"), environment: options.environment)
    metadataFetch = SharedFetch(
      cancelled: ODataServiceError(.cancelled, operation: "metadata"), environment: options.environment)
  }

  /// Identifies the user: caches keep the responses of different users apart by it. Digest it before writing it
  /// anywhere.
  package var identity: String {
    let connection = transport.identity
    let caller = authentication?.identity ?? ""
    return connection.isEmpty ? caller : caller + "\nconnection:" + connection
  }

  /// Sends a request of either kind and reads its response into memory. Throws as `send` of that kind does.
  public func send(either request: ODataRequest) async throws(ODataServiceError) -> ODataResponse {
    switch request {
    case .single(let request): .single(try await send(request))
    case .batch(let request): .batch(try await send(request))
    }
  }

  /// Removes cookies and the CSRF token: the next request begins a new session.
  public func endSession() {
    state.withLock { state in
      state.cookies.removeAll()
      state.csrf.sessionChanged()
    }
  }
}
