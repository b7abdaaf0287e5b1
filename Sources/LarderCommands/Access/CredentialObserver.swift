@_spi(Stores) internal import LarderCore
internal import LarderHTTP
internal import LarderService

/// A transport that remembers the credentials that are sent, also to a token endpoint, so that they are not recorded if a
/// service repeats them.
final class CredentialObserver: HTTPTransport {
  private let transport: any HTTPTransport
  private let fields: CredentialFields
  private let state = Locked(SentSecrets())

  init(_ transport: any HTTPTransport, _ fields: CredentialFields) {
    self.transport = transport
    self.fields = fields
  }

  /// What was sent so far.
  var sent: SentSecrets { state.withLock { $0 } }

  var identity: String { transport.identity }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    state.withLock { $0.insert(request, fields) }
    return try await transport.send(request)
  }
}
