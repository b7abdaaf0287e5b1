import Foundation
import LarderCurl
import LarderHTTP
import LarderTestSupport
import LarderURLSession
import Synchronization
import Testing

@Suite("Against nginx", .timeLimit(.minutes(5)))
final class RealServerTests {
  let nginx: Nginx

  init() throws { nginx = try Nginx.start() }

  deinit { nginx.stop() }

  private func run(
    _ change: (inout CurlTransport.Options) -> Void = { _ in }, _ body: (any HTTPTransport) async throws -> Void
  ) async throws {
    try await Rig.curl.run(
      {
        $0.certificateAuthorities = [.file(nginx.path("ca.pem"))]
        change(&$0)
      }, body)
  }

  @Test("HTTP/2 if the server offers it, HTTP/1.1 if it does not or HTTP/2 is disabled")
  func versions() async throws {
    let http2 = try nginx.url(nginx.http2Port, "/echo")
    let http1 = try nginx.url(nginx.http1Port, "/echo")
    try await run { transport async throws in
      let merge = HTTPRequest(method: .merge, url: http2)
      #expect(try await transport.exchange(HTTPRequest(url: http2)).content.hasPrefix("HTTP/2.0 GET TLSv1.3"))
      #expect(try await transport.exchange(merge).content.hasPrefix("HTTP/2.0 MERGE"))
      #expect(try await transport.exchange(HTTPRequest(method: .head, url: http2)).content == "")
      #expect(try await transport.exchange(HTTPRequest(url: http1)).content.hasPrefix("HTTP/1.1 GET TLSv1.2"))
    }
    try await run({ $0.highestVersion = .http11 }) { transport async throws in
      #expect(try await transport.exchange(HTTPRequest(url: http2)).content.hasPrefix("HTTP/1.1 GET"))
    }
  }

  @Test("An unknown CA, a wrong server name, a server without TLS")
  func trust() async throws {
    let good = try nginx.url(nginx.http1Port, "/echo")
    try await Rig.curl.run { transport async throws in
      #expect(name(await failure(of: transport, HTTPRequest(url: good))) == "tls")
    }
    try await Rig.curl.run({ $0.certificateAuthorities = [.file(nginx.path("other.pem"))] }) { transport async throws in
      #expect(name(await failure(of: transport, HTTPRequest(url: good))) == "tls")
    }
    let wrongName = try nginx.url(nginx.http1Port, "/echo", host: "127.0.0.1")
    let plain = try nginx.url(nginx.plainPort, "/echo")
    let pem = try Data(contentsOf: URL(fileURLWithPath: nginx.path("ca.pem")))
    try await run({ $0.certificateAuthorities = [.bytes(Array(pem))] }) { transport async throws in
      #expect(name(await failure(of: transport, HTTPRequest(url: wrongName))) == "tls")
      #expect(name(await failure(of: transport, HTTPRequest(url: plain))) == "tls")
      #expect(try await transport.exchange(HTTPRequest(url: good)).response.status == 200)
    }
  }

  @Test("URLSession checks certificates too, and reports unsupported options")
  func sessionTrust() async throws {
    let url = try nginx.url(nginx.http1Port, "/echo")
    try await Rig.urlSession.run { transport async throws in
      let error = await failure(of: transport, HTTPRequest(url: url))
      #expect(name(error) == "tls", "\(String(describing: error))")
    }
    var options = URLSessionTransport.Options()
    options.certificateAuthorities = [[1]]
    #expect(throws: HTTPTransportError.self) { try URLSessionTransport(options) }
    options = URLSessionTransport.Options()
    options.clientCertificate = [1]
    #expect(throws: HTTPTransportError.self) { try URLSessionTransport(options) }
  }

  @Test("A client certificate: PEM in two files, PEM as bytes in one, an encrypted key, PKCS #12")
  func clientCertificates() async throws {
    let url = try nginx.url(nginx.clientPort, "/echo")
    let both = try ["client.pem", "client.key"].flatMap {
      try Array(Data(contentsOf: nginx.folder.appending(path: $0)))
    }
    let file = { [nginx] (name: String) in CurlTransport.Credential.file(nginx.path(name)) }
    let certificates: [CurlTransport.ClientCertificate] = [
      .init(certificate: file("client.pem"), key: file("client.key")), .init(certificate: .bytes(both)),
      .init(certificate: file("client.pem"), key: file("locked.key"), passphrase: "secret"),
      .init(certificate: file("client.p12"), format: .pkcs12, passphrase: "secret"),
    ]
    for certificate in certificates {
      try await run({ $0.clientCertificate = certificate }) { transport async throws in
        let (response, content) = try await transport.exchange(HTTPRequest(url: url))
        #expect(response.status == 200 && content.hasSuffix("CN=client"))
      }
    }
    try await run { transport async throws in
      #expect(try await transport.exchange(HTTPRequest(url: url)).response.status == 400)
    }
    for passphrase in [nil, "wrong"] {
      try await run({
        $0.clientCertificate = .init(certificate: file("client.pem"), key: file("locked.key"), passphrase: passphrase)
      }) { transport async throws in
        #expect(name(await failure(of: transport, HTTPRequest(url: url))) == "tls")
      }
    }
    var options = CurlTransport.Options()
    options.clientCertificate = .init(certificate: file("missing.pem"))
    #expect(throws: HTTPTransportError.self) { try CurlTransport(options) }
  }

  @Test(
    "A client certificate is sent only to its own origin: not to another after a redirect, nor if the request disables it"
  )
  func certificateAudience() async throws {
    let service = try nginx.url(nginx.clientPort, "/echo")
    let certificate = CurlTransport.ClientCertificate(
      certificate: .file(nginx.path("client.pem")), key: .file(nginx.path("client.key")))
    try await run({ $0.clientCertificate = certificate }) { transport async throws in
      func shown(_ url: URL, _ audience: HTTPCertificateAudience = .requested) async throws -> Bool {
        var request = HTTPRequest(url: url)
        request.certificateAudience = audience
        let (response, content) = try await transport.exchange(request)
        #expect(response.url == service && (response.status == 200) == content.hasSuffix("CN=client"))
        return response.status == 200
      }
      // In turns, for a kept connection has an identity.
      for _ in 0..<2 {
        #expect(try await shown(service))
        #expect(try await !shown(try nginx.url(nginx.http1Port, "/client")), "another origin leads there")
        #expect(try await shown(try nginx.url(nginx.clientPort, "/client")), "its own leads there")
        #expect(try await !shown(service, .origin(try nginx.url(nginx.http1Port, "/"))), "a link of another service")
        #expect(try await shown(try nginx.url(nginx.http1Port, "/client"), .origin(service)))
        #expect(try await !shown(service, .none))
      }
    }
  }

  @Test("Compressed content is decoded, and the fields do not mention the coding", arguments: Rig.allCases)
  func gzip(rig: Rig) async throws {
    let url = try nginx.url(nginx.plainPort, "/text", scheme: "http")
    try await rig.run { transport async throws in
      let (response, content) = try await transport.exchange(HTTPRequest(url: url))
      #expect(content.utf8.count == 4_200_000 && content.hasPrefix("compress me"))
      #expect(!response.fields.contains(.contentEncoding) && !response.fields.contains(.contentLength))
      #expect(response.body.length == nil)
      if rig == .curl {
        let raw = try await transport.send(HTTPRequest(url: url, fields: ["Accept-Encoding": "gzip"]))
        #expect(raw.fields[.contentEncoding] == "gzip")
        #expect(try await raw.body.collect().starts(with: [0x1F, 0x8B]))
      }
    }
  }

  @Test("A redirect from https to http is rejected")
  func downgrade() async throws {
    let url = try nginx.url(nginx.http2Port, "/away")
    try await run { transport async throws in
      #expect(name(await failure(of: transport, HTTPRequest(url: url))) == "redirectRejected")
    }
  }

  @Test("Streamed uploads over both versions: known length, unknown length, PUT and read back")
  func uploads() async throws {
    let ports = [nginx.http2Port, nginx.http1Port]
    try await run { transport async throws in
      for port in ports {
        for (index, length) in [nil, 3_000_000, 0].enumerated() {
          let url = try nginx.url(port, "/put/file-\(port)-\(index)")
          let count = length ?? 3_000_000
          let body = HTTPBody.stream(length: length, open: { patternStream(count, chunk: 70_001) })
          let (response, _) = try await transport.exchange(HTTPRequest(method: .put, url: url, body: body))
          #expect((200..<300).contains(response.status))
          let back = try await transport.send(HTTPRequest(url: url)).body.collect()
          // Not as one expectation on both: its report of a difference would take minutes.
          let isSame = back == pattern(0..<count)
          #expect(isSame)
        }
      }
    }
  }

  @Test("Over HTTP/2, a reader that does not read does not block other streams")
  func pausedStream() async throws {
    let big = try nginx.url(nginx.http2Port, "/big")
    let echo = try nginx.url(nginx.http2Port, "/echo")
    try await run { transport async throws in
      let unread = try await transport.send(HTTPRequest(url: big))
      for _ in 0..<5 {
        let quick = HTTPRequest(url: echo, timeouts: HTTPTimeouts(total: .seconds(5)))
        #expect(try await transport.exchange(quick).content.hasPrefix("HTTP/2.0"))
      }
      #expect(try await unread.body.collect().count == 8 << 20)
    }
  }

  @Test("Over HTTP/2, a cancelled stream is reset, and the connection stays for the others")
  func cancelledStreams() async throws {
    let slow = try nginx.url(nginx.http2Port, "/slow")
    let echo = try nginx.url(nginx.http2Port, "/echo?")
    try await run { transport async throws in
      for _ in 0..<10 {
        do { _ = try await transport.send(HTTPRequest(url: slow)) }
        #expect(try await transport.exchange(HTTPRequest(url: echo)).response.status == 200)
      }
      // nginx notes a request when it has ended. On one connection, a reset comes before the next request: all but
      // the last have surely ended, while the connection still stands, and long before their 8 MiB could have been sent.
      let log = try String(contentsOfFile: nginx.path("access.log"), encoding: .utf8).split(separator: "\n")
      let cancelled = log.filter { $0.contains("GET /slow HTTP/2.0") }
      #expect(cancelled.count >= 9)
      #expect(Set(log.compactMap { $0.split(separator: " connection=").last }).count == 1)
    }
  }

  @Test("64 concurrent requests over HTTP/2 and over TLS with HTTP/1.1")
  func concurrent() async throws {
    for port in [nginx.http2Port, nginx.http1Port] {
      let url = try nginx.url(port, "/big")
      try await run { transport async throws in
        try await withThrowingTaskGroup(of: Int.self) { group in
          for _ in 0..<64 {
            group.addTask {
              var count = 0
              for try await chunk in try await transport.send(HTTPRequest(url: url)).body { count += chunk.count }
              return count
            }
          }
          for try await count in group { #expect(count == 8 << 20) }
        }
      }
    }
  }
}

/// Bytes that encode their place.
func pattern(_ range: Range<Int>) -> [UInt8] { range.map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

/// A stream of `count` such bytes.
func patternStream(_ count: Int, chunk: Int) -> HTTPBodyStream {
  let offset = Mutex(0)
  return HTTPBodyStream(next: {
    offset.withLock { offset in
      guard offset < count else { return nil }
      let end = min(count, offset + chunk)
      defer { offset = end }
      return pattern(offset..<end)
    }
  })
}
