// One conversation with an OData service, and the words that every store speaks. Keeps nothing between runs.
//
// The words, shared by all stores:
// 1. Request/   what is asked: ``ODataRequest``, one request or a batch; resource paths become URLs in ``ODataServiceRoot``.
// 2. Response/  what is answered: ``ODataResponse``, bytes first, decoded when asked.
// 3. Store/     ``ODataStore``, the listener, and ``ODataRequestExecution`` that drives the callbacks one by one;
//               ``RequestOrder`` says which requests wait for earlier ones.
// 4. Error/     ``ODataServiceError``: what went wrong, where, and the cause below.
//
// The way of one request through ``ODataConversation``, each layer a file in Conversation/:
// 1. +single, +media, +batch   the version's method, fields and form of content; Atom where the service speaks no JSON;
// 2. +sending                  repetition (Retry/, a state machine) and method tunnelling;
// 3. +csrf                     the token before a change, and one replay (Session/CSRF+StateMachine);
// 4. +authorization            credentials, one renewal after a 401 (Authentication/); cookies (Session/CookieJar);
// 5.                           `HTTPTransport`, and back: every status but a success becomes an error with its payload.
//
// Beside it: +metadata, the model and version, read once. Session/SharedFetch is the one fetch for many who wait.

import LarderCore
public import LarderHTTP
// Those who import this module use these modules without another import.
@_exported public import LarderOData

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One conversation with a service: metadata, credentials, tokens, repetition. Many requests may be on their way at once.
///
/// Connections, TLS, certificates and proxies are the transport's.
public final class ODataConversation: Sendable {
  /// The service.
  public let root: ODataServiceRoot
  /// How it is spoken with.
  public let options: ConversationOptions

  let transport: any HTTPTransport
  let authentication: (any Authentication)?
  let state: Locked<SessionState>
  let csrfFetch: SharedFetch<String, ODataServiceError>
  let metadataFetch: SharedFetch<EdmModel, ODataServiceError>

  /// Begins a conversation; nothing is sent yet.
  ///
  /// Throws ``ODataServiceError`` (`invalidRequest`) for a root that is no http or https URL.
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

  /// Whose answers these are: caches keep those of different callers apart by it. Digest it before writing it anywhere.
  package var identity: String {
    let connection = transport.identity
    let caller = authentication?.identity ?? ""
    return connection.isEmpty ? caller : caller + "\nconnection:" + connection
  }

  /// Sends a request of either kind and reads its answer into memory. Throws as `send` of that kind does.
  public func send(either request: ODataRequest) async throws(ODataServiceError) -> ODataResponse {
    switch request {
    case .single(let request): .single(try await send(request))
    case .batch(let request): .batch(try await send(request))
    }
  }

  /// Forgets cookies and the token against request forgery: the next request begins a new session.
  public func endSession() {
    state.withLock { state in
      state.cookies.removeAll()
      state.csrf.sessionChanged()
    }
  }
}
