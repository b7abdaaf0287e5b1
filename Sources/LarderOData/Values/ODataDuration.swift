/// `Edm.Duration`, and `Edm.Time` of V1 to V3: a signed duration with picosecond precision.
///
/// It consists of days, hours, minutes and seconds (XML Schema 1.1 `dayTimeDuration`): years and months have no fixed
/// length.
public struct ODataDuration: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Nearly all durations are plain. The others are stored outside of the value, so that values stay small, which deep
  /// trees and long collections of values need.
  private enum Storage: Sendable, Hashable {
    case plain(seconds: Int64, picoseconds: Int64)
    indirect case fine(seconds: Int64, picoseconds: Int64, further: String)
  }
  private let storage: Storage

  /// The whole seconds, with the duration's sign.
  public var seconds: Int64 {
    switch storage {
    case .plain(let seconds, _), .fine(let seconds, _, _): seconds
    }
  }
  /// The picoseconds in addition to the seconds, with the same sign; less than 10^12 in magnitude.
  public var picoseconds: Int64 {
    switch storage {
    case .plain(_, let picoseconds), .fine(_, let picoseconds, _): picoseconds
    }
  }
  /// The digits of the fraction after the picoseconds, without trailing zeros, with a minus sign if the duration is
  /// negative: services may write any number of digits (ABNF `durationValue`). Empty for nearly all durations.
  private var further: String { if case .fine(_, _, let further) = storage { further } else { "" } }

  /// A duration of zero.
  public static let zero = ODataDuration(uncheckedSeconds: 0, picoseconds: 0)

  private init(uncheckedSeconds: Int64, picoseconds: Int64, further: String = "") {
    storage =
      further.isEmpty
      ? .plain(seconds: uncheckedSeconds, picoseconds: picoseconds)
      : .fine(seconds: uncheckedSeconds, picoseconds: picoseconds, further: further)
  }

  /// Whether the duration has digits after its picoseconds. They are kept, compared and printed; conversions to other
  /// types and arithmetic ignore them.
  package var isFinerThanPicoseconds: Bool { if case .fine = storage { true } else { false } }

  /// Creates a duration; nil if the signs differ or the picoseconds reach a second.
  public init?(seconds: Int64, picoseconds: Int64 = 0) {
    guard picoseconds.magnitude < 1_000_000_000_000, seconds != .min,
      seconds.signum() * picoseconds.signum() >= 0
    else { return nil }
    storage = .plain(seconds: seconds, picoseconds: picoseconds)
  }

  /// Parses `P1DT2H3M4.5S`, `-PT5M`; years and months only if they are zero.
  public init?(_ text: String) {
    guard let value = ByteCursor.whole(text, { try? ODataDuration(&$0) }) else { return nil }
    self = value
  }

  init(_ cursor: inout ByteCursor) throws(ODataValueError.Problem) {
    let isNegative = cursor.take(UInt8(ascii: "-"))
    guard cursor.take(letter: UInt8(ascii: "P")) else { throw .malformed }
    var total: UInt64 = 0
    var picoseconds: UInt64 = 0
    var further = ""
    var next = 0
    var isTime = false
    var isComplete = false
    while !cursor.isAtEnd {
      if !isTime, cursor.take(letter: UInt8(ascii: "T")) {
        isTime = true
        isComplete = false
        next = max(next, 3)
        continue
      }
      let run = cursor.digitRun()
      guard run.count > 0 else { break }
      var hasFraction = false
      if cursor.take(UInt8(ascii: ".")) {
        guard let fraction = cursor.picoseconds(further: &further) else { throw .malformed }
        picoseconds = fraction
        hasFraction = true
      }
      guard let part = ODataDuration.part(cursor.peek, isTime: isTime), part >= next, !hasFraction || part == 5 else {
        throw .malformed
      }
      cursor.advance()
      guard let value = run.value else { throw .outOfRange }
      if part < 2, value != 0 { throw .calendarDuration }
      let (product, tooBig) = value.multipliedReportingOverflow(by: [0, 0, 86_400, 3600, 60, 1][part])
      let (sum, overflow) = total.addingReportingOverflow(product)
      guard !tooBig, !overflow, sum <= UInt64(Int64.max) else { throw .outOfRange }
      total = sum
      next = part + 1
      isComplete = true
    }
    guard isComplete else { throw .malformed }
    let sign: Int64 = isNegative ? -1 : 1
    self.init(
      uncheckedSeconds: sign * Int64(total), picoseconds: sign * Int64(picoseconds),
      further: isNegative && !further.isEmpty ? "-" + further : further)
  }

  /// The index of a designator among years, months, days, hours, minutes and seconds.
  private static func part(_ designator: UInt8, isTime: Bool) -> Int? {
    switch (designator & 0xDF, isTime) {
    case (UInt8(ascii: "Y"), false): 0
    case (UInt8(ascii: "M"), false): 1
    case (UInt8(ascii: "D"), false): 2
    case (UInt8(ascii: "H"), true): 3
    case (UInt8(ascii: "M"), true): 4
    case (UInt8(ascii: "S"), true): 5
    default: nil
    }
  }

  /// Appends the text of ``description``.
  package func write(into bytes: inout [UInt8]) {
    let whole = seconds.magnitude
    let hasFraction = picoseconds != 0 || !further.isEmpty
    if seconds < 0 || picoseconds < 0 || further.hasPrefix("-") { bytes.append(UInt8(ascii: "-")) }
    bytes.append(UInt8(ascii: "P"))
    if whole >= 86_400 {
      bytes.append(decimal: whole / 86_400)
      bytes.append(UInt8(ascii: "D"))
    }
    let rest = whole % 86_400
    guard rest > 0 || hasFraction || whole == 0 else { return }
    bytes.append(UInt8(ascii: "T"))
    if rest >= 3600 {
      bytes.append(decimal: rest / 3600)
      bytes.append(UInt8(ascii: "H"))
    }
    if rest / 60 % 60 > 0 {
      bytes.append(decimal: rest / 60 % 60)
      bytes.append(UInt8(ascii: "M"))
    }
    guard rest % 60 > 0 || hasFraction || whole == 0 else { return }
    bytes.append(decimal: rest % 60)
    bytes.append(picoseconds: picoseconds.magnitude, further: further.drop { $0 == "-" })
    bytes.append(UInt8(ascii: "S"))
  }

  /// `P1DT2H3M4.5S`; `PT0S` for zero.
  public var description: String { String(writing: write) }

  /// Orders by length; negative durations are less.
  public static func < (left: ODataDuration, right: ODataDuration) -> Bool {
    if (left.seconds, left.picoseconds) != (right.seconds, right.picoseconds) {
      return (left.seconds, left.picoseconds) < (right.seconds, right.picoseconds)
    }
    // Without trailing zeros, digits after a point have the order of their texts.
    switch (left.further.hasPrefix("-"), right.further.hasPrefix("-")) {
    case (true, true): return right.further < left.further
    case (false, false): return left.further < right.further
    case (let isLess, _): return isLess
    }
  }
}
