import LarderHTTP
import LarderOData

/// The text of an answer that is no success and no error of OData: a server's plain words, a gateway's page.
enum ErrorText {
  /// More bytes are not looked at.
  private static let maximumBytes = 64 << 10
  /// More characters are cut off.
  private static let maximumLength = 300

  /// The text of an answer, without markup, on one line and not at length; nil for what is no text.
  static func text(_ response: ODataSingleResponse) -> String? {
    let type = response.fields[.contentType]?.prefix { $0 != ";" }.lowercased()
    let isText = type.map { $0.hasPrefix("text/") || $0.hasSuffix("xml") || $0.hasSuffix("json") }
    guard isText ?? (String(validating: response.payloadBytes, as: UTF8.self) != nil) else { return nil }
    let text = String(decoding: response.payloadBytes.prefix(maximumBytes), as: UTF8.self)
    let isMarkup = text.first { !$0.isWhitespace } == "<"
    return line(isMarkup ? withoutMarkup(text) : text)
  }

  /// A text on one line, without control characters, and not at length; nil where nothing is left.
  static func line(_ text: String) -> String? {
    let shown = String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    let words = shown.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    guard !words.isEmpty else { return nil }
    return words.count > maximumLength ? words.prefix(maximumLength) + "…" : words
  }

  /// Control characters, and those that turn the direction of writing (Unicode UAX #9).
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Elements whose content nobody is meant to read.
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

  /// What begins with the end tag of an element.
  private static func fromEnd(of name: String, in markup: Substring) -> Substring {
    var rest = markup.dropFirst()
    while let tag = rest.firstRange(of: "</") {
      rest = rest[tag.upperBound...]
      if rest.prefix(name.count).lowercased() == name { return rest }
    }
    return ""
  }
}
