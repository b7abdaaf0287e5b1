package import LarderCore

/// Writes XML: escapes characters where needed, and rejects those that XML 1.0 does not allow.
struct XMLText {
  private(set) var bytes: [UInt8] = Array("<?xml version=\"1.0\" encoding=\"utf-8\"?>".utf8)
  private var open: [String] = []

  /// Begins an element.
  mutating func begin(_ name: String, _ attributes: KeyValuePairs<String, String?> = [:]) throws(AtomWritingError) {
    try tag(name, attributes)
    bytes.append(UInt8(ascii: ">"))
    open.append(name)
  }

  /// Ends the innermost element.
  mutating func end() {
    guard let name = open.popLast() else { return }
    bytes.append(contentsOf: "</\(name)>".utf8)
  }

  /// An element without content.
  mutating func empty(_ name: String, _ attributes: KeyValuePairs<String, String?> = [:]) throws(AtomWritingError) {
    try tag(name, attributes)
    bytes.append(contentsOf: "/>".utf8)
  }

  /// An element of text.
  mutating func element(
    _ name: String, _ text: String, _ attributes: KeyValuePairs<String, String?> = [:]
  ) throws(AtomWritingError) {
    try begin(name, attributes)
    try escape(text, inAttribute: false)
    end()
  }

  private mutating func tag(_ name: String, _ attributes: KeyValuePairs<String, String?>) throws(AtomWritingError) {
    bytes.append(UInt8(ascii: "<"))
    bytes.append(contentsOf: name.utf8)
    for (attribute, value) in attributes {
      guard let value else { continue }
      bytes.append(contentsOf: " \(attribute)=\"".utf8)
      try escape(value, inAttribute: true)
      bytes.append(UInt8(ascii: "\""))
    }
  }

  private mutating func escape(_ text: String, inAttribute: Bool) throws(AtomWritingError) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": bytes.append(contentsOf: "&amp;".utf8)
      case "<": bytes.append(contentsOf: "&lt;".utf8)
      case ">": bytes.append(contentsOf: "&gt;".utf8)
      case "\"" where inAttribute: bytes.append(contentsOf: "&quot;".utf8)
      // Readers would turn these characters into a space or a line feed.
      case "\r": bytes.append(contentsOf: "&#xD;".utf8)
      case "\n" where inAttribute: bytes.append(contentsOf: "&#xA;".utf8)
      case "\t" where inAttribute: bytes.append(contentsOf: "&#x9;".utf8)
      case "\u{0}"..."\u{8}", "\u{B}", "\u{C}", "\u{E}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}":
        throw AtomWritingError(
          reason: "XML has no character U+\(String(scalar.value, radix: 16, uppercase: true)); send JSON instead")
      default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
  }

  /// Whether a text can be the name of an element: letters, digits, `_`, `-`, `.`, not beginning with one of the
  /// latter.
  static func isName(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first.properties.isXIDStart || first == "_" else { return false }
    return name.unicodeScalars.allSatisfy { $0.properties.isXIDContinue || $0 == "-" || $0 == "." }
  }
}

/// The error of a value that cannot be written as Atom.
package struct AtomWritingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The value that cannot be written, and what to do about it.
  package let reason: String

  /// The value that cannot be written, and what to do about it.
  package var description: String { "This cannot be written as Atom: \(reason)" }
}

extension AtomWritingError: LarderError {
  /// The stable number: 1.
  package var errorIdentity: ErrorIdentity { ErrorIdentity(1, "AtomWritingError", .invalidInput) }

  /// The value that cannot be written, and what to do about it.
  package var explanation: ErrorExplanation {
    ErrorExplanation(description, cure: "Write it as JSON, or leave it out.")
  }
}
