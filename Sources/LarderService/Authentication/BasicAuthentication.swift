#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// User name and password, in UTF-8 (RFC 7617). Use it over TLS alone.
public struct BasicAuthentication: Authentication {
  /// The user's name.
  public let user: String
  private let value: String

  /// Takes a user name and a password.
  ///
  /// Throws ``ODataServiceError`` (`invalidRequest`) for a user name with a colon, which the scheme cannot carry.
  public init(user: String, password: String) throws(ODataServiceError) {
    guard !user.utf8.contains(0x3A), !(user + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw ODataServiceError(
        .invalidRequest("a user name holds no colon, and neither it nor the password control characters"),
        operation: "authentication")
    }
    self.user = user
    value = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }

  /// Name and password: who knows the one without the other is somebody else.
  public var identity: String { "basic:" + value }

  /// The same for every request.
  public func authorization() async throws(AuthenticationFailure) -> String? { value }
}
