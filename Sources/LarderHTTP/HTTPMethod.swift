/// A request method (RFC 9110 §9). The set is open: any token is allowed.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The method's token, case-sensitive (RFC 9110 §9.1).
  public let rawValue: String

  /// Creates a method from any token; the common ones are static members.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The token.
  public var description: String { rawValue }

  /// Transfers a representation (RFC 9110 §9.3.1).
  public static let get = HTTPMethod(rawValue: "GET")
  /// GET without the content (RFC 9110 §9.3.2).
  public static let head = HTTPMethod(rawValue: "HEAD")
  /// Sends content for the resource to process (RFC 9110 §9.3.3).
  public static let post = HTTPMethod(rawValue: "POST")
  /// Replaces the resource (RFC 9110 §9.3.4).
  public static let put = HTTPMethod(rawValue: "PUT")
  /// Changes part of the resource (RFC 5789).
  public static let patch = HTTPMethod(rawValue: "PATCH")
  /// The method of OData V2 that changes part of an entity.
  public static let merge = HTTPMethod(rawValue: "MERGE")
  /// Removes the resource (RFC 9110 §9.3.5).
  public static let delete = HTTPMethod(rawValue: "DELETE")
  /// Requests the communication options (RFC 9110 §9.3.7).
  public static let options = HTTPMethod(rawValue: "OPTIONS")

  /// Whether the method requests no change on the server (RFC 9110 §9.2.1).
  package var isSafe: Bool { self == .get || self == .head || self == .options }

  /// Whether sending the request twice has the effect of sending it once (RFC 9110 §9.2.2).
  package var isIdempotent: Bool { isSafe || self == .put || self == .delete }
}
