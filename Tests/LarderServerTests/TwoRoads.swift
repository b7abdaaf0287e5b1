import Foundation
import LarderContent
@_spi(Stores) import LarderCore
import LarderCurl
import LarderHTTP
import LarderServer
import LarderTestSupport
import Synchronization

/// Two proxies before one upstream server: one responds at once if it can, the other suspends before everything.
final class TwoRoads: Sendable {
  let short: Road
  let long: Road
  let upstream: ScriptedServer
  let clock = Clock()

  /// - Parameter handler: the upstream server's response; `date` is the clock's, for `Date`.
  init(handler: @escaping @Sendable (_ request: ScriptedServer.Request, _ date: String) -> ScriptedServer.Response)
    throws
  {
    let clock = clock
    upstream = try ScriptedServer { handler($0, HTTPDate.text(clock.now / 1000)) }
    short = try Road(upstream, respondsAtOnce: true) { clock.now }
    long = try Road(upstream, respondsAtOnce: false) { clock.now }
  }

  func stop() async {
    await short.stop()
    await long.stop()
    upstream.stop()
  }

  /// Milliseconds that pass when the test says so, from a time in 2027.
  final class Clock: Sendable {
    private let time = Atomic<Int64>(1_800_000_000_000)
    var now: Int64 { time.load(ordering: .relaxed) }
    func pass(seconds: Int64) { time.add(seconds * 1000, ordering: .relaxed) }
  }

  /// One of the proxies.
  final class Road: Sendable {
    let server: HTTPServer
    private let records = Lines("records")
    private let immediate = Lines("answers at once")
    private let engine: HTTPCache
    private let transport: CurlTransport

    init(_ upstream: ScriptedServer, respondsAtOnce: Bool, now: @escaping @Sendable () -> Int64) throws {
      var transportOptions = CurlTransport.Options()
      transportOptions.decodesContent = false
      transportOptions.userAgent = nil
      transport = try CurlTransport(transportOptions)
      var engineOptions = HTTPCacheOptions()
      engineOptions.environment = .at(now)
      engine = HTTPCache(cache: MemoryCache(), transport: transport, options: engineOptions)
      var options = CachingProxy.Options()
      let (records, immediate) = (records, immediate)
      options.onExchange = { record in
        records.add(
          "\(record.client) \(record.method) \(record.target) \(record.status) \(record.contentBytes) "
            + "\(record.isComplete) \(record.cacheStatus)")
      }
      let proxy = CachingProxy(engine, upstream: try Upstream(upstream.url("")), options: options)
      var atOnce: HTTPServer.ImmediateResponder?
      if respondsAtOnce {
        atOnce = { request in
          let response = proxy.respondAtOnce(to: request)
          if response != nil { immediate.add("\(request.method) \(request.target)") }
          return response
        }
      }
      server = try HTTPServer(.patient, atOnce: atOnce) { request in
        if !respondsAtOnce { await Task.yield() }
        return await proxy.respond(to: request)
      }
    }

    /// What was logged, once that many exchanges have been.
    func log(_ count: Int) async throws -> [String] { try await records.wait(for: count).map(withoutPort) }

    /// The requests that were served at once.
    var respondedAtOnce: [String] { immediate.all }

    /// Sends a text in which `PORT` stands for the server's, and returns all bytes of the response.
    func bytes(_ text: String) async throws -> String {
      let client = try RawClient(port: server.port)
      try await client.send(text.replacing(":PORT", with: ":\(server.port)"))
      let bytes = String(decoding: try await client.readToEnd(), as: UTF8.self)
      await engine.settled()
      return withoutPort(withoutTime(bytes))
    }

    /// The server's own responses are dated by the system's clock.
    private func withoutTime(_ text: String) -> String {
      text.components(separatedBy: "\r\n").map { line in
        guard line.hasPrefix("Date: "), let date = HTTPDate.unixTime(String(line.dropFirst(6))) else { return line }
        return abs(Double(date) - Date().timeIntervalSince1970) < 3600 ? "Date: now" : line
      }.joined(separator: "\r\n")
    }

    /// Nothing else of the two may differ.
    private func withoutPort(_ text: String) -> String { text.replacing(":\(server.port)", with: ":PORT") }

    func stop() async {
      await server.stop()
      await engine.close()
      await transport.close()
    }
  }
}

/// Lines from any thread, in their order.
final class Lines: Sendable {
  private let lines = Mutex<[String]>([])
  private let count: Tally

  init(_ name: String) { count = Tally(name) }

  func add(_ line: String) {
    lines.withLock { $0.append(line) }
    count.add()
  }

  var all: [String] { lines.withLock { $0 } }

  func wait(for count: Int) async throws -> [String] {
    try await self.count.wait(for: count)
    return all
  }
}
