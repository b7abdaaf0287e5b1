import LarderContent
import LarderHTTP

/// Entries and responses for the tests of partial content: the alphabet's letters, over and over.
enum PartialSamples {
  static let now: Int64 = 1_700_000_000_000
  static let strong: HTTPFields = [
    "Date": "Tue, 14 Nov 2023 22:13:20 GMT", "Cache-Control": "max-age=60", "ETag": "\"v1\"",
    "Content-Type": "text/plain",
  ]

  static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(0x61 + $0 % 26) } }

  static func whole(_ content: [UInt8], fields: HTTPFields = strong, status: Int = 200) -> CacheEntry {
    CacheEntry(
      metadata: CacheMetadata(
        url: "http://a/", status: status, fields: fields, requestTime: now, responseTime: now + 1000),
      bytes: content)
  }

  static func parts(
    _ ranges: [Range<Int>], of content: [UInt8], length: Int?, fields: HTTPFields = strong
  ) -> CacheEntry {
    CacheEntry(
      metadata: CacheMetadata(
        url: "http://a/", status: 206, fields: fields, requestTime: now, responseTime: now + 1000,
        content: .parts(ranges, length: length)), bytes: ranges.flatMap { content[$0] })
  }

  /// A 206's metadata as they come.
  static func response(_ range: Range<Int>, _ length: Int?, fields: HTTPFields = strong) -> CacheMetadata {
    var fields = fields
    fields["Content-Range"] = ContentRange.part(range, length: length).text
    fields["Content-Length"] = String(range.count)
    return CacheMetadata(
      url: "http://a/", status: 206, fields: fields, requestTime: now + 1000, responseTime: now + 1000)
  }

  /// A response's content, put together as a reader would get it.
  static func content(_ response: PartialResponse, from stored: [UInt8]) -> [UInt8] {
    response.pieces.flatMap { piece in
      switch piece {
      case .stored(let range): Array(stored[range])
      case .bytes(let bytes): bytes
      }
    }
  }

  /// A combination's content, put together as the engine does.
  static func content(_ combination: Combination, stored: [UInt8], received: [UInt8]) -> [UInt8] {
    combination.segments.flatMap { segment in
      switch segment {
      case .stored(let range): Array(stored[range])
      case .received(let range): Array(received[range])
      }
    }
  }

  static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
