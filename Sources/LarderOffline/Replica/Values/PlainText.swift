import LarderOData
import LarderStorage

/// Checks guids, dates, times and durations in place, in the spellings that services commonly write. True means that
/// the text is a value of the type in the form that columns store.
enum PlainText {
  /// Whether a text is a guid: 36 characters in lower case.
  static func isGuid(_ text: TextBytes) -> Bool {
    guard text.count == 36 else { return false }
    for index in 0..<36 {
      let byte = text[index]
      if index == 8 || index == 13 || index == 18 || index == 23 {
        guard byte == UInt8(ascii: "-") else { return false }
      } else {
        guard byte &- 0x30 < 10 || byte &- 0x61 < 6 else { return false }
      }
    }
    return true
  }

  /// Whether a text is a date `YYYY-MM-DD`.
  static func isDate(_ text: TextBytes) -> Bool { text.count == 10 && startsWithDate(text) }

  /// Whether a text is `YYYY-MM-DDThh:mm:ss`, with at most 12 digits of a fraction and, if required, `Z` or `±hh:mm`;
  /// without a leap second.
  static func isTimestamp(_ text: TextBytes, hasOffset: Bool) -> Bool {
    guard text.count >= 19, startsWithDate(text), text[10] == UInt8(ascii: "T"), isTime(text, from: 11) else {
      return false
    }
    var index = 19
    if text[index] == UInt8(ascii: ".") {
      let end = text.digitsEnd(index + 1)
      guard end > index + 1, end - index <= 13 else { return false }
      index = end
    }
    guard hasOffset else { return index == text.count }
    if text[index] == UInt8(ascii: "Z") { return index + 1 == text.count }
    guard text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-"), let hours = text.twoDigits(index + 1),
      text[index + 3] == UInt8(ascii: ":"), let minutes = text.twoDigits(index + 4)
    else { return false }
    return hours < 24 && minutes < 60 && index + 6 == text.count
  }

  private static func startsWithDate(_ text: TextBytes) -> Bool {
    guard text.digitsEnd(0) == 4, text[4] == UInt8(ascii: "-"), let month = text.twoDigits(5),
      text[7] == UInt8(ascii: "-"), let day = text.twoDigits(8), month >= 1, month <= 12, day >= 1
    else { return false }
    if day <= 28 { return true }
    let year = (0..<4).reduce(0) { $0 * 10 + Int(text[$1] &- 0x30) }
    return ODataDate(year: year, month: Int(month), day: Int(day)) != nil
  }

  /// Whether `hh:mm:ss` starts at an index.
  static func isTime(_ text: TextBytes, from start: Int) -> Bool {
    guard let hour = text.twoDigits(start), text[start + 2] == UInt8(ascii: ":"),
      let minute = text.twoDigits(start + 3),
      text[start + 5] == UInt8(ascii: ":"), let second = text.twoDigits(start + 6)
    else { return false }
    return hour < 24 && minute < 60 && second < 60
  }

  /// Whether a timestamp or duration has digits other than zero after the twelfth digit of its fraction.
  static func isFinerThanPicoseconds(_ text: TextBytes) -> Bool {
    guard text.count > 13, let point = (0..<text.count).first(where: { text[$0] == UInt8(ascii: ".") }) else {
      return false
    }
    let end = text.digitsEnd(point + 1)
    return end - point > 13 && (point + 13..<end).contains { text[$0] != UInt8(ascii: "0") }
  }

  /// Whether a text is a duration with capital designators, whole numbers of at most 9 digits, and at most 12 digits of
  /// a fraction.
  static func isDuration(_ text: TextBytes) -> Bool {
    guard DurationText(text) != nil else { return false }
    var digits = 0
    for index in 0..<text.count {
      let byte = text[index]
      if byte == UInt8(ascii: ".") {
        // `DurationText` has checked that only `S` follows.
        return text.count - index - 2 <= 12 && text[text.count - 1] == UInt8(ascii: "S")
      }
      digits = byte &- 0x30 < 10 ? digits + 1 : 0
      if byte > 0x5A || digits > 9 { return false }
    }
    return true
  }
}

/// Converts V2's timestamps: `/Date(ms)/` and `/Date(ms±minutes)/`, with slashes escaped or not.
enum Ticks {
  /// Appends the timestamp in ISO 8601. Returns false, and appends nothing, if the text has another form or is out of
  /// range.
  ///
  /// The milliseconds are those of the local clock. A value without an offset does not use the offset of the text.
  static func append(_ text: TextBytes, hasOffset: Bool, to batch: inout RowBatch) -> Bool {
    guard let (milliseconds, offset) = read(text),
      let local = ODataDateTime(millisecondsSince1970: milliseconds)
    else { return false }
    guard hasOffset else {
      guard abs(offset) < 1440 else { return false }
      batch.appendText { local.write(into: &$0) }
      return true
    }
    guard let timestamp = ODataDateTimeOffset(date: local.date, time: local.time, offsetMinutes: offset) else {
      return false
    }
    batch.appendText { timestamp.write(into: &$0) }
    return true
  }

  private static func read(_ text: TextBytes) -> (Int64, Int)? {
    var index = text[0] == UInt8(ascii: "\\") ? 1 : 0
    for byte in [UInt8(ascii: "/"), UInt8(ascii: "D"), UInt8(ascii: "a"), UInt8(ascii: "t"), UInt8(ascii: "e"), 0x28] {
      guard text[index] == byte else { return nil }
      index += 1
    }
    let isNegative = text[index] == UInt8(ascii: "-")
    if isNegative { index += 1 }
    let end = text.digitsEnd(index)
    guard end > index, end - index <= 17 else { return nil }
    var milliseconds: Int64 = 0
    while index < end {
      milliseconds = milliseconds * 10 + Int64(text[index] &- 0x30)
      index += 1
    }
    var offset = 0
    if text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-") {
      let isNegative = text[index] == UInt8(ascii: "-")
      let end = text.digitsEnd(index + 1)
      guard end > index + 1, end - index <= 5 else { return nil }
      for place in index + 1..<end { offset = offset * 10 + Int(text[place] &- 0x30) }
      if isNegative { offset = -offset }
      index = end
    }
    guard text[index] == 0x29 else { return nil }
    index += text[index + 1] == UInt8(ascii: "\\") ? 2 : 1
    guard text[index] == UInt8(ascii: "/"), index + 1 == text.count else { return nil }
    return (isNegative ? -milliseconds : milliseconds, offset)
  }
}
