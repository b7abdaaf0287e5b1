import LarderStorage

extension ReplicaSQL {
  /// Functions of strings. Characters are Unicode scalars.
  static let strings: [SQLFunction] = [
    SQLFunction("larder_length", argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
      guard !arguments.isNull(0) else { return }
      result.integer(Int64(CharacterText(unsafe TextBytes(arguments.utf8(0))).count))
    },
    SQLFunction("larder_substring", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard !arguments.isNull(0), !arguments.isNull(1) else { return }
      substring(arguments, count: nil, result)
    },
    SQLFunction("larder_substring", argumentCount: 3) { (arguments, result) throws(SQLFunctionError) in
      guard !arguments.isNull(0), !arguments.isNull(1), !arguments.isNull(2) else { return }
      let count = arguments.int64(2)
      guard count >= 0 else { throw SQLFunctionError("substring: the length is negative") }
      substring(arguments, count: count, result)
    },
    SQLFunction("larder_startswith", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard !arguments.isNull(0), !arguments.isNull(1) else { return }
      let (text, start) = unsafe (TextBytes(arguments.utf8(0)), TextBytes(arguments.utf8(1)))
      result.boolean(text.count >= start.count && TextBytes.order(text.part(0..<start.count), start) == 0)
    },
    SQLFunction("larder_endswith", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard !arguments.isNull(0), !arguments.isNull(1) else { return }
      let (text, end) = unsafe (TextBytes(arguments.utf8(0)), TextBytes(arguments.utf8(1)))
      let rest = text.count - end.count
      result.boolean(rest >= 0 && TextBytes.order(text.part(rest..<text.count), end) == 0)
    },
    cased("larder_tolower", 0x41...0x5A) { $0.lowercased() },
    cased("larder_toupper", 0x61...0x7A) { $0.uppercased() },
    SQLFunction("larder_trim", argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
      guard !arguments.isNull(0) else { return }
      unsafe result.text(trim(TextBytes(arguments.utf8(0))).bytes)
    },
    SQLFunction("larder_matches", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard !arguments.isNull(0), !arguments.isNull(1) else { return }
      let pattern = try arguments.cached(1) { () throws(SQLFunctionError) in try Pattern(arguments.text(1)) }
      result.boolean(pattern.matches(unsafe TextBytes(arguments.utf8(0))))
    },
  ]

  private static func substring(_ arguments: borrowing SQLArguments, count: Int64?, _ result: borrowing SQLResult) {
    let text = CharacterText(unsafe TextBytes(arguments.utf8(0)))
    unsafe result.text(text.part(from: arguments.int64(1), count: count).bytes)
  }

  private static func cased(
    _ name: String, _ letters: ClosedRange<UInt8>, _ convert: @escaping @Sendable (String) -> String
  ) -> SQLFunction {
    SQLFunction(name, argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
      guard !arguments.isNull(0) else { return }
      let text = unsafe TextBytes(arguments.utf8(0))
      var bytes: [UInt8] = []
      bytes.reserveCapacity(text.count)
      for index in 0..<text.count {
        let byte = text[index]
        guard byte < 0x80 else { return result.text(convert(text.string)) }
        bytes.append(letters.contains(byte) ? byte ^ 0x20 : byte)
      }
      result.text(bytes)
    }
  }

  /// Removes characters with the property White_Space from both ends.
  static func trim(_ text: TextBytes) -> TextBytes {
    var (start, end) = (0, text.count)
    while start < end, let (scalar, length) = text.scalar(start), scalar.properties.isWhitespace { start += length }
    while end > start {
      var place = end - 1
      while place > start, text[place] & 0xC0 == 0x80 { place -= 1 }
      guard let (scalar, length) = text.scalar(place), place + length == end, scalar.properties.isWhitespace else {
        break
      }
      end = place
    }
    return text.part(start..<end)
  }
}

/// A text whose characters are Unicode scalars.
struct CharacterText {
  private let text: TextBytes

  init(_ text: TextBytes) { self.text = text }

  /// The number of characters: bytes that continue a character are not counted.
  var count: Int {
    var continuing = 0
    var index = 0
    while let word = text.word(index) {
      continuing += (word & ~(word << 1) & 0x8080_8080_8080_8080).nonzeroBitCount
      index += 8
    }
    while index < text.count {
      if text[index] & 0xC0 == 0x80 { continuing += 1 }
      index += 1
    }
    return text.count - continuing
  }

  /// The part from a character on. A negative `start` counts from the end; if that is too far, the part starts at the
  /// beginning.
  func part(from start: Int64, count: Int64?) -> TextBytes {
    var start = start
    if start < 0 {
      // The sum of a length and a negative number cannot overflow.
      start = max(0, Int64(self.count) + start)
    }
    let first = place(start, from: 0)
    guard let count else { return text.part(first..<text.count) }
    return text.part(first..<place(count, from: first))
  }

  /// The index of the byte at which a character begins, a number of characters after another one.
  private func place(_ characters: Int64, from start: Int) -> Int {
    var index = start
    var rest = characters
    while index < text.count, rest > 0 {
      index += 1
      while index < text.count, text[index] & 0xC0 == 0x80 { index += 1 }
      rest -= 1
    }
    return index
  }
}

extension TextBytes {
  /// The character at an index, and its number of bytes; nil at the end. Each byte that is not UTF-8 becomes U+FFFD.
  func scalar(_ index: Int) -> (Unicode.Scalar, Int)? {
    guard index < count else { return nil }
    let first = self[index]
    if first < 0x80 { return (Unicode.Scalar(first), 1) }
    let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    guard first >= 0xC2, index + length <= count else { return ("\u{FFFD}", 1) }
    var code = UInt32(first) & (0xFF >> UInt32(length + 1))
    for offset in 1..<length {
      let byte = self[index + offset]
      guard byte & 0xC0 == 0x80 else { return ("\u{FFFD}", 1) }
      code = code << 6 | UInt32(byte & 0x3F)
    }
    guard let scalar = Unicode.Scalar(code) else { return ("\u{FFFD}", 1) }
    return (scalar, length)
  }
}
