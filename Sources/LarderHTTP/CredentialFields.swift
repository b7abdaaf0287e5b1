/// Which request fields are credentials: they say who asks, or prove it.
///
/// Caches keep responses to different values of any of these fields apart, and the command line takes none of them as a plain
/// argument. A field is one of them by its name or by its last word:
///
/// | by name | by pattern |
/// | --- | --- |
/// | `Authorization`, `Proxy-Authorization`, `Cookie`, `DPoP`, `APIKey`, `Api-Key`, `X-API-Key`, `Ocp-Apim-Subscription-Key`, `X-Functions-Key`, `X-Goog-Api-Key`, `PRIVATE-TOKEN`, `X-Access-Token`, `X-Amz-Security-Token`, `X-Auth-Token`, `X-Session-Token`, `X-Vault-Token` | `*-key`, `*-secret`, `*-session`, `*-token` |
///
/// Three kinds of field match a pattern and are no credentials: `Idempotency-Key` and `X-Idempotency-Key`, which name a
/// request, `Sec-WebSocket-Key`, which names a connection, and a CSRF token (`X-CSRF-Token`, `X-XSRF-Token`, and both without
/// `X-`), which is worth nothing without the session's cookie. ``insert(_:)`` adds a field, ``remove(_:)`` takes one out.
public struct CredentialFields: Hashable, Sendable {
  /// What ``insert(_:)`` and ``remove(_:)`` have said, by canonical name.
  private var decided: [String: Bool] = [:]

  /// The fields of the table.
  public init() {}

  /// Counts a field as a credential.
  public mutating func insert(_ name: HTTPFieldName) { decided[name.canonicalName] = true }

  /// Counts a field as no credential: responses to different values of it may be exchanged.
  public mutating func remove(_ name: HTTPFieldName) { decided[name.canonicalName] = false }

  /// True for a credential. Costs some nanoseconds: it is asked for each field of each request.
  public func contains(_ name: HTTPFieldName) -> Bool {
    let name = name.canonicalName
    if !decided.isEmpty, let isCredential = decided[name] { return isCredential }
    return CredentialFields.isNamed(name) || CredentialFields.fitsPattern(name)
  }

  // The names that no pattern fits. Lengths are compared first: most fields have another one.
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
