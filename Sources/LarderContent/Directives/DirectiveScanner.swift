@_spi(Stores) import LarderHTTP

/// Splits a list of directives, `name`, `name=token` or `name="quoted"`, in one pass over its bytes (RFC 9111 §5.2).
///
/// Some servers separate directives by semicolons: outside quotes `;` separates as `,` does. An invalid directive (white
/// space around `=`, a stray quote) is skipped up to the next separator.
@safe struct DirectiveScanner {
  /// One directive, as ranges of the bytes.
  struct Directive {
    /// The name, in any case.
    var name: Range<Int>
    /// The argument without its quotes; nil if there is none.
    var argument: Range<Int>?
  }

  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0
  /// True if an element was not exactly `name`, `name=token` or `name="quoted"`.
  private(set) var hasInvalidElement = false

  init(_ bytes: UnsafeBufferPointer<UInt8>) { unsafe self.bytes = unsafe bytes }

  private func byte(_ index: Int) -> UInt8 {
    // Each caller has compared the index with the count.
    unsafe bytes[index]
  }

  private var count: Int { unsafe bytes.count }

  /// The next valid directive; nil at the end.
  mutating func next() -> Directive? {
    while position < count {
      if let directive = element() { return directive }
    }
    return nil
  }

  private func isSeparator(_ index: Int) -> Bool { byte(index) == 0x2C || byte(index) == 0x3B }

  /// Reads one element of the list and moves past its separator. Nil if it is not a valid directive.
  private mutating func element() -> Directive? {
    while position < count, byte(position) == 0x20 || byte(position) == 0x09 { position += 1 }
    let start = position
    while position < count, HTTPFieldName.isTokenByte(byte(position)) { position += 1 }
    let name = start..<position
    var argument: Range<Int>?
    var isSound = !name.isEmpty
    if position < count, byte(position) == 0x3D {
      position += 1
      argument = value()
      if name.isEmpty { hasInvalidElement = true }
    }
    // Only white space may follow the directive before the separator.
    while position < count, !isSeparator(position) {
      if byte(position) == 0x22 {
        skipQuoted()
        hasInvalidElement = true
      } else {
        if byte(position) != 0x20, byte(position) != 0x09 {
          hasInvalidElement = true
          if argument == nil { isSound = false }
        }
        position += 1
      }
    }
    position += 1
    return isSound ? Directive(name: name, argument: argument) : nil
  }

  /// The argument after `=`: inside the quotes, or up to the separator or white space.
  private mutating func value() -> Range<Int> {
    let start = position
    if position < count, byte(position) == 0x22 {
      skipQuoted()
      let isClosed = position - start >= 2 && byte(position - 1) == 0x22
      if !isClosed { hasInvalidElement = true }
      return (start + 1)..<(isClosed ? position - 1 : position)
    }
    while position < count, !isSeparator(position), byte(position) != 0x20, byte(position) != 0x09 {
      if !HTTPFieldName.isTokenByte(byte(position)) { hasInvalidElement = true }
      position += 1
    }
    if position == start { hasInvalidElement = true }
    return start..<position
  }

  /// Skips a quoted string and its closing quote, or skips to the end (RFC 9110 §5.6.4).
  private mutating func skipQuoted() {
    position += 1
    while position < count {
      let here = byte(position)
      position += here == 0x5C ? 2 : 1
      if here == 0x22 { break }
    }
    position = min(position, count)
  }

  /// True if a name is `expected`, in any case; `expected` must be in lower case.
  func isName(_ name: Range<Int>, _ expected: StaticString) -> Bool {
    guard name.count == expected.utf8CodeUnitCount else { return false }
    return expected.withUTF8Buffer { expected in
      var index = 0
      while index < name.count {
        var here = byte(name.lowerBound + index)
        if here >= 0x41, here <= 0x5A { here |= 0x20 }
        // The counts are equal.
        if unsafe here != expected[index] { return false }
        index += 1
      }
      return true
    }
  }

  /// A number of seconds: the digits at the beginning of the argument, with saturation. Nil if it does not begin with a
  /// digit.
  ///
  /// Servers send fractions and units after the digits; only whole seconds count (RFC 9111 §1.2.2).
  func seconds(_ directive: Directive) -> Int64? {
    guard let argument = directive.argument else { return nil }
    var value: Int64?
    for index in argument {
      let digit = byte(index) &- 0x30
      if digit > 9 { break }
      value = min((value ?? 0) * 10 + Int64(digit), DeltaSeconds.maximum)
    }
    return value
  }

  /// The field names in an argument, such as `"Set-Cookie, Age"`; empty if one of them is not a field name.
  func fieldNames(_ directive: Directive) -> [HTTPFieldName] {
    guard let argument = directive.argument else { return [] }
    var names: [HTTPFieldName] = []
    var start = argument.lowerBound
    while start < argument.upperBound {
      var end = start
      while end < argument.upperBound, byte(end) != 0x2C { end += 1 }
      var first = start
      var last = end
      while first < last, byte(first) == 0x20 || byte(first) == 0x09 { first += 1 }
      while last > first, byte(last - 1) == 0x20 || byte(last - 1) == 0x09 { last -= 1 }
      if first < last {
        let name = unsafe HTTPFieldName(String(decoding: bytes[first..<last], as: UTF8.self))
        guard name.isValid else { return [] }
        names.append(name)
      }
      start = end + 1
    }
    return names
  }
}
