import LarderHTTP
import LarderOData

/// Extracts the text from an unsuccessful response that is not an OData error: plain text from a server, or a gateway's
/// page.
enum ErrorText {
  /// The size limit: bytes behind it are ignored.
  private static let maximumBytes = 64 << 10
  /// The longest text; further characters are removed.
  private static let maximumLength = 300

  /// The text of a response without markup, on one line and shortened; nil for content that is not text.
  static func text(_ response: ODataSingleResponse) -> String? {
    let type = response.fields[.contentType]?.prefix { $0 != ";" }.lowercased()
    let isText = type.map { $0.hasPrefix("text/") || $0.hasSuffix("xml") || $0.hasSuffix("json") }
    guard isText ?? (String(validating: response.payloadBytes, as: UTF8.self) != nil) else { return nil }
    // The names of elements, which tell secrets, are still there; `line` scans again what the references stood for.
    // A secret that begins before the limit may end behind it.
    let content = SecretScan.content(Array(response.payloadBytes.prefix(2 * maximumBytes)))
    let text = String(decoding: content.prefix(maximumBytes), as: UTF8.self)
    let isMarkup = text.first { !$0.isWhitespace } == "<"
    return line(isMarkup ? withoutMarkup(text) : text)
  }

  /// A text on one line, without secrets and control characters, and shortened; nil if nothing is left.
  static func line(_ text: String) -> String? {
    let text = String(decoding: SecretScan.content(Array(text.utf8.prefix(maximumBytes))), as: UTF8.self)
    let shown = String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    let words = shown.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    guard !words.isEmpty else { return nil }
    return words.count > maximumLength ? words.prefix(maximumLength) + "…" : words
  }

  /// Control characters, and those that change the writing direction (Unicode UAX #9).
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Elements whose content is not shown to readers.
  private static let hidden: Set<String> = ["head", "script", "style"]

  private static let references = [
    ("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&"),
  ]

  /// The text between the tags of HTML or XML.
  private static func withoutMarkup(_ markup: String) -> String {
    var text = ""
    var rest = markup[...]
    while let tag = rest.firstIndex(of: "<") {
      text += rest[..<tag] + " "
      rest = rest[tag...]
      if rest.hasPrefix("<!--") {
        rest = rest.firstRange(of: "-->").map { rest[$0.upperBound...] } ?? ""
        continue
      }
      let name = rest.dropFirst().prefix(while: \.isLetter).lowercased()
      if hidden.contains(name) { rest = fromEnd(of: name, in: rest) }
      rest = rest.firstIndex(of: ">").map { rest[rest.index(after: $0)...] } ?? ""
    }
    text += rest
    return references.reduce(text) { $0.replacing($1.0, with: $1.1) }
  }

  /// The rest of the markup from the end tag of an element on.
  private static func fromEnd(of name: String, in markup: Substring) -> Substring {
    var rest = markup.dropFirst()
    while let tag = rest.firstRange(of: "</") {
      rest = rest[tag.upperBound...]
      if rest.prefix(name.count).lowercased() == name { return rest }
    }
    return ""
  }
}
