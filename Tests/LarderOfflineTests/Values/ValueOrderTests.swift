import LarderOData
import LarderTestSupport
import Testing

@testable import LarderOffline

/// The orders of the collations.
private enum Order: String, CaseIterable {
  case decimal, point, duration

  func callAsFunction(_ left: String, _ right: String) -> Int {
    var left = left
    var right = right
    return left.withUTF8 { one in
      right.withUTF8 { other in
        switch self {
        case .decimal: unsafe DecimalText.order(TextBytes(one), TextBytes(other)).signum()
        case .point: unsafe DateTimeText.order(TextBytes(one), TextBytes(other)).signum()
        case .duration: unsafe DurationText.order(TextBytes(one), TextBytes(other)).signum()
        }
      }
    }
  }
}

@Suite("Orders of values", .timeLimit(.minutes(1)))
struct ValueOrderTests {
  @Test(
    "decimals in ascending order, those in one row are equal",
    arguments: [
      [
        ["-INF"], ["-1e999999999"], ["-100", "-1e2", "-100.00"], ["-99.99"], ["-1.5", "-01.50"], ["-0.5", "-.5"],
        ["-1e-999999999"], ["0", "-0", "0.00", "0e5", "000", "+0"], ["1e-30"], ["0.1", "1E-1", ".1", "0.10"], ["0.11"],
        ["1", "1.0", "+1", "10e-1"], ["9.99"], ["10", "1e1", "1E+1", "010"], ["12345678901234567890123456789.1"],
        ["12345678901234567890123456789.12"], ["1e999999999"], ["INF"], ["NaN"], ["", "1."], ["1.2.3"], ["abc"],
      ]
    ])
  func decimals(_ ladder: [[String]]) { check(.decimal, ladder, except: ["", "1."]) }

  @Test(
    "timestamps in chronological order, those in one row at the same instant",
    arguments: [
      [
        ["-12345-01-01T00:00:00Z"], ["-0001-12-31T23:59:59Z"], ["0000-01-01"], ["0001-01-01T00:00:00Z"],
        ["2024-02-28T23:30:00-00:29"], ["2024-02-29", "2024-02-29T00:00:00Z", "2024-02-29T02:00+02:00"],
        ["2024-02-29T00:00:00.000000000001Z"],
        ["2024-02-29T23:59:59.5Z", "2024-02-29T23:59:59.500Z", "2024-03-01T00:59:59.50+01:00"],
        ["2024-02-29T23:59:60Z"], ["2024-03-01", "2024-03-01T00:00:00", "2024-02-29T19:00:00-05:00"],
        ["2024-12-31T23:59:59Z", "2025-01-01T05:29:59+05:30", "2025-01-01T05:29:59+0530"],
        ["9999-12-31T23:59:59.999999999999Z"], ["10000-01-01T00:00:00Z"], ["123456-07-08"],
        ["2024-1-1"], ["2024-13"], ["Tuesday"],
      ]
    ])
  func points(_ ladder: [[String]]) { check(.point, ladder) }

  @Test(
    "durations by length",
    arguments: [
      [
        ["-P1D", "-PT24H", "-PT86400S"], ["-PT0.5S"], ["PT0S", "-PT0S", "P0D", "P0Y", "PT0.000S"],
        ["PT0.000000000001S"], ["PT1M", "PT60S", "PT60.0S"], ["PT1H", "PT60M"], ["P1D", "PT24H", "P0Y0M1D"], ["P1DT1S"],
        ["P", "P1Y"], ["P1Y1M"], ["PT"], ["one hour"],
      ]
    ])
  func durations(_ ladder: [[String]]) { check(.duration, ladder, except: ["P", "P1Y"]) }

  private func check(_ order: Order, _ ladder: [[String]], except garbage: [String] = []) {
    for (index, step) in ladder.enumerated() {
      for text in step {
        for other in step where step != garbage { #expect(order(text, other) == 0, "\(text) \(other)") }
        for above in ladder[(index + 1)...] {
          for other in above {
            #expect(order(text, other) < 0, "\(text) \(other)")
            #expect(order(other, text) > 0, "\(other) \(text)")
          }
        }
      }
    }
  }

  @Test("the same order as that of the value types", arguments: Order.allCases)
  private func agrees(_ order: Order) throws {
    var seed = PrintedSeed(for: "order of \(order)")
    for _ in 0..<4000 {
      let left = RandomValues.text(order.rawValue, &seed)
      let right =
        Bool.random(using: &seed) ? RandomValues.text(order.rawValue, &seed) : RandomValues.respelled(left, &seed)
      let expected: Int
      switch order {
      case .decimal:
        guard let one = ODataDecimal(left), let other = ODataDecimal(right) else { continue }
        expected = one < other ? -1 : one == other ? 0 : 1
      case .point:
        guard let one = ODataDateTimeOffset(left), let other = ODataDateTimeOffset(right) else { continue }
        expected = one < other ? -1 : one == other ? 0 : 1
      case .duration:
        guard let one = ODataDuration(left), let other = ODataDuration(right) else { continue }
        expected = one < other ? -1 : one == other ? 0 : 1
      }
      #expect(order(left, right) == expected, "\(left) \(right)")
    }
  }

  @Test("a total order over any bytes: antisymmetric and transitive", arguments: Order.allCases)
  private func total(_ order: Order) {
    var seed = PrintedSeed(for: "total order of \(order)")
    for _ in 0..<4000 {
      let texts = (0..<3).map { _ in RandomValues.spoiled(order.rawValue, &seed) }
      for one in texts {
        #expect(order(one, one) == 0)
        for other in texts { #expect(order(one, other) == -order(other, one), "\(one) \(other)") }
      }
      let (a, b, c) = (texts[0], texts[1], texts[2])
      if order(a, b) <= 0, order(b, c) <= 0 { #expect(order(a, c) <= 0, "\(a) \(b) \(c)") }
      if order(a, b) == 0 { #expect(order(a, c) == order(b, c), "\(a) \(b) \(c)") }
    }
  }
}

/// Valid and invalid texts of values, drawn so that equal and similar ones are common.
enum RandomValues {
  static func pick<Item>(_ items: [Item], _ seed: inout PrintedSeed) -> Item {
    items[Int.random(in: items.indices, using: &seed)]
  }

  static func text(_ kind: String, _ seed: inout PrintedSeed) -> String {
    switch kind {
    case "decimal": decimal(&seed)
    case "moment": point(&seed)
    default: duration(&seed)
    }
  }

  static func decimal(_ seed: inout PrintedSeed) -> String {
    if Int.random(in: 0..<20, using: &seed) == 0 {
      return pick(["INF", "-INF", "NaN", "0", "-0.0"], &seed)
    }
    var text = Bool.random(using: &seed) ? "-" : ""
    for _ in 0..<Int.random(in: 1...pick([2, 5, 30], &seed), using: &seed) { text += digit(&seed) }
    if Bool.random(using: &seed) {
      text += "."
      for _ in 0..<Int.random(in: 1...pick([2, 5, 30], &seed), using: &seed) { text += digit(&seed) }
    }
    if Int.random(in: 0..<5, using: &seed) == 0 { text += "e\(Int.random(in: -12...12, using: &seed))" }
    return text
  }

  private static func digit(_ seed: inout PrintedSeed) -> String {
    pick(["0", "0", "1", "9", "5", "3"], &seed)
  }

  static func point(_ seed: inout PrintedSeed) -> String {
    let year = pick([0, 1, 1999, 2000, 2024, 2024, 2023, 9999, 12_345, -5], &seed)
    let digits = String(year.magnitude)
    var text = (year < 0 ? "-" : "") + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    let month = pick([1, 2, 3, 12], &seed)
    text += "-" + two(month) + "-" + two(pick([1, 2, 28, month == 2 ? 27 : 31], &seed))
    text +=
      "T" + two(pick([0, 1, 12, 23], &seed)) + ":" + two(pick([0, 30, 59], &seed))
    text += ":" + two(pick([0, 1, 59], &seed))
    if Bool.random(using: &seed) {
      text += "." + (0..<Int.random(in: 1...4, using: &seed)).map { _ in digit(&seed) }.joined()
    }
    return text + pick(["Z", "Z", "Z", "+00:00", "+02:00", "-23:59", "+05:30"], &seed)
  }

  static func duration(_ seed: inout PrintedSeed) -> String {
    var text = Bool.random(using: &seed) ? "-P" : "P"
    let days = pick([0, 0, 1, 30], &seed)
    if days > 0 { text += "\(days)D" }
    text += "T\(pick([0, 1, 23, 24], &seed))H\(pick([0, 59, 60], &seed))M"
    text += "\(pick([0, 1, 60], &seed))"
    if Bool.random(using: &seed) { text += "." + digit(&seed) + digit(&seed) }
    return text + "S"
  }

  static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// Another spelling of the same value, if there is a simple one.
  static func respelled(_ text: String, _ seed: inout PrintedSeed) -> String {
    if text.hasSuffix("Z") {
      return text.contains(".") ? text.dropLast() + "0Z" : text.dropLast() + "+00:00"
    }
    if text.hasSuffix("S"), text.contains(".") { return text.dropLast() + "00S" }
    if text.contains("."), !text.contains("e") { return text + "00" }
    return text
  }

  /// A value with a byte changed, removed or inserted; or any bytes.
  static func spoiled(_ kind: String, _ seed: inout PrintedSeed) -> String {
    var bytes = Array(text(kind, &seed).utf8)
    switch Int.random(in: 0..<4, using: &seed) {
    case 0: break
    case 1:
      let letters = Array("0129.-+eEINFaPTDHMSYZ: \0".utf8)
      bytes = (0..<Int.random(in: 0...22, using: &seed)).map { _ in pick(letters, &seed) }
    default:
      let place = Int.random(in: 0..<max(1, bytes.count), using: &seed)
      let byte = pick(Array("09-:TZ.e\0x".utf8), &seed)
      if Bool.random(using: &seed), place < bytes.count { bytes[place] = byte } else { bytes.insert(byte, at: place) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
