@_spi(Stores) import LarderCore
import LarderStorage

extension SQLCollation {
  /// Orders dates and timestamps chronologically. A timestamp without an offset has offset zero; other texts come last.
  static let timestamp = unsafe SQLCollation("larder_moment") { (left, right) in
    unsafe DateTimeText.order(TextBytes(left), TextBytes(right))
  }

  /// Orders durations by their length; other texts come last.
  static let duration = unsafe SQLCollation("larder_duration") { (left, right) in
    unsafe DurationText.order(TextBytes(left), TextBytes(right))
  }
}

/// A date or timestamp, parsed in place.
///
/// Timestamps are ordered by the clock at offset zero, part by part, and the ranges of the parts are not checked. So
/// every text of the right form has a place in the order, and texts of equal length that end in `Z` have the order of
/// their bytes.
struct DateTimeText {
  /// The year at offset zero.
  private(set) var year: Int64
  /// Month, day, hour, minute and second at offset zero, eight bits each.
  private(set) var rest: UInt64
  /// The digits of the fraction.
  let fraction: TextBytes

  /// `YYYY-MM-` and `DDThh:mm`, with zeros for digits.
  private static let dateShape = word("0000-00-")
  private static let timeShape = word("00T00:00")
  // Added to the difference from the shape, these set the top bit of each byte that is not a digit or not the
  // separator.
  private static let dateLimits: UInt64 = 0x7F76_767F_7676_7676
  private static let timeLimits: UInt64 = 0x7676_7F76_767F_7676

  private static func word(_ text: StaticString) -> UInt64 {
    unsafe UnsafeBufferPointer(start: text.utf8Start, count: 8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  }

  @inline(__always)
  private static func fits(_ word: UInt64, _ shape: UInt64, _ limits: UInt64) -> Bool {
    let difference = word ^ shape
    return (difference | (difference &+ limits)) & 0x8080_8080_8080_8080 == 0
  }

  static func order(_ left: TextBytes, _ right: TextBytes) -> Int {
    if left.count == right.count, let order = plainOrder(left, right) { return order }
    guard let one = DateTimeText(left) else { return DateTimeText(right) == nil ? TextBytes.order(left, right) : 1 }
    guard let other = DateTimeText(right) else { return -1 }
    return order(one, other)
  }

  static func order(_ left: DateTimeText, _ right: DateTimeText) -> Int {
    if left.year != right.year { return left.year < right.year ? -1 : 1 }
    if left.rest != right.rest { return left.rest < right.rest ? -1 : 1 }
    return TextBytes.fractionOrder(left.fraction, right.fraction)
  }

  /// The order of two texts `YYYY-MM-DDThh:mm:ss`, with fractions of equal length and `Z`; nil for all others.
  @inline(__always)
  private static func plainOrder(_ left: TextBytes, _ right: TextBytes) -> Int? {
    guard let leftDate = left.word(0), let rightDate = right.word(0), let leftTime = left.word(8),
      let rightTime = right.word(8), isPlainEnd(left), isPlainEnd(right), fits(leftDate, dateShape, dateLimits),
      fits(rightDate, dateShape, dateLimits), fits(leftTime, timeShape, timeLimits),
      fits(rightTime, timeShape, timeLimits)
    else { return nil }
    if leftDate != rightDate { return leftDate.byteSwapped < rightDate.byteSwapped ? -1 : 1 }
    if leftTime != rightTime { return leftTime.byteSwapped < rightTime.byteSwapped ? -1 : 1 }
    for index in 17..<left.count where left[index] != right[index] { return left[index] < right[index] ? -1 : 1 }
    return 0
  }

  /// Whether the text ends with `:ssZ` or `:ss.f…Z`.
  @inline(__always)
  private static func isPlainEnd(_ text: TextBytes) -> Bool {
    let last = text.count - 1
    guard text[last] == UInt8(ascii: "Z"), text[16] == UInt8(ascii: ":"), text[17] &- 0x30 < 10, text[18] &- 0x30 < 10
    else { return false }
    if last == 19 { return true }
    return text[19] == UInt8(ascii: ".") && last > 20 && text.digitsEnd(20) == last
  }

  /// Parses `YYYY-MM-DD`, optionally with `Thh:mm`, `:ss`, `.f…`, `Z` or `±hh:mm`; nil for anything else.
  init?(_ text: TextBytes) {
    let isNegative = text[0] == UInt8(ascii: "-")
    let start = isNegative ? 1 : 0
    let end = text.digitsEnd(start)
    guard end - start >= 4, end - start <= 9 else { return nil }
    var year: Int64 = 0
    for index in start..<end { year = year * 10 + Int64(text[index] &- 0x30) }
    self.year = isNegative ? -year : year
    guard text[end] == UInt8(ascii: "-"), let month = text.twoDigits(end + 1), text[end + 3] == UInt8(ascii: "-"),
      let day = text.twoDigits(end + 4)
    else { return nil }
    rest = month << 32 | day << 24
    var index = end + 6
    guard index < text.count else {
      fraction = text.part(0..<0)
      return
    }
    guard text.has(letter: UInt8(ascii: "T"), at: index), let hour = text.twoDigits(index + 1),
      text[index + 3] == UInt8(ascii: ":"), let minute = text.twoDigits(index + 4)
    else { return nil }
    rest |= hour << 16 | minute << 8
    index += 6
    var fractionRange = 0..<0
    if text[index] == UInt8(ascii: ":") {
      guard let second = text.twoDigits(index + 1) else { return nil }
      rest |= second
      index += 3
      if text[index] == UInt8(ascii: ".") {
        fractionRange = index + 1..<text.digitsEnd(index + 1)
        guard !fractionRange.isEmpty else { return nil }
        index = fractionRange.upperBound
      }
    }
    fraction = text.part(fractionRange)
    guard let offset = DateTimeText.offset(text, index) else { return nil }
    if offset != 0 { move(minutes: -offset) }
  }

  /// The offset in minutes of `Z`, `±hh:mm`, `±hhmm` or nothing; nil for anything else.
  private static func offset(_ text: TextBytes, _ index: Int) -> Int64? {
    if index == text.count { return 0 }
    if text.has(letter: UInt8(ascii: "Z"), at: index) { return index + 1 == text.count ? 0 : nil }
    let isNegative = text[index] == UInt8(ascii: "-")
    guard isNegative || text[index] == UInt8(ascii: "+"), let hours = text.twoDigits(index + 1) else { return nil }
    let colon = text[index + 3] == UInt8(ascii: ":") ? 1 : 0
    guard let minutes = text.twoDigits(index + 3 + colon), index + 5 + colon == text.count else { return nil }
    let offset = Int64(hours * 60 + minutes)
    return isNegative ? -offset : offset
  }

  /// Moves the clock forward by some minutes.
  private mutating func move(minutes: Int64) {
    let month = Int64(rest >> 32 & 0xFF)
    let day = Int64(rest >> 24 & 0xFF)
    let clock = Int64(rest >> 16 & 0xFF) * 60 + Int64(rest >> 8 & 0xFF) + minutes
    let days = DateTimeText.floor(clock, 1440)
    let time = UInt64(clock - days * 1440)
    if days != 0 { move(days: days, month: month, day: day) }
    rest = (rest & 0xFF_FF00_00FF) | ((time / 60) << 16) | ((time % 60) << 8)
  }

  private mutating func move(days: Int64, month: Int64, day: Int64) {
    let former = GregorianCalendar.daysSince1970(year: Int(year), month: Int(month), day: Int(day))
    let date = GregorianCalendar.date(daysSince1970: former + days)
    year = Int64(date.year)
    rest = UInt64(date.month) << 32 | UInt64(date.day) << 24 | rest & 0xFF_FFFF
  }

  private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
    number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
  }
}

/// A duration, parsed in place.
struct DurationText {
  private let isNegative: Bool
  private let seconds: UInt64
  private let fraction: TextBytes
  /// The sign: -1, 0 or 1.
  private var sign: Int { seconds == 0 && fraction.isZeros ? 0 : isNegative ? -1 : 1 }

  /// Parses `-P1DT2H3M4.5S`. Years and months must be zero. Nil for anything else.
  init?(_ text: TextBytes) {
    isNegative = text[0] == UInt8(ascii: "-")
    var index = isNegative ? 1 : 0
    guard text.has(letter: UInt8(ascii: "P"), at: index) else { return nil }
    index += 1
    var total: UInt64 = 0
    var fractionRange = 0..<0
    var isTime = false
    var isComplete = false
    var next = 0
    while index < text.count {
      if !isTime, text.has(letter: UInt8(ascii: "T"), at: index) {
        (isTime, isComplete) = (true, false)
        next = max(next, 3)
        index += 1
        continue
      }
      let end = text.digitsEnd(index)
      guard end > index, let value = DurationText.number(text, index..<end) else { return nil }
      index = end
      if text[index] == UInt8(ascii: ".") {
        fractionRange = index + 1..<text.digitsEnd(index + 1)
        guard !fractionRange.isEmpty else { return nil }
        index = fractionRange.upperBound
      }
      guard let (part, factor) = DurationText.part(text[index], isTime: isTime), part >= next,
        fractionRange.isEmpty || part == 5
      else { return nil }
      let (product, tooBig) = value.multipliedReportingOverflow(by: factor)
      let (sum, overflow) = total.addingReportingOverflow(product)
      guard !tooBig, !overflow, part >= 2 || value == 0 else { return nil }
      total = sum
      next = part + 1
      index += 1
      isComplete = true
    }
    guard isComplete else { return nil }
    seconds = total
    fraction = text.part(fractionRange)
  }

  private static func number(_ text: TextBytes, _ range: Range<Int>) -> UInt64? {
    var value: UInt64 = 0
    for index in range {
      let (tens, tooBig) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflow) = tens.addingReportingOverflow(UInt64(text[index] &- 0x30))
      if tooBig || overflow { return nil }
      value = sum
    }
    return value
  }

  /// The position of a designator in the order from years to seconds, and its length in seconds.
  private static func part(_ designator: UInt8, isTime: Bool) -> (Int, UInt64)? {
    switch (designator & 0xDF, isTime) {
    case (UInt8(ascii: "Y"), false): (0, 0)
    case (UInt8(ascii: "M"), false): (1, 0)
    case (UInt8(ascii: "D"), false): (2, 86_400)
    case (UInt8(ascii: "H"), true): (3, 3600)
    case (UInt8(ascii: "M"), true): (4, 60)
    case (UInt8(ascii: "S"), true): (5, 1)
    default: nil
    }
  }

  static func order(_ left: TextBytes, _ right: TextBytes) -> Int {
    guard let one = DurationText(left) else { return DurationText(right) == nil ? TextBytes.order(left, right) : 1 }
    guard let other = DurationText(right) else { return -1 }
    let sign = one.sign
    if sign != other.sign { return sign - other.sign }
    return sign * magnitudeOrder(one, other)
  }

  private static func magnitudeOrder(_ left: DurationText, _ right: DurationText) -> Int {
    if left.seconds != right.seconds { return left.seconds < right.seconds ? -1 : 1 }
    return TextBytes.fractionOrder(left.fraction, right.fraction)
  }
}
