import LarderCurl
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Transfer codings (RFC 9112 §7)", .timeLimit(.minutes(5)))
struct TransferCodingTests {
  private static func raw(_ codings: String, _ content: [UInt8], fields: String = "") -> ScriptedServer.Response {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(codings)\r\n\(fields)\r\n"
    let chunk = Array("\(String(content.count, radix: 16))\r\n".utf8) + content + Array("\r\n0\r\n\r\n".utf8)
    return .raw(Array(head.utf8) + chunk)
  }

  @Test(
    "gzip and deflate are decoded, with and without content decoding, and are removed from the fields",
    arguments: [
      ("gzip, chunked", Compressed.gzip), ("x-gzip,chunked", Compressed.gzip), ("deflate , Chunked", Compressed.zlib),
    ],
    [true, false])
  func undone(_ coding: (names: String, content: [UInt8]), decodes: Bool) async throws {
    try await withServer({ _ in Self.raw(coding.names, coding.content) }) { server async throws in
      try await Rig.curl.run({ $0.decodesContent = decodes }) { transport async throws in
        let response = try await transport.send(HTTPRequest(url: server.url))
        #expect(try await response.body.collect() == Compressed.text)
        #expect(response.fields.values(of: "Transfer-Encoding") == ["chunked"])
        #expect(response.body.length == nil)
      }
    }
  }

  @Test("Content that is coded twice is decoded twice, the transfer coding first")
  func twice() async throws {
    let deflated = Compressed.member(Compressed.deflate, of: Compressed.text)
    try await withServer({ _ in
      Self.raw("gzip, chunked", Compressed.stored(deflated), fields: "Content-Encoding: gzip\r\n")
    }) { server async throws in
      try await Rig.curl.run { transport async throws in
        #expect(try await transport.exchange(HTTPRequest(url: server.url)).content.utf8.elementsEqual(Compressed.text))
      }
      try await Rig.curl.run({ $0.decodesContent = false }) { transport async throws in
        let response = try await transport.send(HTTPRequest(url: server.url))
        #expect(try await response.body.collect() == deflated)
        #expect(response.fields[.contentEncoding] == "gzip")
      }
    }
  }

  @Test(
    "Codings that cannot be decoded, or leave the end of the content unknown, are errors (RFC 9112 §6.3)",
    arguments: ["compress, chunked", "chunked, gzip", "gzip", "br, chunked", "chunked, chunked"])
  func rejected(codings: String) async throws {
    try await withServer({ _ in Self.raw(codings, Compressed.gzip) }) { server async throws in
      try await Rig.curl.run { transport async throws in
        #expect(name(await failure(of: transport, HTTPRequest(url: server.url))) == "protocolViolation")
      }
    }
  }

  @Test("Content that ends before its transfer coding does is a lost connection")
  func truncated() async throws {
    try await withServer({ _ in Self.raw("gzip, chunked", Array(Compressed.gzip.dropLast(9))) }) {
      server async throws in
      try await Rig.curl.run { transport async throws in
        #expect(name(await failure(of: transport, HTTPRequest(url: server.url))) == "connectionLost")
      }
    }
  }
}
