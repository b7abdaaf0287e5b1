/// A token that whoever bears it may use (RFC 6750): a fixed one, or one that the application gets.
public struct BearerAuthentication: Authentication {
  /// Gets a token. `rejected` is the token that the service refused, nil for the first and for ordinary calls.
  public typealias Provider = @Sendable (_ rejected: String?) async throws -> String

  /// Whose token it is.
  public let identity: String
  private let provider: Provider
  private let isFixed: Bool

  /// Takes a fixed token.
  ///
  /// - `identity`: whose token it is; nil makes every token a user of its own, so that cached answers are lost
  ///   with it.
  public init(token: String, identity: String? = nil) {
    self.identity = "bearer:" + (identity ?? token)
    provider = { _ in token }
    isFixed = true
  }

  /// Asks the application for a token before each request, and once more after a 401.
  ///
  /// The provider keeps its token itself; it is called for every request, and by several at the same time.
  public init(identity: String, provider: @escaping Provider) {
    self.identity = "bearer:" + identity
    self.provider = provider
    isFixed = false
  }

  /// `Bearer` and the token.
  public func authorization() async throws(AuthenticationFailure) -> String? { try await ask(rejected: nil) }

  /// A new token from the provider; nil for a fixed one, or where the provider gives the same again.
  public func authorization(after rejected: String?, challenge: String?) async throws(AuthenticationFailure)
    -> String?
  {
    guard !isFixed else { return nil }
    let token = rejected.map { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : $0 }
    let value = try await ask(rejected: token)
    return value == rejected ? nil : value
  }

  private func ask(rejected: String?) async throws(AuthenticationFailure) -> String {
    do { return "Bearer " + (try await provider(rejected)) } catch let failure as AuthenticationFailure {
      throw failure
    } catch {
      throw .provider(String(describing: type(of: error)))
    }
  }
}
