/// The request fields that are credentials: they identify the client, or authenticate it.
///
/// Caches keep responses to different values of any of these fields apart, and the command line does not accept them as
/// plain arguments. A field is a credential by its name or by its last word:
///
/// | by name | by pattern |
/// | --- | --- |
/// | `Authorization`, `Proxy-Authorization`, `Cookie`, `DPoP`, `APIKey`, `Api-Key`, `X-API-Key`, `Ocp-Apim-Subscription-Key`, `X-Functions-Key`, `X-Goog-Api-Key`, `PRIVATE-TOKEN`, `X-Access-Token`, `X-Amz-Security-Token`, `X-Auth-Token`, `X-Session-Token`, `X-Vault-Token` | `*-key`, `*-secret`, `*-session`, `*-token` |
///
/// Three kinds of field match a pattern and are not credentials: `Idempotency-Key` and `X-Idempotency-Key`, which name
/// a request, `Sec-WebSocket-Key`, which names a connection, and a CSRF token (`X-CSRF-Token`, `X-XSRF-Token`, and both
/// without `X-`), which is useless without the session's cookie. ``insert(_:)`` adds a field, ``remove(_:)`` removes
/// one.
public struct CredentialFields: Hashable, Sendable {
  /// The fields passed to ``insert(_:)`` and ``remove(_:)``, by canonical name.
  private var decided: [String: Bool] = [:]

  /// Creates the set of fields in the table.
  public init() {}

  /// Treats a field as a credential.
  public mutating func insert(_ name: HTTPFieldName) { decided[name.canonicalName] = true }

  /// Treats a field as no credential: responses to different values of it may be exchanged.
  public mutating func remove(_ name: HTTPFieldName) { decided[name.canonicalName] = false }

  /// Whether a field is a credential. Takes some nanoseconds, as it is called for each field of each request.
  public func contains(_ name: HTTPFieldName) -> Bool {
    let name = name.canonicalName
    if !decided.isEmpty, let isCredential = decided[name] { return isCredential }
    return CredentialFields.isNamed(name) || CredentialFields.fitsPattern(name)
  }

  /// Whether ``remove(_:)`` has removed a field, and no later call has added it.
  package func hasRemoved(_ name: HTTPFieldName) -> Bool { decided[name.canonicalName] == false }

  // The names that match no pattern. Lengths are compared first: most fields have another length.
  private static func isNamed(_ name: String) -> Bool {
    switch name.utf8.count {
    case 4: name == "dpop"
    case 6: name == "cookie" || name == "apikey"
    case 13: name == "authorization"
    case 19: name == "proxy-authorization"
    default: false
    }
  }

  private static func fitsPattern(_ name: String) -> Bool {
    let bytes = name.utf8
    let isFitting =
      switch bytes.last {
      case UInt8(ascii: "n"): ends(bytes, "-token") || ends(bytes, "-session")
      case UInt8(ascii: "t"): ends(bytes, "-secret")
      case UInt8(ascii: "y"): ends(bytes, "-key")
      default: false
      }
    return isFitting && !isHarmless(name)
  }

  private static func ends(_ bytes: String.UTF8View, _ pattern: StaticString) -> Bool {
    let count = pattern.utf8CodeUnitCount
    guard bytes.count >= count else { return false }
    return pattern.withUTF8Buffer { bytes.suffix(count).elementsEqual($0) }
  }

  private static func isHarmless(_ name: String) -> Bool {
    switch name {
    case "idempotency-key", "x-idempotency-key", "sec-websocket-key", "csrf-token", "x-csrf-token", "xsrf-token",
      "x-xsrf-token":
      true
    default: false
    }
  }
}
