/// Authentication with a bearer token (RFC 6750): a fixed one, or one that the application provides.
public struct BearerAuthentication: HTTPAuthentication {
  /// Provides a token. `rejected` is the token that the service rejected, nil for the first and for ordinary calls.
  public typealias Provider = @Sendable (_ rejected: String?) async throws -> String

  /// The user to whom the token belongs.
  public let identity: String
  private let provider: Provider
  private let isFixed: Bool

  /// Creates an authentication with a fixed token.
  ///
  /// - `identity`: the user to whom the token belongs; nil makes every token a user of its own, so that cached
  ///   responses are lost with the token.
  public init(token: String, identity: String? = nil) {
    self.identity = "bearer:" + (identity ?? token)
    provider = { _ in token }
    isFixed = true
  }

  /// Requests a token from the application before each request, and once more after a 401.
  ///
  /// The provider must cache its token itself: it is called for every request, and concurrently.
  public init(identity: String, provider: @escaping Provider) {
    self.identity = "bearer:" + identity
    self.provider = provider
    isFixed = false
  }

  /// `Bearer` and the token.
  public func authorization() async throws(HTTPAuthenticationError) -> String? { try await requestToken(rejected: nil) }

  /// Returns a new token from the provider; nil for a fixed token, or if the provider returns the rejected one again.
  public func authorization(after rejected: String?, challenge: String?) async throws(HTTPAuthenticationError)
    -> String?
  {
    guard !isFixed else { return nil }
    let token = rejected.map { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : $0 }
    let value = try await requestToken(rejected: token)
    return value == rejected ? nil : value
  }

  private func requestToken(rejected: String?) async throws(HTTPAuthenticationError) -> String {
    do { return "Bearer " + (try await provider(rejected)) } catch let failure as HTTPAuthenticationError {
      throw failure
    } catch {
      throw .provider(String(describing: type(of: error)))
    }
  }
}
