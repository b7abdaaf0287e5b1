import LarderCurl
import LarderHTTP
import LarderTestSupport
import Testing

// Only on libcurl: URLSession always decodes content.
@Suite("Compressed responses", .timeLimit(.minutes(5)))
struct CompressedResponseTests {
  private func gzip(_ bytes: [UInt8], _ status: Int = 200, coding: String = "gzip") -> ScriptedServer.Response {
    .response(status, fields: ["Content-Encoding": coding, "ETag": "\"1\""], bytes: bytes)
  }

  @Test("Complete: decoded, and the fields do not mention the coding")
  func whole() async throws {
    let scripted = gzip(Compressed.gzip)
    try await withServer({ _ in scripted }) { server async throws in
      try await Rig.curl.run { transport async throws in
        let (response, content) = try await transport.exchange(HTTPRequest(url: server.url))
        #expect(Array(content.utf8) == Compressed.text)
        #expect(!response.fields.contains(.contentEncoding) && !response.fields.contains(.contentLength))
        #expect(response.fields["ETag"] == "\"1\"" && response.body.length == nil)
      }
      #expect(server.requests.map { $0.fields["Accept-Encoding"] } == ["gzip, deflate"])
    }
  }

  @Test("Truncated although the message is complete: an error, by length and in chunks")
  func truncated() async throws {
    for count in [1, 2, 10, 60, Compressed.gzip.count - 1] {
      let bytes = Array(Compressed.gzip.prefix(count))
      let responses = [gzip(bytes), chunked(bytes)]
      try await withServer({ responses[$0.index] }) { server async throws in
        try await Rig.curl.run { transport async throws in
          for _ in responses {
            let error = await failure(of: transport, HTTPRequest(url: server.url))
            #expect(error == .connectionLost(reason: "the gzip content is truncated"))
            #expect(error?.isTransient == true)
          }
        }
      }
    }
  }

  private func chunked(_ bytes: [UInt8]) -> ScriptedServer.Response {
    .response(200, fields: ["Content-Encoding": "gzip", "Transfer-Encoding": "chunked"], bytes: bytes)
  }

  @Test("Damaged: an error, and the transport serves the next request")
  func damaged() async throws {
    var bytes = Compressed.gzip
    bytes[40] ^= 0x10
    let responses = [gzip(bytes), gzip(Compressed.gzip + [1, 2]), gzip(Compressed.gzip)]
    try await withServer({ responses[$0.index] }) { server async throws in
      try await Rig.curl.run { transport async throws in
        for _ in 0..<2 {
          #expect(name(await failure(of: transport, HTTPRequest(url: server.url))) == "protocolViolation")
        }
        #expect(Array(try await transport.exchange(HTTPRequest(url: server.url)).content.utf8) == Compressed.text)
      }
    }
  }

  @Test("Without content, nothing is decoded: HEAD, 204, 304, and an empty 200", arguments: [200, 204, 304])
  func bodiless(status: Int) async throws {
    let scripted = gzip([], status)
    try await withServer({ _ in scripted }) { server async throws in
      try await Rig.curl.run { transport async throws in
        for method in [HTTPMethod.get, .head] {
          let request = HTTPRequest(method: method, url: server.url)
          let (response, content) = try await transport.exchange(request)
          #expect(response.status == status && content.isEmpty && response.body.length == 0)
        }
      }
    }
    try await withServer({ _ in .chunked(fields: ["Content-Encoding": "gzip"], pieces: []) }) { server async throws in
      try await Rig.curl.run { transport async throws in
        #expect(try await transport.exchange(HTTPRequest(url: server.url)).content.isEmpty)
      }
    }
  }

  @Test("An unknown coding is left unchanged, with its field", arguments: ["br", "zstd", "zebra", "gzip, br"])
  func unknown(coding: String) async throws {
    try await undecoded(gzip(Compressed.gzip, coding: coding), [:], coding: coding, accepted: "gzip, deflate")
  }

  @Test("With the caller's own Accept-Encoding, or for a part, the bytes are unchanged")
  func callersEncoding() async throws {
    let content = gzip(Array(Compressed.gzip.prefix(20)))
    try await undecoded(content, ["Accept-Encoding": "br, gzip"], coding: "gzip", accepted: "br, gzip")
    let part = gzip(Array(Compressed.gzip[5..<30]), 206)
    try await undecoded(part, ["Range": "bytes=5-29"], coding: "gzip", accepted: "identity")
  }

  @Test("A transport without decoding requests no coding and returns all bytes")
  func handedOn() async throws {
    var options = CurlTransport.Options()
    options.decodesContent = false
    options.userAgent = nil
    let transport = try CurlTransport(options)
    try await withServer({ _ in gzip(Compressed.gzip) }) { server async throws in
      let response = try await transport.send(HTTPRequest(url: server.url))
      #expect(response.fields[.contentEncoding] == "gzip")
      #expect(response.fields[.contentLength] == "\(Compressed.gzip.count)")
      #expect(try await response.body.collect() == Compressed.gzip)
      #expect(server.requests.map { Array($0.fields).map(\.name.canonicalName) } == [["host"]])
    }
    await transport.close()
  }

  private func undecoded(
    _ scripted: ScriptedServer.Response, _ fields: HTTPFields, coding: String, accepted: String
  ) async throws {
    try await withServer({ _ in scripted }) { server async throws in
      try await Rig.curl.run { transport async throws in
        let response = try await transport.send(HTTPRequest(url: server.url, fields: fields))
        let content = try await response.body.collect()
        #expect(response.fields[.contentEncoding] == coding)
        #expect(response.fields[.contentLength] == String(content.count))
        #expect(!content.isEmpty && Compressed.gzip.firstRange(of: content) != nil)
      }
      #expect(server.requests.map { $0.fields["Accept-Encoding"] } == [accepted])
    }
  }

  @Test("400 MiB of zeros in 2.6 MB need little memory, read in part or completely")
  func bomb() async {
    // In a process of its own: what other tests hold at the time is not counted.
    await #expect(processExitsWith: .success) { try await readBomb() }
  }
}

private func readBomb() async throws {
  let (count, member) = Compressed.zeros
  let scripted = ScriptedServer.Response.large(fields: ["Content-Encoding": "gzip"], pattern: member, times: 200)
  try await withServer({ _ in scripted }) { server async throws in
    try await Rig.curl.run { transport async throws in
      let before = try residentMemory().highest
      do {
        var stopping = try await transport.send(HTTPRequest(url: server.url)).body.makeAsyncIterator()
        for _ in 0..<4 {
          let chunk = try await stopping.next()
          #expect(chunk?.count ?? .max <= 64 << 10)
        }
      }
      // The reader has left: the transfer ends, though most of the content is not read.
      try await server.waitForClosedConnections(1)
      var read = 0
      for try await chunk in try await transport.send(HTTPRequest(url: server.url)).body { read += chunk.count }
      #expect(read == 200 * count)
      let growth = try residentMemory().highest - before
      #expect(growth < 24 << 20, "grew by \(growth >> 20) MiB")
    }
  }
}
