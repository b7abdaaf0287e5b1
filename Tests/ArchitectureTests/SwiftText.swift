/// Swift source with comments and the content of string literals blanked: braces and names that remain are code.
///
/// It knows line and (nested) block comments, strings, multi-line strings and raw strings; of an interpolation it blanks
/// the content too. That is enough to count braces and to look for words.
struct SwiftText {
  /// As long as the source, line by line.
  let code: String

  /// - Parameters:
  ///   - keepsStrings: whether only comments are blanked.
  ///   - keepsInterpolations: whether the code in interpolations is kept.
  init(_ source: String, keepsStrings: Bool = false, keepsInterpolations: Bool = false) {
    var scanner = Scanner(
      source: Array(source.utf8), keepsStrings: keepsStrings, keepsInterpolations: keepsInterpolations)
    code = String(decoding: scanner.blanked(), as: UTF8.self)
  }
}

private struct Scanner {
  let source: [UInt8]
  let keepsStrings: Bool
  let keepsInterpolations: Bool
  var output: [UInt8] = []
  var place = 0

  init(source: [UInt8], keepsStrings: Bool, keepsInterpolations: Bool) {
    (self.source, self.keepsStrings, self.keepsInterpolations) = (source, keepsStrings, keepsInterpolations)
  }

  private func starts(_ text: StaticString) -> Bool { starts(Array(text.description.utf8)) }

  private func starts(_ bytes: [UInt8]) -> Bool {
    guard place + bytes.count <= source.count, source[place] == bytes[0] else { return false }
    for offset in bytes.indices where source[place + offset] != bytes[offset] { return false }
    return true
  }

  private mutating func blank(_ count: Int = 1) {
    for byte in source[place..<min(place + count, source.count)] { output.append(byte == 0x0a ? 0x0a : 0x20) }
    place = min(place + count, source.count)
  }

  /// Blanks a part of a string.
  private mutating func blankString(_ count: Int = 1) {
    guard keepsStrings else { return blank(count) }
    let end = min(place + count, source.count)
    output += source[place..<end]
    place = end
  }

  mutating func blanked() -> [UInt8] {
    output.reserveCapacity(source.count)
    while place < source.count {
      let byte = source[place]
      if byte != UInt8(ascii: "/") && byte != UInt8(ascii: "#") && byte != UInt8(ascii: "\"") {
        output.append(byte)
        place += 1
      } else if starts("//") {
        while place < source.count, source[place] != 0x0a { blank() }
      } else if starts("/*") {
        blockComment()
      } else if let hashes = stringStart() {
        string(hashes: hashes)
      } else {
        output.append(source[place])
        place += 1
      }
    }
    return output
  }

  private mutating func blockComment() {
    var depth = 0
    repeat {
      if starts("/*") {
        depth += 1
        blank(2)
      } else if starts("*/") {
        depth -= 1
        blank(2)
      } else {
        blank()
      }
    } while depth > 0 && place < source.count
  }

  /// The number of `#` before a quotation mark here; `nil` where no string starts.
  private func stringStart() -> Int? {
    var end = place
    while end < source.count, source[end] == UInt8(ascii: "#") { end += 1 }
    return end < source.count && source[end] == UInt8(ascii: "\"") ? end - place : nil
  }

  private mutating func string(hashes: Int) {
    let fence = [UInt8](repeating: UInt8(ascii: "#"), count: hashes)
    blankString(hashes)
    let quotes = [UInt8](repeating: UInt8(ascii: "\""), count: starts("\"\"\"") ? 3 : 1)
    let end = quotes + fence
    let escape = [UInt8(ascii: "\\")] + fence
    let interpolated = escape + [UInt8(ascii: "(")]
    blankString(quotes.count)
    while place < source.count {
      if starts(end) {
        blankString(end.count)
        return
      }
      if starts(interpolated) {
        blankString(2 + hashes)
        interpolation()
      } else if starts(escape) {
        blankString(2 + hashes)
      } else if quotes.count == 1, source[place] == 0x0a {
        return  // not a string after all
      } else {
        blankString()
      }
    }
  }

  /// The rest of `\( … )`, strings in it included.
  private mutating func interpolation() {
    var depth = 1
    while depth > 0 && place < source.count {
      if let hashes = stringStart() {
        string(hashes: hashes)
        continue
      }
      if source[place] == UInt8(ascii: "(") { depth += 1 }
      if source[place] == UInt8(ascii: ")") { depth -= 1 }
      if keepsInterpolations {
        output.append(source[place])
        place += 1
      } else {
        blankString()
      }
    }
  }
}
