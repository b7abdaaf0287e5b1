import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("Offline store: very large responses, and keys that are nearly the same", .timeLimit(.minutes(5)))
struct LargeResponseTests {
  @Test("a page of a hundred thousand rows, and a row of twenty megabytes")
  func large() async throws {
    let rig = try await FaultRig()
    let rows = (1...100_000).map { "{\"ID\":\($0),\"Text\":\"t\"}" }.joined(separator: ",")
    #expect(await rig.download { _ in FaultyService.json("{\"value\":[\(rows)]}") } == nil)
    #expect(try await rig.store.text("Rows/$count").hasSuffix("100000"))
    let text = String(repeating: "é", count: 10 << 20)
    let error = await rig.download { _ in FaultyService.json("{\"value\":[{\"ID\":1,\"Text\":\"\(text)\"}]}") }
    #expect(error == nil, "\(error.debugDescription)")
    #expect(try await rig.texts() == [text])
    #expect(try await rig.store.text("Rows/$count?$filter=length(Text) eq \(10 << 20)").hasSuffix("1"))
    try await rig.end()
  }

  @Test("a compressed response that expands to hundreds of megabytes in one value is rejected, with bounded memory")
  func bomb() async throws {
    let rig = try await FaultRig()
    var bits = DeflateBits()
    bits.literals("{\"value\":[{\"ID\":1,\"Text\":\"xx")
    for _ in 0..<1_200_000 { bits.repeatLast258() }
    let member = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + bits.bytes
    let fields: HTTPFields = [
      .contentType: "application/json", .odataVersion: "4.0", "Content-Encoding": "gzip",
    ]
    let before = try residentMemory().highest
    let error = await rig.download { _ in .response(200, fields: fields, bytes: member) }
    #expect(error?.name == .malformedResponse, "\(error.debugDescription)")
    let grown = try residentMemory().highest - before
    print("300 MB unfolded: \(grown >> 20) MB more")
    #expect(grown < 300 << 20)
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test("one property twice in a row is rejected; one key twice in a response is the later row, also pages apart")
  func twice() async throws {
    let rig = try await FaultRig()
    let double = await rig.download { _ in FaultyService.json("{\"value\":[{\"ID\":1,\"Text\":\"a\",\"Text\":\"b\"}]}")
    }
    #expect(double?.name == .malformedResponse, "\(double.debugDescription)")
    #expect(try await rig.texts() == [String](repeating: "v1", count: 5))
    let apart = await rig.download { request in
      request.query?.contains("skip") == true
        ? FaultyService.json("{\"value\":[{\"ID\":1,\"Text\":\"late\"},{\"ID\":3,\"Text\":\"c\"}]}")
        : FaultyService.json(
          "{\"value\":[{\"ID\":1,\"Text\":\"a\"},{\"ID\":2,\"Text\":\"b\"},{\"ID\":1,\"Text\":\"again\"}],"
            + "\"@odata.nextLink\":\"Rows?skip=1\"}")
    }
    #expect(apart == nil, "\(apart.debugDescription)")
    #expect(try await rig.texts() == ["late", "b", "c"])
    try await rig.end()
  }

  @Test("keys that differ in case, in normalisation, in a space, in nothing that is seen, are keys of different rows")
  func keys() async throws {
    let rig = try await FaultRig()
    rig.service.metadata = FaultyService.metadata()
      .replacing("Name=\"ID\" Type=\"Edm.Int32\"", with: "Name=\"ID\" Type=\"Edm.String\"")
    let keys = [
      "a", "A", "ä", "a\u{308}", "Ä", "ß", "ss", "a ", " a", "", "a\u{200B}", "ａ", "ﬁ", "fi", "1", "1.0", "01", "a'b",
      "a''b",
      "null", "i", "İ", "ı", "\u{0}", "a/b", "a%2Fb", "𝄞",
    ]
    func json(_ text: String) -> String {
      String(decoding: (try? JSONEncoder().encode(text)) ?? Data(), as: UTF8.self)
    }
    for note in ["first", "second"] {
      let rows = keys.enumerated().map { "{\"ID\":\(json($1)),\"Text\":\"\(note) \($0)\"}" }.joined(separator: ",")
      let error = await rig.download { _ in FaultyService.json("{\"value\":[\(rows)]}") }
      #expect(error == nil, "\(error.debugDescription)")
      #expect(try await rig.store.size("Rows") == Int64(keys.count))
      for (number, key) in keys.enumerated() {
        let quoted = key.replacing("'", with: "''")
        let escaped = quoted.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        #expect(try await rig.store.text("Rows('\(escaped)')/Text/$value") == "\(note) \(number)", "\(key)")
        #expect(try await rig.store.text("Rows/$count?$filter=ID eq '\(escaped)'").hasSuffix("1"), "\(key)")
      }
    }
    try await rig.end()
  }
}

/// Deflate data with the fixed codes (RFC 1951 §3.2.6), bit by bit.
private struct DeflateBits {
  private(set) var bytes: [UInt8] = []
  private var used = 8

  init() { append([1, 1, 0]) }

  private mutating func append(_ bits: [UInt8]) {
    for bit in bits {
      if used == 8 {
        bytes.append(0)
        used = 0
      }
      bytes[bytes.count - 1] |= bit << UInt8(used)
      used += 1
    }
  }

  /// ASCII text, each character by its code of eight bits.
  mutating func literals(_ text: String) {
    for byte in text.utf8 {
      let code = byte &+ 0x30
      append((0..<8).reversed().map { code >> $0 & 1 })
    }
  }

  /// The last character 258 times more.
  mutating func repeatLast258() { append([1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]) }
}
