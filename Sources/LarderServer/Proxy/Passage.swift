import LarderHTTP

/// The proxy's entry in `Via`, and how the proxy recognises it (RFC 9110 §7.6.3).
struct Passage {
  /// The pseudonym of this proxy. It is unique, also among proxies of the same name.
  private let pseudonym: String
  /// The value that is added to requests of HTTP/1.0 and 1.1.
  private let old: String
  private let new: String

  /// - Parameter name: a token; the pseudonym begins with it.
  init(name: String) {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    pseudonym = "\(name)-" + String(repeating: "0", count: 16 - digits.utf8.count) + digits
    (old, new) = ("1.0 \(pseudonym)", "1.1 \(pseudonym)")
  }

  /// The last `Via` value of a request that this proxy forwards.
  func mark(minorVersion: Int) -> String { minorVersion == 0 ? old : new }

  /// True if this proxy has forwarded the request before.
  func isMarked(_ fields: HTTPFields) -> Bool {
    guard fields.contains(ForwardedFields.via) else { return false }
    return fields.values(of: ForwardedFields.via).contains { value in
      // received-protocol, received-by, comment
      value.split(separator: ",").contains { member in
        member.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.map { $0 == pseudonym } ?? false
      }
    }
  }
}
