import LarderContent
import Testing

@Suite("Range (RFC 9110 §14.1.2, §14.2)", .timeLimit(.minutes(5)))
struct RangeFieldTests {
  typealias Resolution = RangeField.Resolution

  /// Of a representation of 10,000 bytes; the first rows are the standard's examples.
  static let fields: [(String, Resolution)] = [
    ("bytes=0-499", .ranges([0..<500])), ("bytes=500-999", .ranges([500..<1000])),
    ("bytes=-500", .ranges([9500..<10_000])), ("bytes=9500-", .ranges([9500..<10_000])),
    ("bytes=0-0,-1", .ranges([0..<1, 9999..<10_000])),
    ("bytes= 0-999, 4500-5499, -1000", .ranges([0..<1000, 4500..<5500, 9000..<10_000])),
    ("bytes=500-600,601-999", .ranges([500..<1000])), ("bytes=500-700,601-999", .ranges([500..<1000])),
    ("Bytes=0-1", .ranges([0..<2])), ("bytes=0-", .ranges([0..<10_000])),
    ("bytes=-20000", .ranges([0..<10_000])), ("bytes=9999-20000", .ranges([9999..<10_000])),
    ("bytes=10000-", .unsatisfiable), ("bytes=10000-10001", .unsatisfiable), ("bytes=-0", .unsatisfiable),
    ("bytes=10000-,0-1", .ranges([0..<2])), ("bytes=-0,5-5", .ranges([5..<6])),
    // §14.2: in the order of the request, those that overlap or nearly touch together (§15.3.7.2).
    ("bytes=5000-5001,0-1", .ranges([5000..<5002, 0..<2])),
    ("bytes=5000-5001,0-1,5082-5083", .ranges([5000..<5002, 0..<2, 5082..<5084])),
    ("bytes=5000-5001,0-1,5081-5083", .ranges([5000..<5084, 0..<2])),
    ("bytes=0-9,5-14,10-20", .ranges([0..<21])), ("bytes=,0-1,, ,3-4,", .ranges([0..<5])),
    ("bytes=\t0-1\t,\t200-201\t", .ranges([0..<2, 200..<202])),
    // Numbers that no integer holds.
    ("bytes=0-9223372036854775807", .ranges([0..<10_000])), ("bytes=0-9223372036854775808", .ranges([0..<10_000])),
    ("bytes=9223372036854775807-", .unsatisfiable), ("bytes=18446744073709551616-", .unsatisfiable),
    ("bytes=99999999999999999999-99999999999999999999", .unsatisfiable),
    ("bytes=-9223372036854775808", .ranges([0..<10_000])), ("bytes=000-00001", .ranges([0..<2])),
  ]

  @Test("ranges lie within the representation, or nowhere", arguments: fields)
  func resolved(text: String, resolution: Resolution) throws {
    let field = try #require(RangeField(text))
    #expect(field.resolved(length: 10_000) == resolution)
  }

  @Test(
    "what is malformed, or of another unit, is ignored (§14.2)",
    arguments: [
      "", "bytes", "bytes=", "bytes=,", "bytes= ", "bytes=a", "bytes=1", "bytes=1-a", "bytes=-", "bytes=--1",
      "bytes=2-1",
      "bytes=0-1;2-3", "bytes=0-1 2-3", "bytes 0-1", "bytes=0 -1", "bytes=0- 1", "bytes = 0-1", "byte=0-1", "items=0-1",
      "bytesx=0-1", "bytes=0-1, bytes=2-3", "bytes=+1-2", "bytes=0x1-2", "bytes=1-2\u{0}", "bytes=١-٢", "=0-1", "-",
      "bytes=9223372036854775808-5", "none=0-1",
    ])
  func ignored(text: String) { #expect(RangeField(text) == nil) }

  @Test("nothing of an empty representation")
  func empty() {
    #expect(RangeField("bytes=0-")?.resolved(length: 0) == .unsatisfiable)
    #expect(RangeField("bytes=-5")?.resolved(length: 0) == .ignored)
    #expect(RangeField("bytes=-0")?.resolved(length: 0) == .unsatisfiable)
  }

  @Test("where the length is unknown, only what is held can be meant")
  func unknownLength() {
    let stored = ByteRangeSet([10..<20, 30..<500])
    #expect(RangeField("bytes=10-19")?.resolved(within: stored) == [10..<20])
    #expect(RangeField("bytes=12-13,30-40,400-410")?.resolved(within: stored) == [12..<14, 30..<41, 400..<411])
    #expect(RangeField("bytes=10-20")?.resolved(within: stored) == nil)
    #expect(RangeField("bytes=10-")?.resolved(within: stored) == nil)
    #expect(RangeField("bytes=-1")?.resolved(within: stored) == nil)
    #expect(RangeField("bytes=10-9223372036854775807")?.resolved(within: stored) == nil)
  }

  @Test("many ranges are ignored, a megabyte of them at once (§14.2)")
  func many() {
    let allowed = (0..<RangeField.limit).map { "\($0 * 200)-\($0 * 200)" }.joined(separator: ",")
    #expect(RangeField("bytes=" + allowed)?.specs.count == RangeField.limit)
    #expect(RangeField("bytes=" + allowed + ",20000-") == nil)
    #expect(RangeField("bytes=" + String(repeating: "0-,", count: 350_000)) == nil)
    #expect(RangeField("bytes=" + String(repeating: ",", count: 1_000_000)) == nil)
    #expect(RangeField("bytes=" + String(repeating: ",", count: 1_000_000) + "1-")?.specs.count == 1)
    #expect(
      RangeField("bytes=" + String(repeating: "9", count: 1_000_000) + "-")?.resolved(length: 5) == .unsatisfiable)
    #expect(RangeField("bytes=-" + String(repeating: " ", count: 1_000_000)) == nil)
  }
}
