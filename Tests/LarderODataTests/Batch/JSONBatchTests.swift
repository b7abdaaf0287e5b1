import LarderHTTP
import LarderOData
import LarderTestSupport
import Testing

@Suite("JSON batches are written and read", .timeLimit(.minutes(5)))
struct JSONBatchTests {
  static let parts: [BatchRequestPart] = [
    .single(BatchRequest(id: "0", url: "Products?$top=1", fields: ["Accept": "application/json"])),
    .changeSet([
      BatchRequest(
        id: "1", method: .post, url: "Orders", fields: ["content-type": "application/json;IEEE754Compatible=true"],
        body: Array(#"{ "Total" : 1.10 }"#.utf8), dependsOn: ["0"]),
      BatchRequest(
        id: "2", method: .put, url: "$1/Note/$value", fields: ["content-type": "text/plain"],
        body: Array("a\n\"b\" é".utf8)),
    ]),
    .single(
      BatchRequest(
        id: "3", method: .put, url: "Photo", fields: ["content-type": "image/png"], body: [0xFB, 0xFF, 0x00],
        condition: "$1 ne null")),
  ]

  @Test("The bytes are those of JSON Format 4.01 §19.1")
  func bytes() throws {
    let (body, parts) = try JSONBatchWriter.write(JSONBatchTests.parts)
    #expect(parts == JSONBatchTests.parts)
    let expected =
      #"{"requests":[{"id":"0","method":"get","url":"Products?$top=1","headers":{"accept":"application/json"}},"#
      + #"{"id":"1","atomicityGroup":"group1","dependsOn":["0"],"method":"post","url":"Orders","headers":{"content-type":"application/json;IEEE754Compatible=true"},"body":{ "Total" : 1.10 }},"#
      + #"{"id":"2","atomicityGroup":"group1","method":"put","url":"$1/Note/$value","headers":{"content-type":"text/plain"},"body":"a\n\"b\" é"},"#
      + #"{"id":"3","if":"$1 ne null","method":"put","url":"Photo","headers":{"content-type":"image/png"},"body":"-_8A"}]}"#
    #expect(String(decoding: body, as: UTF8.self) == expected)
  }

  @Test("Written batches are read back")
  func roundTrip() throws {
    let (body, _) = try JSONBatchWriter.write(JSONBatchTests.parts)
    #expect(try JSONBatchReader.requests(body) == JSONBatchTests.parts)
  }

  static let response = #"""
    {"@context":"x","responses" : [ {"status":200,"body":{"a" : [1.10,"}"] ,"\u0062":null},"id":"0","headers":{"Content-Type":"application/json","ETag":"W/\"1\""}},
     {"id":"1","atomicityGroup":"g","status":204,"other":[{"x":[]}]}, {"body":"-_8A","headers":{"content-type":"image/png"},"id":"2","status":200},
     {"id":"3","status":200,"headers":{"content-type":"text/plain"},"body":"a\nb"},{"id":"4","status":404,"body":null}, {"id":"5","status":200,"body":"just \"text\""} ],"tail":{"responses":[]}}
    """#

  static let responses = [
    BatchResponse(
      id: "0", status: 200, fields: ["Content-Type": "application/json", "ETag": "W/\"1\""],
      body: Array(#"{"a" : [1.10,"}"] ,"\u0062":null}"#.utf8)),
    BatchResponse(id: "1", status: 204, atomicityGroup: "g"),
    BatchResponse(id: "2", status: 200, fields: ["content-type": "image/png"], body: [0xFB, 0xFF, 0x00]),
    BatchResponse(id: "3", status: 200, fields: ["content-type": "text/plain"], body: Array("a\nb".utf8)),
    BatchResponse(id: "4", status: 404),
    BatchResponse(id: "5", status: 200, body: Array(#""just \"text\"""#.utf8)),
  ]

  @Test("Members come in any order; JSON contents are returned byte for byte")
  func responses() throws {
    #expect(try JSONBatchReader.responses(Array(JSONBatchTests.response.utf8)) == JSONBatchTests.responses)
  }

  @Test("Split at every position, the items are the same; a truncated batch is an error")
  func chunks() throws {
    let bytes = Array(JSONBatchTests.response.utf8)
    for length in 0...bytes.count {
      var reader = JSONBatchReader()
      let items = try reader.read(Array(bytes[..<length])) + reader.read(Array(bytes[length...])) + reader.finish()
      #expect(items == JSONBatchTests.responses.map(JSONBatchReader.Item.response), "cut at \(length)")
    }
    var reader = JSONBatchReader()
    var items: [JSONBatchReader.Item] = []
    for byte in bytes { items += try reader.read([byte]) }
    #expect(try items + reader.finish() == JSONBatchTests.responses.map(JSONBatchReader.Item.response))
    for length in 0..<bytes.count {
      let error = #expect(throws: BatchError.self, "cut at \(length)") {
        try JSONBatchReader.responses(Array(bytes[..<length]))
      }
      // Truncated after "1.", the number is the problem.
      if error?.problem != .truncated { #expect(bytes[length - 1] == UInt8(ascii: ".")) }
    }
  }

  @Test(
    "Text that is not a JSON batch is a typed error",
    arguments: [
      "", "[]", "{}", "5", "{\"responses\":{}}", "{\"responses\":[5]}", "{\"responses\":[{\"id\":\"1\"}]}",
      "{\"responses\":[{\"id\":\"1\",\"status\":\"x\"}]}",
      "{\"responses\":[{\"id\":\"1\",\"status\":99}]}", "{\"responses\":[],\"responses\":[]}",
      "{\"requests\":[{\"id\":\"1\"}]}", "{\"responses\":[{\"id\":[],\"status\":200}]}",
      "{\"responses\":[{\"id\":\"1\",\"status\":200,\"headers\":{\"a\":[]}}]}",
      "{\"responses\":[{\"id\":\"1\",\"status\":200,\"body\":\"%\",\"headers\":{\"content-type\":\"image/png\"}}]}",
      "{\"responses\":[]} x", "<html>",
    ])
  func rejects(_ text: String) {
    #expect(throws: BatchError.self) { try JSONBatchReader.responses(Array(text.utf8)) }
  }

  @Test("Limits on items, contents and nesting are enforced")
  func limits() throws {
    var limits = BatchLimits()
    limits.parts = 2
    limits.bodyBytes = 100
    let items = Array(repeating: #"{"id":"1","status":200}"#, count: 3).joined(separator: ",")
    #expect(throws: BatchError.self) {
      try JSONBatchReader.responses(Array(#"{"responses":[\#(items)]}"#.utf8), limits: limits)
    }
    var reader = JSONBatchReader(limits: limits)
    _ = try reader.read(Array(#"{"responses":[{"body":["#.utf8))
    #expect(throws: BatchError.self) { for _ in 0..<200 { _ = try reader.read(Array("1,".utf8)) } }
    let deep = #"{"responses":[{"body":"# + String(repeating: "[", count: 100_000)
    #expect(throws: BatchError.self) { try JSONBatchReader.responses(Array(deep.utf8)) }
  }

  @Test("Requests that cannot be written are rejected")
  func invalidRequests() {
    for part in [
      BatchRequestPart.single(BatchRequest(method: .post, url: "A", body: Array("{".utf8))),
      .single(BatchRequest(method: .post, url: "A", body: Array("1,2".utf8))),
      .single(BatchRequest(method: .post, url: "A", fields: ["Content-Type": "text/plain"], body: [0xFF])),
      .single(BatchRequest(url: "")),
      .changeSet([BatchRequest(id: "1", method: .post, url: "A"), BatchRequest(id: "1", method: .post, url: "A")]),
    ] { #expect(throws: BatchError.self) { try JSONBatchWriter.write([part]) } }
  }
}
