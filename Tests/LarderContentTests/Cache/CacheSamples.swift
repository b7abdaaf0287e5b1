import LarderHTTP
import LarderTestSupport

@testable import LarderContent

/// Metadata of a response; the number distinguishes it from others.
func sampleMetadata(_ number: Int = 0, url: String = "http://example.com/a") -> CacheMetadata {
  CacheMetadata(
    url: url, status: 200, fields: ["Content-Type": "text/plain", "ETag": "\"\(number)\""],
    requestTime: 1_768_471_200_000 + Int64(number), responseTime: 1_768_471_200_050 + Int64(number),
    selecting: ["Accept": "text/*"], groups: [CacheGroup(name: "all", generation: "g1")])
}

/// Bytes that differ from place to place and from seed to seed.
func sampleBytes(_ count: Int, seed: Int = 1) -> [UInt8] {
  var generator = PrintedSeed(seed: UInt64(truncatingIfNeeded: seed))
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + 8)
  while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
  bytes.removeLast(bytes.count - count)
  return bytes
}

/// An entry with a digest of its number as content.
func sampleEntry(_ number: Int, count: Int = 100, url: String = "http://example.com/a") -> CacheEntry {
  CacheEntry(metadata: sampleMetadata(number, url: url), bytes: sampleBytes(count, seed: number))
}

extension CacheEntry {
  /// All of the content.
  func allBytes() async throws -> [UInt8] { try await read(0..<length) }
}

/// The error that a body throws, where it is a cache's.
func cacheError(_ body: () async throws -> Void) async -> CacheError? {
  do { try await body() } catch { return error as? CacheError }
  return nil
}
