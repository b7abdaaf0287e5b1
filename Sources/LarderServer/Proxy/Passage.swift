import LarderHTTP

/// How a proxy names itself in `Via`, and recognises its own name there (RFC 9110 §7.6.3).
struct Passage {
  /// The pseudonym of one proxy: no other one has it, whatever it is called.
  private let pseudonym: String
  /// What is added to requests of HTTP/1.0 and 1.1.
  private let old: String
  private let new: String

  /// - Parameter name: a token, which the pseudonym begins with.
  init(name: String) {
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    pseudonym = "\(name)-" + String(repeating: "0", count: 16 - digits.utf8.count) + digits
    (old, new) = ("1.0 \(pseudonym)", "1.1 \(pseudonym)")
  }

  /// What a request that this proxy forwards has as its last `Via`.
  func mark(minorVersion: Int) -> String { minorVersion == 0 ? old : new }

  /// True for a request that this proxy has forwarded before.
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
