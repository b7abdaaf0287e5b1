@_spi(Stores) import LarderCore
import LarderHTTP

/// Finds values that show what they are: a JWT, the credentials of an `Authorization` field, a private key, the keys of
/// known services. A token that continues a list stays, whatever it looks like.
enum SecretForms {
  static func edits(in bytes: [UInt8]) -> SecretEdits {
    var edits = SecretEdits()
    var index = 0
    while index < bytes.count {
      if firsts[Int(bytes[index])], isStart(bytes, index), let range = secret(bytes, index),
        SecretScan.isSecret(bytes[range]), !continuesList(bytes, index)
      {
        edits.insert(range, SecretScan.replacement)
        index = range.upperBound
      } else {
        index += 1
      }
    }
    return edits
  }

  private static func secret(_ bytes: [UInt8], _ index: Int) -> Range<Int>? {
    let rest = bytes[index...]
    if rest.starts(with: "eyJ".utf8) { return jwt(bytes, index) }
    if rest.starts(with: "-----BEGIN ".utf8) { return privateKey(bytes, index) }
    if let scheme = schemes.first(where: { rest.starts(with: $0) }) {
      return credentials(bytes, index + scheme.count, isPair: scheme[1] == UInt8(ascii: "a") || scheme[1] == 0x41)
    }
    guard let form = keys.first(where: { rest.starts(with: $0.prefix.utf8) }) else { return nil }
    let end = end(bytes, index + form.prefix.utf8.count, isOfKey)
    return end - index >= form.length ? index..<end : nil
  }

  /// A JSON Web Token (RFC 7519 §3, RFC 7516 §3.1): parts in Base64, of which the first is an object.
  private static func jwt(_ bytes: [UInt8], _ start: Int) -> Range<Int>? {
    var parts = 0
    var position = start
    while true {
      position = end(bytes, position) { isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
      parts += 1
      guard position < bytes.count, bytes[position] == UInt8(ascii: "."), parts < 5 else { break }
      position += 1
    }
    return parts >= 3 && position - start >= 20 ? start..<position : nil
  }

  /// A private key in PEM, to its end, or to the end of its string if its own is missing.
  private static func privateKey(_ bytes: [UInt8], _ start: Int) -> Range<Int>? {
    let head = bytes[start...].prefix(64)
    guard let mark = head.firstRange(of: Array("PRIVATE KEY".utf8)) else { return nil }
    var position = mark.upperBound
    while position < bytes.count, bytes[position] != UInt8(ascii: "\""), bytes[position] != UInt8(ascii: "<") {
      if bytes[position] == UInt8(ascii: "-"), bytes[position...].starts(with: "-----END ".utf8) {
        let line = end(bytes, position + 9) { isAlphanumeric($0) || $0 == 0x20 }
        return start..<end(bytes, line) { $0 == UInt8(ascii: "-") }
      }
      position += 1
    }
    return start..<position
  }

  /// The credentials after a scheme (RFC 9110 §11.4), which a word of a sentence is not.
  private static func credentials(_ bytes: [UInt8], _ start: Int, isPair: Bool) -> Range<Int>? {
    let end = end(bytes, start) { isAlphanumeric($0) || "-._~+/=".utf8.contains($0) }
    let token = bytes[start..<end]
    // The parameter of a challenge, such as `realm="x"`.
    guard token.count >= SentSecrets.lengthLimit,
      end == bytes.count || token.last != UInt8(ascii: "=")
        || bytes[end] != UInt8(ascii: "\"") && bytes[end] != UInt8(ascii: "\\") || isPair
    else { return nil }
    if isPair {
      guard Base64.decode(String(decoding: token, as: UTF8.self))?.contains(UInt8(ascii: ":")) ?? false else {
        return nil
      }
      return start..<end
    }
    let hasDigit = token.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let hasCapital = token.dropFirst().contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    return hasDigit || hasCapital || token.count >= 24 ? start..<end : nil
  }

  private static let schemes = ["Bearer ", "bearer ", "BEARER ", "Basic ", "basic ", "BASIC ", "DPoP ", "Token "].map {
    Array($0.utf8)
  }

  /// Keys and tokens of services, with the least length of each.
  private static let keys: [(prefix: String, length: Int)] = [
    ("AKIA", 20), ("ASIA", 20), ("ghp_", 20), ("gho_", 20), ("ghu_", 20), ("ghs_", 20), ("ghr_", 20),
    ("github_pat_", 24), ("glpat-", 20), ("xoxb-", 16), ("xoxp-", 16), ("xoxa-", 16), ("xoxr-", 16), ("xoxs-", 16),
    ("xapp-", 16), ("sk_live_", 16), ("sk_test_", 16), ("rk_live_", 16), ("rk_test_", 16), ("whsec_", 16),
    ("AIza", 35), ("ya29.", 20), ("GOCSPX-", 20), ("sk-", 24), ("SG.", 24), ("npm_", 24), ("hvs.", 20), ("hvb.", 20),
    ("dop_v1_", 24), ("shpat_", 20), ("shpss_", 20), ("pypi-", 24), ("EAAC", 40), ("AGE-SECRET-KEY-", 40),
  ]

  /// Whether a byte begins one of the forms.
  private static let firsts: [Bool] = {
    var firsts = Array(repeating: false, count: 256)
    for byte in "e-".utf8 { firsts[Int(byte)] = true }
    for scheme in schemes { firsts[Int(scheme[0])] = true }
    for key in keys { firsts[Int(key.prefix.utf8.first ?? 0)] = true }
    return firsts
  }()

  /// Whether a word can begin at a position: after an escape of JSON or of a URL too.
  private static func isStart(_ bytes: [UInt8], _ index: Int) -> Bool {
    guard index > 0 else { return true }
    let former = bytes[index - 1]
    guard isAlphanumeric(former) || former == UInt8(ascii: "_") || former == UInt8(ascii: "-") else { return true }
    if index > 1, bytes[index - 2] == UInt8(ascii: "\\") { return "nrt".utf8.contains(former) }
    return index > 2 && bytes[index - 3] == UInt8(ascii: "%")
  }

  /// Whether the value is that of an option, member or link that continues a list, such as `$skiptoken`.
  private static func continuesList(_ bytes: [UInt8], _ index: Int) -> Bool {
    var end = index
    func skip(_ text: StaticString) -> Bool {
      let characters = text.withUTF8Buffer { Array($0) }
      guard end >= characters.count, bytes[(end - characters.count)..<end].elementsEqual(characters) else {
        return false
      }
      end -= characters.count
      return true
    }
    _ = skip("'") || skip("%27") || skip("\"")
    while end > 0, bytes[end - 1] == 0x20 { end -= 1 }
    guard skip("=") || skip("%3D") || skip("%3d") || skip(":") else { return false }
    _ = skip("\"")
    var start = end
    while start > 0, end - start < SecretScan.nameLimit, SecretScan.isOfName(bytes[start - 1]) { start -= 1 }
    let name = String(decoding: bytes[start..<end], as: UTF8.self)
    return SecretNames.kind(ofField: HTTPFieldName(name)) == .listToken
  }

  private static func end(_ bytes: [UInt8], _ start: Int, _ isPart: (UInt8) -> Bool) -> Int {
    var end = min(start, bytes.count)
    while end < bytes.count, isPart(bytes[end]) { end += 1 }
    return end
  }

  private static func isOfKey(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }
}
