import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

/// Compared with a model: a representation as an array of bytes, and a server that sends slices of it.
@Suite("Partial content against a model", .timeLimit(.minutes(5)))
struct PartialModelTests {
  typealias Generator = PrintedSeed

  static func range(below length: Int, _ generator: inout Generator) -> Range<Int> {
    let start = Int.random(in: 0..<length, using: &generator)
    return start..<Int.random(in: (start + 1)...length, using: &generator)
  }

  static func rangeField(_ length: Int, _ generator: inout Generator) -> String {
    let specs = (0..<Int.random(in: 1...4, using: &generator)).map { _ -> String in
      let range = range(below: length + 5, &generator)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: return "-\(range.count)"
      case 1: return "\(range.lowerBound)-"
      default: return "\(range.lowerBound)-\(range.upperBound - 1)"
      }
    }
    return "bytes=" + specs.joined(separator: ",")
  }

  /// All positions that a Range field requests.
  static func positions(_ field: String, length: Int) throws -> Set<Int> {
    var selected: Set<Int> = []
    for spec in try #require(RangeField(field)).specs {
      switch spec {
      case .suffix(let count): selected.formUnion(max(0, length - count)..<length)
      case .span(let first, let last): if first < length { selected.formUnion(first...min(last, length - 1)) }
      }
    }
    return selected
  }

  /// The parts of a multipart, or the content as the one part that it is.
  static func parts(of response: PartialResponse, _ content: [UInt8]) throws -> [(Range<Int>, [UInt8])] {
    if let text = response.fields["Content-Range"] {
      guard case .part(let range, _)? = ContentRange(text) else { throw PartialTestError.notInParts }
      return [(range, content)]
    }
    return try PartialSamples.text(content).components(separatedBy: "--cut").compactMap { part in
      guard let head = part.range(of: "\r\n\r\n"), let place = part.range(of: "Content-Range: ") else { return nil }
      let value = part[place.upperBound...].prefix { $0 != "\r\n" }
      guard case .part(let range, _)? = ContentRange(String(value)) else { throw PartialTestError.notInParts }
      return (range, Array(part[head.upperBound...].utf8.dropLast(2)))
    }
  }

  @Test("for any request and any stored parts: the slices are the model's, or the request is for what is missing")
  func responses() throws {
    var generator = PrintedSeed(for: "PartialModelTests.answers")
    var counts: [String: Int] = [:]
    for _ in 0..<4000 {
      let length = Int.random(in: 1...600, using: &generator)
      let model = PartialSamples.bytes(length)
      var stored = ByteRangeSet()
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        stored = stored.union(Self.range(below: length, &generator))
      }
      if Int.random(in: 0..<3, using: &generator) == 0 { stored = ByteRangeSet([0..<length]) }
      let isWhole = stored.contains(0..<length)
      let entry =
        isWhole ? PartialSamples.whole(model) : PartialSamples.parts(stored.ranges, of: model, length: length)
      var field = Self.rangeField(length, &generator)
      if Bool.random(using: &generator), let some = stored.ranges.randomElement(using: &generator) {
        let within = some.lowerBound..<Int.random(in: (some.lowerBound + 1)...some.upperBound, using: &generator)
        field = "bytes=\(within.lowerBound)-\(within.upperBound - 1)"
      }
      let requested = try Self.positions(field, length: length)
      switch RangeOutcome.of(["Range": field], entry, boundary: "cut") {
      case .respond(let response) where response.status == 206:
        counts["206", default: 0] += 1
        let content = PartialSamples.content(response, from: entry.bytesInMemory ?? [])
        var sent: Set<Int> = []
        for (range, bytes) in try Self.parts(of: response, content) {
          #expect(bytes == Array(model[range]), "\(field)")
          sent.formUnion(range)
        }
        #expect(sent.isSuperset(of: requested), "\(field)")
      case .respond(let response):
        counts["416", default: 0] += 1
        #expect(response.status == 416 && requested.isEmpty)
      case .fetch(let fetch):
        counts["fetch", default: 0] += 1
        let text = try #require(fetch.fields["Range"])
        let fetched = try Self.positions(text, length: length)
        #expect(requested.subtracting(stored.ranges.joined()).isSubset(of: fetched), "\(field)")
      case .forward:
        counts["forward", default: 0] += 1
        #expect(!isWhole)
      case .whole: Issue.record("\(field) of \(length) bytes was ignored")
      }
    }
    print("PartialModelTests.answers: \(counts)")
    #expect(counts["206", default: 0] > 500 && counts["fetch", default: 0] > 500)
  }

  @Test("whatever is fetched and however it breaks off: what is stored is the model's, and in the end all of it")
  func sequences() throws {
    var generator = PrintedSeed(for: "PartialModelTests.sequences")
    var steps = 0
    for _ in 0..<300 {
      let length = Int.random(in: 1...400, using: &generator)
      let model = PartialSamples.bytes(length)
      let knowsLength = Bool.random(using: &generator)
      let first = Self.range(below: length, &generator)
      var entry = PartialSamples.parts([first], of: model, length: knowsLength ? length : nil)
      if first == 0..<length, knowsLength { entry = PartialSamples.whole(model) }
      while entry.metadata.content != .whole {
        steps += 1
        var request: HTTPFields = [:]
        if Bool.random(using: &generator) { request["Range"] = Self.rangeField(length, &generator) }
        let outcome = RangeOutcome.of(request, entry, boundary: "cut")
        var range = Self.range(below: length, &generator)
        if case .fetch(let fetch) = outcome, let text = fetch.fields["Range"],
          case .ranges(let ranges)? = RangeField(text)?.resolved(length: length)
        {
          range = try #require(ranges.first)
        }
        let part = ReceivedPart(range: range, length: Bool.random(using: &generator) ? length : nil)
        let count =
          Int.random(in: 0..<3, using: &generator) == 0
          ? Int.random(in: 1...range.count, using: &generator) : range.count
        let response = PartialSamples.response(range, part.length)
        let received = try #require(part.prefix(count))
        let combination = try #require(Combination(entry, with: received, response, StoredRules(response)))
        let bytes = PartialSamples.content(
          combination, stored: entry.bytesInMemory ?? [], received: Array(model[range].prefix(count)))
        entry = CacheEntry(metadata: combination.metadata, bytes: bytes)
        try Self.check(entry, model)
      }
      #expect(entry.metadata.status == 200)
      #expect(entry.bytesInMemory == model)
    }
    print("PartialModelTests.sequences: \(steps) combinations")
  }

  static func check(_ entry: CacheEntry, _ model: [UInt8]) throws {
    switch entry.metadata.content {
    case .whole: #expect(entry.bytesInMemory == model)
    case .parts(let ranges, _):
      _ = try #require(ByteRangeSet(stored: ranges, count: entry.length))
      #expect(entry.bytesInMemory == ranges.flatMap { model[$0] })
    }
  }
}
