@_spi(Stores) import LarderCore

// Numbers, timestamps and GUIDs, which are written without quotes (ABNF `primitiveLiteral`).
extension SyntaxReader {
  /// Converts a part of the text to a value, as a literal of a type.
  mutating func value(
    _ range: Range<Int>, _ type: EdmPrimitiveType?, _ dialect: ODataDialect = .v4
  ) throws(ODataSyntaxError) -> ODataValue {
    let value: ODataValue
    do {
      if let type {
        value = try ODataValue(literal: string(range), type: type, dialect: dialect)
      } else {
        value = try ODataValue(literal: string(range), dialect: dialect)
      }
    } catch {
      let last = endOfForm(of: type, from: range.lowerBound)
      if last > range.lowerBound { notePossibleTimestamp(from: range.lowerBound) }
      throw self.error(.invalidLiteral("\(error)"), at: last)
    }
    index = range.upperBound
    return value
  }

  /// Returns where a date or time stops matching its form; its start if the form is right.
  private func endOfForm(of type: EdmPrimitiveType?, from start: Int) -> Int {
    switch type {
    case .date: reach(from: start) { (reader) throws(ODataSyntaxError) in try reader.scanDate() }
    case .timeOfDay: reach(from: start) { (reader) throws(ODataSyntaxError) in try reader.scanTimeOfDay() }
    case .dateTimeOffset: reach(from: start) { (reader) throws(ODataSyntaxError) in try reader.scanDateTimeOffset() }
    default: start
    }
  }

  /// Returns how far a timestamp or GUID extends that begins with digits like a number, continues past them, and does
  /// not reach its own end.
  func endOfPartialTimestamp(from start: Int) -> Int {
    let timestamp = reach(from: start) { (reader) throws(ODataSyntaxError) in try reader.scanDateTimeOffset() }
    let time = reach(from: start) { (reader) throws(ODataSyntaxError) in try reader.scanTimeOfDay() }
    let guid = reach(from: start) { (reader) throws(ODataSyntaxError) in try reader.scanGuid() }
    return max(timestamp, time, guid)
  }

  /// Returns where a scan that begins at a position fails; the position itself if it does not fail.
  func reach(
    from start: Int, _ scan: (inout SyntaxReader) throws(ODataSyntaxError) -> Void
  ) -> Int {
    var lookahead = self
    lookahead.forgetFailedLookahead()
    lookahead.index = start
    do throws(ODataSyntaxError) { try scan(&lookahead) } catch { return lookahead.index }
    return start
  }

  private func isDigit(_ place: Int) -> Bool { place < end && bytes[place] &- 0x30 < 10 }

  /// Whether a number, with its sign, begins here.
  func isNumber(at place: Int) -> Bool {
    if isDigit(place + 1) { return true }
    guard dialect == .v4, hasWord("-INF", at: place, anyCase: false), endOfIdentifier(at: place + 1) == place + 4 else {
      return false
    }
    // If the name continues, it is that of a path or a function.
    switch place + 4 < end ? bytes[place + 4] : 0 {
    case UInt8(ascii: "/"), UInt8(ascii: "("), UInt8(ascii: "."): return false
    default: return true
    }
  }

  /// Whether a time of day or a GUID, which have no sign, begins here.
  func isTimeOrGuid(at place: Int) -> Bool {
    dialect == .v4 && (endOfTime(at: place) != nil || endOfGuid(at: place) != nil)
  }

  /// Returns the end of a GUID: 8-4-4-4-12 hexadecimal digits.
  func endOfGuid(at start: Int) -> Int? {
    guard start + 36 <= end, start + 8 < end, bytes[start + 8] == UInt8(ascii: "-") else { return nil }
    for step in 0..<36 {
      let byte = bytes[start + step]
      switch step {
      case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return nil }
      default: guard Hexadecimal.value(byte) != nil else { return nil }
      }
    }
    return start + 36
  }

  /// A GUID, date, timestamp or time of day; nil if the text has a number instead. V2 has none of these without quotes.
  mutating func guidOrTimestamp() throws(ODataSyntaxError) -> ODataValue? {
    guard dialect == .v4 else { return nil }
    if let last = endOfGuid(at: index) { return try value(index..<last, .guid) }
    if let last = endOfTime(at: index) {
      conditionTimes?.last = index
      return try value(index..<last, .timeOfDay)
    }
    guard let dateEnd = endOfDate(at: index) else { return nil }
    guard dateEnd < end, bytes[dateEnd] | 0x20 == UInt8(ascii: "t"), let timeEnd = endOfTime(at: dateEnd + 1) else {
      return try value(index..<dateEnd, .date)
    }
    guard let last = endOfOffset(at: timeEnd) else {
      // A timestamp without an offset is not V4, but clients send it. It is bound as UTC.
      return try value(index..<timeEnd, .dateTime)
    }
    return try value(index..<last, .dateTimeOffset)
  }

  /// Returns the end of a date: a year of four digits or more, a month and a day.
  private func endOfDate(at start: Int) -> Int? {
    var place = start
    if place < end, bytes[place] == UInt8(ascii: "-") { place += 1 }
    let first = place
    while isDigit(place) { place += 1 }
    guard place - first >= 4, place + 5 < end || place + 5 == end - 1 || place + 6 <= end else { return nil }
    for step in 0..<2 {
      let dash = place + step * 3
      guard dash < end, bytes[dash] == UInt8(ascii: "-"), isDigit(dash + 1), isDigit(dash + 2) else { return nil }
    }
    return place + 6
  }

  private func endOfTime(at start: Int) -> Int? {
    guard isDigit(start), isDigit(start + 1), start + 2 < end, bytes[start + 2] == UInt8(ascii: ":"),
      isDigit(start + 3), isDigit(start + 4), !(conditionTimes?.numbers.contains(start) ?? false)
    else { return nil }
    var place = start + 5
    guard place < end, bytes[place] == UInt8(ascii: ":"), isDigit(place + 1), isDigit(place + 2) else { return place }
    place += 3
    guard place < end, bytes[place] == UInt8(ascii: "."), isDigit(place + 1) else { return place }
    place += 1
    while isDigit(place) { place += 1 }
    return place
  }

  private func endOfOffset(at start: Int) -> Int? {
    guard start < end else { return nil }
    switch bytes[start] {
    case UInt8(ascii: "Z"), UInt8(ascii: "z"): return start + 1
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      guard isDigit(start + 1), isDigit(start + 2), start + 3 < end, bytes[start + 3] == UInt8(ascii: ":"),
        isDigit(start + 4), isDigit(start + 5)
      else { return nil }
      return start + 6
    default: return nil
    }
  }

  /// Whether the byte after digits can occur there only in a timestamp or GUID.
  func continuesTimestamp(_ place: Int) -> Bool {
    guard place < end, dialect == .v4 else { return false }
    switch bytes[place] {
    case UInt8(ascii: "-"), UInt8(ascii: ":"): return true
    // Not an exponent, and not a suffix of V2.
    case 0x41...0x46, 0x61...0x66: return endOfIdentifier(at: place) > place + 1 && !isDigit(place + 1)
    default: return false
    }
  }

  /// Reads a number, also with V2's suffix, because clients send it to services of V4 too.
  mutating func number() throws(ODataSyntaxError) -> ODataValue {
    let start = index
    var place = start
    if bytes[place] == UInt8(ascii: "-") || bytes[place] == UInt8(ascii: "+") { place += 1 }
    if bytes[start] == UInt8(ascii: "-"), hasWord("INF", at: place, anyCase: false),
      endOfIdentifier(at: place) == place + 3
    {
      return try value(start..<place + 3, nil)
    }
    let digits = place
    while isDigit(place) { place += 1 }
    guard place > digits else { throw error(.unexpected(expected: ["a digit"]), at: place) }
    if continuesTimestamp(place) { notePossibleTimestamp(from: start) }
    if place < end, bytes[place] == UInt8(ascii: ".") {
      guard isDigit(place + 1) else { throw error(.unexpected(expected: ["a digit"]), at: place + 1) }
      place += 1
      while isDigit(place) { place += 1 }
    }
    if place < end, bytes[place] | 0x20 == UInt8(ascii: "e") {
      var exponent = place + 1
      if exponent < end, bytes[exponent] == UInt8(ascii: "+") || bytes[exponent] == UInt8(ascii: "-") { exponent += 1 }
      guard isDigit(exponent) else { throw error(.unexpected(expected: ["a digit"]), at: exponent) }
      place = exponent
      while isDigit(place) { place += 1 }
    }
    let letter = place < end ? bytes[place] | 0x20 : 0
    if letter == UInt8(ascii: "l") || letter == UInt8(ascii: "m") || letter == UInt8(ascii: "d")
      || letter == UInt8(ascii: "f"),
      endOfIdentifier(at: place) == place + 1
    {
      return try value(start..<place + 1, nil, .v2)
    }
    return try value(start..<place, nil, dialect)
  }
}
