import LarderHTTP
import Testing

@testable import LarderCurl

@Suite("Content codings", .timeLimit(.minutes(5)))
struct ContentDecoderTests {
  /// All content, fed in chunks of a size.
  private func decode(
    _ coded: [UInt8], _ codings: [ContentCoding] = [.gzip], chunk: Int = .max
  ) throws(HTTPTransportError) -> [UInt8] {
    let decoder = ContentDecoder(codings)
    var content: [UInt8] = []
    var rest = coded[...]
    while !rest.isEmpty {
      decoder.feed(Array(rest.prefix(chunk)))
      rest = rest.dropFirst(chunk)
      while let next = try decoder.next() { content += next }
    }
    try decoder.finish()
    return content
  }

  private func error(_ coded: [UInt8], _ codings: [ContentCoding] = [.gzip]) -> HTTPTransportError? {
    do throws(HTTPTransportError) {
      _ = try decode(coded, codings)
      return nil
    } catch { return error }
  }

  struct Format: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let coding: ContentCoding
    let coded: [UInt8]
  }

  static let formats = [
    Format(testDescription: "gzip, RFC 1952", coding: .gzip, coded: Compressed.gzip),
    Format(testDescription: "zlib, RFC 1950", coding: .deflate, coded: Compressed.zlib),
    Format(testDescription: "bare deflate, RFC 1951", coding: .deflate, coded: Compressed.deflate),
  ]

  @Test("Complete content is decoded, in chunks of any size", arguments: formats)
  func whole(format: Format) throws {
    for chunk in [1, 2, 3, 7, 64, .max] {
      #expect(try decode(format.coded, [format.coding], chunk: chunk) == Compressed.text)
    }
  }

  @Test("Content that is truncated after any byte but the last is an error", arguments: formats)
  func truncated(format: Format) {
    for count in 1..<format.coded.count {
      #expect(
        error(Array(format.coded.prefix(count)), [format.coding])
          == .connectionLost(reason: "the \(format.coding) content is truncated"), "\(count) bytes")
    }
  }

  @Test("No content at all is complete", arguments: [ContentCoding.gzip, .deflate])
  func empty(coding: ContentCoding) throws { #expect(try decode([], [coding]).isEmpty) }

  @Test("No bit that matters can be turned in gzip data or its trailer (RFC 1952 §2.3.1) without an error")
  func flipped() throws {
    for index in 0..<Compressed.gzip.count {
      for bit in 0..<8 {
        var coded = Compressed.gzip
        coded[index] ^= 1 << UInt8(bit)
        // No checksum covers the header's FTEXT, MTIME, XFL and OS, nor the four bits behind the deflate data's end.
        let isPadding = index == Compressed.gzip.count - 9 && bit >= 4
        let isHarmless = index == 3 && bit == 0 || (4..<10).contains(index) || isPadding
        #expect((error(coded) == nil) == isHarmless, "bit \(bit) of byte \(index)")
        if isHarmless { #expect(try decode(coded) == Compressed.text) }
      }
    }
  }

  @Test("Damage is reported")
  func damage() {
    var coded = Compressed.gzip
    coded[coded.count - 8] ^= 1
    #expect(error(coded) == .protocolViolation("the gzip content is damaged: incorrect data check"))
    coded = Compressed.gzip
    coded[coded.count - 1] ^= 1
    #expect(error(coded) == .protocolViolation("the gzip content is damaged: incorrect length check"))
  }

  @Test("Several members are one content (RFC 1952 §2.2), and each must be complete")
  func members() throws {
    let three = Compressed.gzip + Compressed.gzip + Compressed.gzip
    for chunk in [1, 5, Compressed.gzip.count, .max] {
      #expect(try decode(three, chunk: chunk) == Compressed.text + Compressed.text + Compressed.text)
    }
    for count in 1..<Compressed.gzip.count {
      #expect(error(Array(three.dropLast(count))) != nil, "without the last \(count) bytes")
    }
    var damaged = three
    damaged[Compressed.gzip.count] ^= 0x40
    #expect(error(damaged) == .protocolViolation("unexpected bytes follow the gzip content"))
  }

  @Test("Only zero bytes may follow; after raw deflate data, a checksum may follow")
  func trailing() throws {
    let zeros = [UInt8](repeating: 0, count: 100)
    for format in ContentDecoderTests.formats {
      #expect(try decode(format.coded + zeros, [format.coding], chunk: 50) == Compressed.text)
      #expect(error(format.coded + [1, 2, 3, 4, 5], [format.coding]) != nil)
    }
    #expect(
      error(Compressed.gzip + [0, 1] as [UInt8]) == .protocolViolation("unexpected bytes follow the gzip content"))
    #expect(try decode(Compressed.deflate + [1, 2, 3, 4], [.deflate]) == Compressed.text)
  }

  @Test("Nested codings are decoded from the last")
  func chain() throws {
    let twice = Compressed.member([1] + lengths(Compressed.zlib.count) + Compressed.zlib, of: Compressed.zlib)
    for chunk in [1, 10, .max] {
      #expect(try decode(twice, [.deflate, .gzip], chunk: chunk) == Compressed.text)
    }
    #expect(error(Compressed.gzip, [.gzip, .gzip]) != nil)
    // The outer coding is whole, the inner is not.
    let half = Array(Compressed.zlib.dropLast(9))
    #expect(
      error(Compressed.member([1] + lengths(half.count) + half, of: half), [.deflate, .gzip])
        == .connectionLost(reason: "the deflate content is truncated"))
  }

  /// LEN and NLEN of a stored block, RFC 1951 §3.2.4.
  private func lengths(_ count: Int) -> [UInt8] {
    [UInt8(count & 0xFF), UInt8(count >> 8), ~UInt8(count & 0xFF), ~UInt8(count >> 8)]
  }

  @Test(
    "A field names its codings",
    arguments: [
      ("gzip", [.gzip]), ("GZip", [.gzip]), ("x-gzip", [.gzip]), ("deflate, gzip", [.deflate, .gzip]), ("identity", []),
      ("", []), ("br", nil), ("gzip, zstd", nil),
    ] as [(String, [ContentCoding]?)])
  func names(value: String, codings: [ContentCoding]?) throws {
    #expect(try ContentCoding.codings(in: ["Content-Encoding": value]) == codings)
  }

  @Test("More than five codings are rejected")
  func tooMany() {
    let six = Array(repeating: "gzip", count: 6).joined(separator: ",")
    #expect(throws: HTTPTransportError.self) { try ContentCoding.codings(in: ["Content-Encoding": six]) }
  }

  @Test("400 MiB from 2.6 MB are decoded 64 KiB at a time, on demand")
  func bomb() throws {
    let decoder = ContentDecoder([.gzip])
    decoder.feed(Array(repeatElement(Compressed.zeros.member, count: 200).joined()))
    var count = 0
    for _ in 0..<8 {
      let next = try #require(try decoder.next())
      #expect(next.count <= 64 << 10)
      count += next.count
    }
    #expect(count <= 512 << 10)
    while let next = try decoder.next() { count += next.count }
    try decoder.finish()
    #expect(count == 200 * Compressed.zeros.count)
  }
}
