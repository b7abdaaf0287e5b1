import Foundation
import LarderContent
import LarderCore
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Metadata as bytes", .timeLimit(.minutes(5)))
struct MetadataEncodingTests {
  static let rich = CacheMetadata(
    url: "https://example.com/ä?b=1", status: 206,
    fields: [
      "Content-Type": "image/png", "content-length": "12", "X-Own-Name": "wört", "Set-Cookie": "a=1", "Set-Cookie": "b",
      "Strict-Transport-Security": "max-age=1", "ETAG": "\"x\"", "Empty": "",
    ],
    requestTime: 1_700_000_000_123, responseTime: -5, selecting: ["accept": "text/html"],
    content: .parts([0..<10, 20..<30, 30..<30, 100..<Int.max], length: 4_000_000_000), isInvalidated: true,
    groups: [CacheGroup(name: "scripts", generation: "g1"), CacheGroup(name: "", generation: "")],
    variants: [
      CacheVariant(key: "k #1", names: ["accept", "x"], selecting: ["accept": "a"], etag: "W/\"1\"", date: .max),
      CacheVariant(key: "", names: [], selecting: [:], etag: nil, date: .min),
    ], hiddenBy: 410)

  static let values = [
    rich,
    CacheMetadata(url: "", status: 0, requestTime: 0, responseTime: 0),
    CacheMetadata(
      url: String(repeating: "u", count: 70_000), status: Int.min, requestTime: .min, responseTime: .max,
      content: .parts([], length: nil)),
    CacheMetadata(
      url: "https://e.com/", status: Int.max,
      fields: HTTPFields((0..<300).map { HTTPField(name: HTTPFieldName("N\($0)"), value: "\($0)") }),
      requestTime: 1, responseTime: 2, content: .parts([5..<6], length: nil)),
    CacheMetadata(url: "u", status: 200, requestTime: 1, responseTime: 2, hiddenBy: 404),
  ]

  @Test("are read as the same value, names in their spelling", arguments: values)
  func roundTrip(value: CacheMetadata) throws {
    let bytes = value.encoded()
    let decoded = try CacheMetadata(decoding: bytes)
    #expect(decoded == value)
    #expect(decoded.fields.map(\.name.rawName) == value.fields.map(\.name.rawName))
    #expect(decoded.encoded() == bytes)
  }

  @Test("have times in whole milliseconds, also beyond those of a date")
  func times() throws {
    let time = Date(timeIntervalSince1970: 1_768_471_200.123)
    let value = CacheMetadata(url: "u", status: 200, requestTime: time, responseTime: time + 0.0007)
    #expect(value.requestMilliseconds == 1_768_471_200_123 && value.responseMilliseconds == 1_768_471_200_123)
    var decoded = try CacheMetadata(decoding: value.encoded())
    #expect(decoded == value && decoded.responseTime.unixMilliseconds == 1_768_471_200_123)
    decoded.requestTime = .distantFuture
    #expect(try CacheMetadata(decoding: decoded.encoded()).requestTime == .distantFuture)
    #expect(Date(timeIntervalSince1970: .infinity).unixMilliseconds == Int64.max / 1000)
  }

  @Test("are those of version 1, byte for byte")
  func layout() {
    let value = CacheMetadata(
      url: "u", status: 200, fields: ["Age": "7", "age": "8", "Q": ""], requestTime: 1, responseTime: -1)
    #expect(
      value.encoded() == [
        1, 0, 0x90, 3, 1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0x75, 3, 3, 1, 0x37, 4, 1,
        0x38,
        0, 1, 0x51, 0, 0, 0, 0,
      ])
  }

  @Test("truncated at any place throw")
  func cutOff() {
    let bytes = MetadataEncodingTests.rich.encoded()
    for length in 0..<bytes.count {
      #expect(throws: CacheMetadata.DecodingError.self, "\(length)") {
        try CacheMetadata(decoding: Array(bytes[..<length]))
      }
    }
    #expect(throws: CacheMetadata.DecodingError.self) { try CacheMetadata(decoding: bytes + [0]) }
    #expect(CacheMetadata(encoded: bytes + [0]) == nil && CacheMetadata(encoded: bytes) == MetadataEncodingTests.rich)
  }

  @Test("of another version, with unknown flags, wild counts, bad UTF-8 or bad ranges say what is wrong and where")
  func reasons() {
    func failure(_ bytes: [UInt8]) -> CacheMetadata.DecodingError? {
      do throws(CacheMetadata.DecodingError) {
        _ = try CacheMetadata(decoding: bytes)
        return nil
      } catch {
        return error
      }
    }
    let head: [UInt8] = [1, 0, 0] + [UInt8](repeating: 0, count: 16)
    #expect(failure([]).map { [$0.offset] } == [0])
    #expect(failure([2])?.reason == .version)
    #expect(failure([1, 16])?.reason == .flags)
    #expect(failure(head + [5, 0x61])?.reason == .number)
    #expect(failure(head + [1, 0xFF])?.reason == .text)
    #expect(failure(head + [1, 0xFF])?.offset == 20)
    #expect(failure(head + [0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1])?.reason == .number)
    #expect(failure(head + [0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2])?.reason == .number)
    #expect(failure(head + [0] + [UInt8](repeating: 0x80, count: 5000))?.reason == .number)
    #expect(failure(head + [0, 1, 200, 1, 0])?.reason == .number)
    #expect(failure(head + [0, 0, 0, 0, 0, 7])?.reason == .tail)
    var parts = head + [0, 0, 0, 0, 0, 1, 20, 10]
    parts[1] = 2
    #expect(failure(parts)?.reason == .ranges)
    #expect(failure(head + [1, 0xFF])?.description.contains("byte 20") == true)
  }

  @Test("that are random or damaged never trap, and what decodes encodes again to the same value")
  func garbage() throws {
    var random = PrintedSeed(for: "metadata garbage")
    let bytes = MetadataEncodingTests.rich.encoded()
    var decoded = 0
    for round in 0..<20_000 {
      var tried = bytes
      if round % 4 == 0 { tried = (0..<Int(random.next() % 200)).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
      for _ in 0..<(1 + random.next() % 3) where !tried.isEmpty {
        tried[Int(random.next() % UInt64(tried.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      guard let value = try? CacheMetadata(decoding: tried) else { continue }
      decoded += 1
      #expect(try CacheMetadata(decoding: value.encoded()) == value)
    }
    #expect(decoded > 100)
  }
}
