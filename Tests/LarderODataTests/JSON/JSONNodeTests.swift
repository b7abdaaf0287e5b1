import Testing

@testable import LarderOData

@Suite("JSON trees and writer", .timeLimit(.minutes(5)))
struct JSONNodeTests {
  @Test("A tree keeps order and the characters of numbers, and is written back unchanged")
  func roundTrip() throws {
    let text = #"{"b":[1.50,-0,1e400,"\"\\\u0000\u001f\n\r\t€"],"a":{"x":null,"y":true},"":[[],{}]}"#
    let node = try JSONNode(Array(text.utf8))
    var writer = JSONWriter()
    writer.node(node)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
    #expect(node["b"]?.items?.first == .number("1.50"))
    #expect(node["a"]?["y"] == .boolean(true))
    #expect(node["missing"] == nil)
  }

  @Test("A name that occurs twice is an error with its position")
  func duplicates() {
    #expect(throws: JSONError(.duplicateName("a"), offset: 8, line: 1, column: 9)) {
      try JSONNode(Array(#"{"a":1,"a":2}"#.utf8))
    }
    #expect(throws: JSONError.self) { try JSONNode(Array(#"[{"a":1,"\u0061":2}]"#.utf8)) }
  }

  @Test("Every truncation and trailing garbage is an error")
  func truncated() {
    let bytes = Array(#"{"a":[1,{"b":"c"}],"d":null}"#.utf8)
    for end in 0..<bytes.count { #expect(throws: JSONError.self) { try JSONNode(Array(bytes[..<end])) } }
    #expect(throws: JSONError.self) { try JSONNode(bytes + [0x31]) }
  }

  @Test("A tree is 128 levels deep at most")
  func depth() throws {
    func text(_ depth: Int) -> [UInt8] {
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    _ = try JSONNode(text(128))
    #expect(throws: JSONError(.tooDeep(limit: 128), offset: 128, line: 1, column: 129)) { try JSONNode(text(129)) }
  }

  @Test("The writer sets commas and colons")
  func writer() {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("a")
    writer.integer(Int64.min)
    writer.name("b")
    writer.beginArray()
    writer.raw("1.0")
    writer.beginObject()
    writer.endObject()
    writer.boolean(false)
    writer.raw([0x5B, 0x5D])
    writer.null()
    writer.endArray()
    writer.endObject()
    #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"a":-9223372036854775808,"b":[1.0,{},false,[],null]}"#)
  }
}
