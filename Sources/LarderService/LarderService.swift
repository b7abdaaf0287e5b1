// One conversation with an OData service, and the types that all stores share. Keeps nothing between runs.
//
// The types shared by all stores:
// 1. Request/   ``ODataRequest``, one request or a batch; ``ODataServiceRoot`` converts resource paths to URLs.
// 2. Response/  ``ODataResponse``, which keeps the bytes and decodes them on demand.
// 3. Store/     ``ODataStore``, the listener, and ``ODataRequestExecution`` that makes the callbacks one by one;
//               ``RequestOrder`` decides which requests wait for earlier ones.
// 4. Error/     ``ODataServiceError``: what went wrong, where, and the underlying cause.
//
// The stages of one request through ``ODataConversation``, each layer a file in Conversation/:
// 1. +single, +media, +batch   the version's method, fields and form of content; Atom if the service has no JSON;
// 2. +sending                  retries (Retry/, a state machine) and method tunnelling;
// 3. +csrf                     the token before a change, and one replay (Session/CSRF+StateMachine);
// 4. +authorization            credentials, one renewal after a 401 (Authentication/); cookies (Session/CookieJar);
// 5.                           `HTTPTransport`, and back: every unsuccessful status becomes an error with its payload.
//
// In addition: +metadata reads model and version once. Session/SharedFetch shares one fetch between many callers.

import LarderCore
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
  public let options: ConversationOptions

  let transport: any HTTPTransport
  let authentication: (any Authentication)?
  let state: Locked<SessionState>
  let csrfFetch: SharedFetch<String, ODataServiceError>
  let metadataFetch: SharedFetch<EdmModel, ODataServiceError>

  /// Creates a conversation. Nothing is sent yet.
  ///
  /// Throws ``ODataServiceError`` (`invalidRequest`) for a root that is not an http or https URL.
  public init(
    root: URL, transport: any HTTPTransport, authentication: (any Authentication)? = nil,
    options: ConversationOptions = ConversationOptions()
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
