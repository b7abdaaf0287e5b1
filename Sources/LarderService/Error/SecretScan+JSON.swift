import LarderHTTP

extension SecretScan {
  /// The string of the JSON member whose name begins at a position, if the name is secret.
  ///
  /// - Parameter opening: the quotation mark before the name; JSON inside JSON has others than JSON.
  func secretString(at start: Int, opening: QuotationMark) -> Range<Int>? {
    var position = start
    while position < bytes.count, position - start < SecretScan.nameLimit, SecretScan.isOfName(bytes[position]) {
      position += 1
    }
    let name = start..<position
    func skipSpaces() {
      while position < bytes.count {
        let unit = unit(at: position)
        guard unit.byte <= 0x20, !unit.isPercent else { return }
        position += unit.length
      }
    }
    func skip(_ byte: UInt8) -> Bool {
      guard position < bytes.count else { return false }
      let unit = unit(at: position)
      let end = position + unit.length
      guard unit.byte == byte, byte != UInt8(ascii: "\"") || QuotationMark(bytes[position..<end]) == opening else {
        return false
      }
      position = end
      return true
    }
    guard !name.isEmpty, skip(UInt8(ascii: "\"")) else { return nil }
    skipSpaces()
    guard skip(UInt8(ascii: ":")) else { return nil }
    skipSpaces()
    guard skip(UInt8(ascii: "\"")), SecretNames.isSecretMember(bytes[name]) else { return nil }
    let begin = position
    while position < bytes.count {
      let unit = unit(at: position)
      let end = position + unit.length
      if unit.byte == UInt8(ascii: "\""), !unit.isPercent {
        let mark = QuotationMark(bytes[position..<end])
        // Without a backslash, it ends the outermost JSON.
        if mark.isPlain { return begin..<position }
        if let more = mark.backslashesOfString(opening) { return begin..<position + more }
      }
      position = end
    }
    return begin..<position
  }
}

/// A quotation mark of JSON, or of JSON inside JSON: `"`, `\"`, `\\\"`, `\u0022`, `\\u0022`.
struct QuotationMark: Equatable {
  private let backslashes: Int
  private let isCode: Bool

  init(_ bytes: ArraySlice<UInt8>) {
    isCode = bytes.last != UInt8(ascii: "\"")
    backslashes = bytes.count - (isCode ? "u0022".count : 1)
  }

  var isPlain: Bool { !isCode && backslashes == 0 }

  /// The backslashes at the end of a string, if this mark ends the string that another has begun.
  ///
  /// A mark of the string itself is escaped once more. Backslashes of the string are pairs, and each one is as many as
  /// the JSON around it makes of it.
  func backslashesOfString(_ opening: QuotationMark) -> Int? {
    let more = backslashes - opening.backslashes
    let width = opening.isCode ? 2 * opening.backslashes : opening.backslashes + 1
    return isCode == opening.isCode && more >= 0 && more.isMultiple(of: 2 * width) ? more : nil
  }
}
