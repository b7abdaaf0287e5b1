#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Authentication with a user name and password, in UTF-8 (RFC 7617). Use it over TLS only.
public struct BasicAuthentication: HTTPAuthentication {
  /// The user's name.
  public let user: String
  private let value: String

  /// Creates an authentication from a user name and a password.
  ///
  /// Throws ``ODataServiceError`` (`invalidRequest`) for a user name with a colon, which the scheme cannot carry.
  public init(user: String, password: String) throws(ODataServiceError) {
    guard !user.utf8.contains(0x3A), !(user + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw ODataServiceError(
        .invalidRequest("the user name contains a colon, or the user name or the password contains control characters"),
        operation: "authentication")
    }
    self.user = user
    value = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }

  /// Name and password together: a client that sends the name with another password is another user.
  public var identity: String { "basic:" + value }

  /// The value of the `Authorization` field, which is equal for all requests.
  public func authorization() async throws(HTTPAuthenticationError) -> String? { value }
}
