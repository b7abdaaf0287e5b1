@_spi(Stores) import LarderCore

/// Converts any text into a file name.
package enum FileName {
  /// A file name for a text. Two different texts never give names that differ only in letter case or Unicode
  /// normalization, which many file systems consider equal.
  ///
  /// Short texts of lower-case letters, digits, `-`, `_` and single dots are used as they are. All others are converted
  /// to such a text, followed by a digest.
  package static func distinct(_ text: String) -> String {
    var name = ""
    for byte in text.utf8.prefix(64) {
      switch byte {
      case 0x30...0x39, 0x61...0x7A, 0x2D, 0x5F: name.unicodeScalars.append(UnicodeScalar(byte))
      case 0x2E where !name.isEmpty && name.utf8.last != 0x2E: name.unicodeScalars.append(UnicodeScalar(byte))
      case 0x41...0x5A: name.unicodeScalars.append(UnicodeScalar(byte + 0x20))
      default: name += "_"
      }
    }
    // Swift compares characters with normalization, so the bytes are compared.
    if !name.isEmpty, name.utf8.elementsEqual(text.utf8), !name.hasSuffix(".") { return name }
    return name + "-" + Hexadecimal.text(Digest.sha256(Array(text.utf8)).prefix(8))
  }
}
