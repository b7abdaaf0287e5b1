@_spi(Stores) import LarderCore
@_spi(Stores) package import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The credentials that a client has sent, which services repeat in the strangest places.
///
/// They are found as they are, with the escapes of JSON, XML and URLs, and in Base64 at any position of longer text.
/// Shorter ones than ``lengthLimit`` would be found in what has nothing to do with them.
package struct SentSecrets: Sendable {
  package static let lengthLimit = 8
  /// All forms of all credentials, by their first bytes.
  private var forms: [UInt16: [[UInt8]]] = [:]
  private var known: Set<[UInt8]> = []

  package init() {}

  /// Adds what a request sends: its credential fields, and secrets in its URL and in a form.
  package mutating func insert(_ request: HTTPRequest, _ credentials: CredentialFields) {
    for field in request.fields where credentials.contains(field.name) { insert(field) }
    for secret in SecretScan.scan(Array(request.url.absoluteString.utf8), isURL: true).secrets { insert(secret) }
    let type = request.fields[.contentType] ?? ""
    guard type.lowercased().hasPrefix("application/x-www-form-urlencoded"), case .bytes(let bytes) = request.body else {
      return
    }
    for secret in SecretScan.scan(bytes, isURL: false).secrets { insert(secret) }
  }

  private mutating func insert(_ field: HTTPField) {
    insert(Array(field.value.utf8)[...])
    // A scheme and its credentials, or cookies.
    for part in field.value.split(whereSeparator: { $0 == " " || $0 == ";" || $0 == "," }) {
      insert(Array(part.utf8)[...])
      if field.name == .cookie, let equals = part.firstIndex(of: "=") {
        insert(Array(part[part.index(after: equals)...].utf8)[...])
      }
      if let pair = Base64.decode(String(part)), let colon = pair.firstIndex(of: UInt8(ascii: ":")) {
        insert(pair[(colon + 1)...])
      }
    }
  }

  /// Adds a credential.
  package mutating func insert(_ secret: ArraySlice<UInt8>) {
    insertForms(Array(secret))
    // In a URL or form it has escapes.
    if secret.contains(UInt8(ascii: "%")), let text = PercentEncoding.decode(String(decoding: secret, as: UTF8.self)) {
      insertForms(Array(text.utf8))
    }
  }

  private mutating func insertForms(_ secret: [UInt8]) {
    guard secret.count >= SentSecrets.lengthLimit, known.insert(secret).inserted else { return }
    let text = String(decoding: secret, as: UTF8.self)
    let inXML = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    var all: Set<[UInt8]> = [secret, JSONSecrets.encoded(secret), Array(inXML.utf8)]
    all.insert(Array(PercentEncoding.encode(text, in: .unreserved).utf8))
    // Base64 has three forms, by the position of the first byte. The digits that other bytes share are left out.
    for offset in 0..<3 {
      for isURLSafe in [false, true] {
        let digits = Array(
          Base64.text(Array(repeating: 0, count: offset) + secret, isURLSafe: isURLSafe).utf8)
        let end = (offset + secret.count) * 8 / 6
        all.insert(Array(digits[(offset == 0 ? 0 : offset + 1)..<end]))
      }
    }
    for form in all { forms[SentSecrets.start(form, 0), default: []].append(form) }
    for key in forms.keys { forms[key]?.sort { $0.count > $1.count } }
  }

  private static func start(_ bytes: [UInt8], _ index: Int) -> UInt16 {
    UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
  }

  /// Where the credentials are in a text.
  func edits(in bytes: [UInt8]) -> SecretEdits {
    var edits = SecretEdits()
    guard !forms.isEmpty else { return edits }
    var index = 0
    while index + 1 < bytes.count {
      if let candidates = forms[SentSecrets.start(bytes, index)],
        let form = candidates.first(where: { bytes[index...].starts(with: $0) })
      {
        edits.insert(index..<index + form.count, SecretScan.replacement)
        index += form.count
      } else {
        index += 1
      }
    }
    return edits
  }
}
