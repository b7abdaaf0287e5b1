import Testing

@testable import LarderOData

@Suite("Hostile and broken payloads", .timeLimit(.minutes(5)))
struct PayloadRobustnessTests {
  static let samples = [
    ##"{"@odata.context":"#C(ID,O(ID))","value":[{"ID":"é","O":[{"ID":"1"}],"A":{"B":["x",null]},"O@odata.count":3}],"@odata.count":1}"##,
    ##"{"d":{"results":[{"__metadata":{"uri":"u","type":"N.T"},"N":"x","L":{"__deferred":{"uri":"l"}}}],"__count":"1"}}"##,
    ##"{"@odata.context":"#C/$delta","value":[{"@removed":{"reason":"deleted"},"@id":"i"}],"@odata.deltaLink":"d"}"##,
    ##"{"error":{"code":"c","message":"m","details":[{"code":"d","message":"n"}]}}"##,
    ##"{"d":{"Name":{"__metadata":{"type":"N.P"},"City":"B"}}}"##,
  ]

  @Test("A payload truncated at any byte is rejected with its position", arguments: samples)
  func truncated(text: String) {
    let bytes = Array(text.utf8)
    for end in 0..<bytes.count {
      guard case .failure(let error)? = outcome([Array(bytes[..<end])]) else {
        Issue.record("truncated at \(end) was taken")
        continue
      }
      #expect(error.offset <= end)
      #expect(error.path.hasPrefix("$"))
    }
  }

  @Test("A payload split into chunks at any byte is the same", arguments: samples)
  func chunks(text: String) throws {
    let bytes = Array(text.utf8)
    let whole = try readPayload([bytes])
    for border in 0...bytes.count {
      #expect(try readPayload([Array(bytes[..<border]), Array(bytes[border...])]) == whole, "border \(border)")
    }
    #expect(try readPayload(bytes.map { [$0] }) == whole)
  }

  @Test(
    "With any byte changed, the result is a payload or an error, never a crash, and the same in chunks",
    arguments: samples)
  func flipped(text: String) {
    let seed: UInt64 = 7
    print("seed \(seed)")
    var generator = SplitMix(state: seed)
    let bytes = Array(text.utf8)
    for place in bytes.indices {
      for replacement in Array(##"{}[]":,0 \@_d"##.utf8) + [0x00, 0xFF, 0xC3] {
        var changed = bytes
        changed[place] = replacement
        let whole = outcome([changed])
        #expect(whole != nil)
        if place % 3 == 0, case .success? = whole {
          #expect(outcome(randomChunks(changed, using: &generator)) == whole, "\(place) \(replacement), seed \(seed)")
        }
      }
    }
  }

  @Test(
    "A hundred thousand levels are rejected",
    arguments: ["[", ##"{"a":"##, ##"{"value":["##, ##"{"d":"##, ##"{"d":{"results":[{"a":"##])
  func deep(opening: String) {
    let text = String(repeating: opening, count: 100_000)
    guard case .failure(let error)? = outcome([Array(text.utf8)]) else {
      Issue.record("not rejected")
      return
    }
    #expect(error.problem == .json(.tooDeep(limit: 100)))
  }

  @Test("Levels below the limit are read", arguments: [1, 100])
  func nested(depth: Int) throws {
    let text =
      String(repeating: ##"{"@odata.id":"i","N":"##, count: depth) + "null" + String(repeating: "}", count: depth)
    var entity = try #require(try readPayload(text).entity)
    var count = 1
    while let next = entity.navigationLinks.first?.entity {
      entity = next
      count += 1
    }
    #expect(count == depth)
  }

  @Test("Repeated names are rejected with their position")
  func duplicates() {
    let text = ##"{"value":[{"a":"1"},{"b":{"c":"1","c":"2"}}]}"##
    guard case .failure(let error)? = outcome([Array(text.utf8)]) else {
      Issue.record("not rejected")
      return
    }
    #expect(error == PayloadError(.duplicateName("c"), offset: 35, path: "$.value[1].b.c"))
  }

  @Test(
    "Repeated names are rejected in documents of every kind",
    arguments: [
      ##"{"ID":1,"ID":2}"##, ##"{"@odata.context":"$metadata#A(1)/B","value":1,"value":2}"##,
      ##"{"@odata.context":"$metadata#A","value":[],"value":[]}"##, ##"{"@odata.id":"A(1)","@odata.id":"A(2)"}"##,
      ##"{"@odata.context":"$metadata#$ref","@odata.id":"A(1)","a":1,"a":2}"##,
      ##"{"value":[{"@odata.id":"A(1)","a":1,"a":2}],"@odata.context":"$metadata#Collection($ref)"}"##,
    ])
  func duplicatesInDocuments(_ text: String) {
    guard case .failure(let error)? = outcome([Array(text.utf8)]) else {
      Issue.record("not rejected")
      return
    }
    guard case .duplicateName = error.problem else {
      Issue.record("\(error)")
      return
    }
  }

  @Test("An object larger than the limit, and too many names, are rejected")
  func limits() {
    var options = PayloadOptions()
    options.maximumObjectBytes = 1 << 16
    let long = ##"{"a":""## + String(repeating: "x", count: 3 << 20) + ##""}"##
    guard case .failure(let error)? = outcome([Array(long.utf8)], options: options) else {
      Issue.record("not rejected")
      return
    }
    #expect(error.problem == .json(.tokenTooLong(limit: 1 << 16)) || error.problem == .objectTooLarge(limit: 1 << 16))
    let names = "{" + (0..<70_000).map { ##""n\##($0)":1"## }.joined(separator: ",") + "}"
    guard case .failure(let tooMany)? = outcome([Array(names.utf8)]) else {
      Issue.record("not rejected")
      return
    }
    #expect(tooMany.problem == .tooManyNames(limit: 65_536))
  }

  /// Counts events and keeps nothing.
  final class Counter: PayloadHandlerBase {
    var entities = 0
    var scalars = 0
    var ended = false
    override func endPayload() { ended = true }
    override func beginEntity(_ name: PayloadName?, role: PayloadEntityRole, typeName: String?) { entities += 1 }
    override func property(_ name: PayloadName, _ scalar: PayloadScalar) throws { scalars += 1 }
  }

  @Test("Fifty megabytes are streamed: every row is reported, and the buffer holds only a few chunks")
  func stream() throws {
    let counter = Counter()
    var reader = JSONPayloadReader()
    try reader.read(Array(##"{"d":{"results":["##.utf8), into: counter)
    let rows = 250_000
    let row =
      ##"{"__metadata":{"uri":"http://host/service/Things('x')","type":"N.Thing"},"ID":12345,"Name":"A name of some length","Price":"12.50","Text":"Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do"}"##
    var chunk: [UInt8] = []
    var largest = 0
    for number in 0..<rows {
      if number > 0 { chunk.append(UInt8(ascii: ",")) }
      chunk.append(contentsOf: row.utf8)
      if chunk.count > 1 << 16 {
        try reader.read(chunk, into: counter)
        chunk.removeAll(keepingCapacity: true)
        largest = max(largest, reader.bufferedBytes)
      }
    }
    try reader.read(chunk + Array("]}}".utf8), into: counter)
    try reader.finish(into: counter)
    #expect(rows * row.utf8.count > 45 << 20)
    #expect(counter.entities == rows)
    #expect(counter.scalars == rows * 4)
    #expect(counter.ended)
    #expect(largest < 1 << 18)
  }
}
