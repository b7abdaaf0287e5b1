/// Swift source with comments and the content of string literals blanked: braces and names that remain are code.
///
/// It knows line and (nested) block comments, strings, multi-line strings and raw strings; of an interpolation it blanks
/// the content too. That is enough to count braces and to look for words.
struct SwiftText {
  /// As long as the source, line by line.
  let code: String

  init(_ source: String) {
    var scanner = Scanner(source: Array(source.utf8))
    code = String(decoding: scanner.blanked(), as: UTF8.self)
  }

  /// The blanked lines.
  var lines: [Substring] { code.split(separator: "\n", omittingEmptySubsequences: false) }
}

private struct Scanner {
  let source: [UInt8]
  var output: [UInt8] = []
  var place = 0

  init(source: [UInt8]) { self.source = source }

  private func starts(_ text: String) -> Bool { source[place...].starts(with: text.utf8) }

  private mutating func blank(_ count: Int = 1) {
    for byte in source[place..<min(place + count, source.count)] { output.append(byte == 0x0a ? 0x0a : 0x20) }
    place = min(place + count, source.count)
  }

  mutating func blanked() -> [UInt8] {
    while place < source.count {
      if starts("//") {
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
    let fence = String(repeating: "#", count: hashes)
    blank(hashes)
    let quotes = starts("\"\"\"") ? "\"\"\"" : "\""
    blank(quotes.count)
    while place < source.count {
      if starts(quotes + fence) {
        blank(quotes.count + hashes)
        return
      }
      if starts("\\" + fence + "(") {
        blank(2 + hashes)
        interpolation()
      } else if starts("\\" + fence) {
        blank(2 + hashes)
      } else if quotes == "\"", source[place] == 0x0a {
        return  // not a string after all
      } else {
        blank()
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
      blank()
    }
  }
}
