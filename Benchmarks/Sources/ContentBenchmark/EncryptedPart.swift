import Foundation
import KeyCost
import LarderContent
import LarderHTTP

/// The cost of encryption for the caches: the same requests with and without a key.
enum EncryptedPart {
  static func run(in folder: URL, _ cost: inout KeyCost) async throws {
    try await cost.compare("files", works, rounds: 15) { round, isKeyed in
      let place = folder.appendingPathComponent("\(round)-\(isKeyed)").path
      defer { try? FileManager.default.removeItem(atPath: place) }
      return try await measure(place, isKeyed)
    }
  }

  /// The times are those of one request. Large content has no limit: its cost is that of the cipher.
  private static let works = [
    KeyCost.Work("stores of 600 resources", limit: 1.25),
    KeyCost.Work("a hit of each, after opening the cache again", limit: 1.45),
    KeyCost.Work("3,000 requests, a fifth of them stores", limit: 1.25),
    KeyCost.Work("hits of 1 MiB", limit: nil),
  ]

  /// Opens a cache, works with it through an engine, and closes it.
  private static func with(
    _ folder: String, _ key: StorageKey?, _ body: (HTTPCache) async throws -> Void
  ) async throws {
    let cache = try FileCache(path: folder, encryptionKey: key)
    let engine = HTTPCache(cache: cache, transport: MixedWeb())
    try await body(engine)
    await engine.close()
    await cache.close()
  }

  private static func measure(_ folder: String, _ isKeyed: Bool) async throws -> [Double] {
    let key = isKeyed ? try StorageKey(bytes: (0..<32).map { $0 &* 7 }) : nil
    var times: [Double] = []
    times += [
      try await KeyCost.seconds(of: 600) {
        try await with(folder, key) { try await request($0, 0..<600, from: .network) }
      }
    ]
    try await with(folder, key) { engine in
      times += [try await KeyCost.seconds(of: 600) { try await request(engine, 0..<600, from: .disk) }]
      let mixed = try await KeyCost.seconds(of: 3000) {
        for turn in 0..<600 {
          for step in 0..<4 { try await request(engine, (turn * 4 + step) * 7 % 600, from: .disk) }
          try await request(engine, 1000 + turn, from: .network)
        }
      }
      for number in 0..<8 { try await request(engine, MixedWeb.largeFrom + number, from: .network) }
      let large = try await KeyCost.seconds(of: 64) {
        for number in 0..<64 { try await request(engine, MixedWeb.largeFrom + number % 8, from: .disk) }
      }
      times += [mixed, large]
    }
    return times
  }

  private static func request(_ engine: HTTPCache, _ numbers: Range<Int>, from origin: ContentOrigin) async throws {
    for number in numbers { try await request(engine, number, from: origin) }
  }

  private static func request(_ engine: HTTPCache, _ number: Int, from origin: ContentOrigin) async throws {
    let response = try await engine.response(to: try MixedWeb.request(number))
    let body = try await response.response.body.collect()
    guard response.origin == origin, body.count == MixedWeb.length(number) else {
      throw BenchmarkError("the response to request \(number) came from \(response.origin), with \(body.count) bytes")
    }
  }
}

/// A server in this process with resources of several lengths: pages, scripts and pictures.
private struct MixedWeb: HTTPTransport {
  private static let lengths = [1024, 4 << 10, 16 << 10, 16 << 10, 40 << 10, 100_000]
  /// Resources from this number on have 1 MiB.
  static let largeFrom = 100_000
  private let filling = [UInt8](repeating: 0x78, count: 1 << 20)

  static func length(_ number: Int) -> Int { number >= largeFrom ? 1 << 20 : lengths[number % lengths.count] }

  static func request(_ number: Int) throws -> HTTPRequest {
    guard let url = URL(string: "http://origin.test/images/resource.png?number=\(number)") else {
      throw BenchmarkError("no URL")
    }
    return HTTPRequest(url: url, fields: ["Accept": "image/png", "User-Agent": "benchmark"])
  }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let number = Int(request.url.query?.split(separator: "=").last ?? "") ?? 0
    let length = MixedWeb.length(number)
    let fields: HTTPFields = [
      "Content-Type": "image/png", "Cache-Control": "max-age=3600", "ETag": "\"\(number)\"",
      "Content-Length": "\(length)",
    ]
    return HTTPResponse(
      status: 200, fields: fields, url: request.url, body: HTTPBodyStream(Array(filling[..<length])))
  }
}
