import ContentCache
import Foundation
import HTTPCore
import Storage

/// What a key costs: the same requests through a cache without one and through one with one, in turn, in one process.
///
/// Processor time of all threads, which other programs change little; the median of the rounds' ratios counts.
enum EncryptedPart {
  private static let rounds = 15

  static func run(in folder: URL, _ verdicts: inout Verdicts) async throws {
    for kind in Kind.allCases {
      var times: [Work: [(plain: Double, encrypted: Double)]] = [:]
      for round in 0...rounds {
        // Who comes first changes from round to round.
        var found: [Bool: [Work: Double]] = [:]
        for isKeyed in round % 2 == 0 ? [false, true] : [true, false] {
          let place = folder.appendingPathComponent("\(kind)-\(round)-\(isKeyed)").path
          found[isKeyed] = try await measure(kind, place, isKeyed)
          try FileManager.default.removeItem(atPath: place)
        }
        // The first warms up.
        for work in Work.allCases where round > 0 {
          guard let plain = found[false]?[work], let encrypted = found[true]?[work] else { continue }
          times[work, default: []].append((plain, encrypted))
        }
      }
      for work in Work.allCases {
        let pairs = times[work] ?? []
        let ratios = pairs.map { $0.encrypted / $0.plain }.sorted()
        let (plain, ratio) = (pairs.map(\.plain).sorted()[pairs.count / 2], ratios[ratios.count / 2])
        print(
          """
          \(kind), \(work.rawValue): plain \(microseconds(plain)) us a request, encrypted/plain \(two(ratio)) \
          (\(two(ratios[0])) to \(two(ratios[ratios.count - 1])))
          """)
        let limit = work.limit
        if let limit { print(verdicts.judge("\(kind), \(work.rawValue)", ratio <= limit, "\(two(limit)) times")) }
      }
    }
  }

  enum Kind: CaseIterable { case files, sqlite }

  enum Work: String, CaseIterable {
    case load = "stores of 600 resources"
    case scan = "a hit of each, cache opened anew"
    case mixed = "3,000 requests, a fifth of them stores"
    case large = "hits of 1 MiB"

    /// Large contents are shown beside: they cost what the cipher costs.
    var limit: Double? {
      switch self {
      case .load, .mixed: 1.25
      case .scan: 1.45
      case .large: nil
      }
    }
  }

  /// Opens a cache, works with it through an engine, and closes it.
  private static func with(
    _ kind: Kind, _ folder: String, _ key: StorageKey?, _ body: (HTTPCache) async throws -> Void
  ) async throws {
    switch kind {
    case .files:
      let cache = try FileCache(path: folder, key: key)
      let engine = HTTPCache(cache: cache, transport: MixedWeb())
      try await body(engine)
      await engine.close()
      await cache.close()
    case .sqlite:
      let cache = try await SQLiteCache(path: folder + "/cache.sqlite", key: key)
      let engine = HTTPCache(cache: cache, transport: MixedWeb())
      try await body(engine)
      await engine.close()
      try await cache.close()
    }
  }

  /// Processor time a request of each work, in seconds.
  private static func measure(_ kind: Kind, _ folder: String, _ isKeyed: Bool) async throws -> [Work: Double] {
    let key = isKeyed ? try StorageKey(bytes: (0..<32).map { $0 &* 7 }) : nil
    var times: [Work: Double] = [:]
    times[.load] = try await timed(600) {
      try await with(kind, folder, key) { try await ask($0, 0..<600, from: .network) }
    }
    try await with(kind, folder, key) { engine in
      times[.scan] = try await timed(600) { try await ask(engine, 0..<600, from: .disk) }
      times[.mixed] = try await timed(3000) {
        for turn in 0..<600 {
          for step in 0..<4 { try await ask(engine, (turn * 4 + step) * 7 % 600, from: .disk) }
          try await ask(engine, 1000 + turn, from: .network)
        }
      }
      for number in 0..<8 { try await ask(engine, MixedWeb.largeFrom + number, from: .network) }
      times[.large] = try await timed(64) {
        for number in 0..<64 { try await ask(engine, MixedWeb.largeFrom + number % 8, from: .disk) }
      }
    }
    return times
  }

  private static func ask(_ engine: HTTPCache, _ numbers: Range<Int>, from origin: ContentOrigin) async throws {
    for number in numbers { try await ask(engine, number, from: origin) }
  }

  private static func ask(_ engine: HTTPCache, _ number: Int, from origin: ContentOrigin) async throws {
    let answer = try await engine.answer(try MixedWeb.request(number))
    let body = try await answer.response.body.collect()
    guard answer.origin == origin, body.count == MixedWeb.length(number) else {
      throw BenchmarkError("\(number) came from \(answer.origin), with \(body.count) bytes")
    }
  }

  private static func timed(_ requests: Int, _ body: () async throws -> Void) async throws -> Double {
    let before = used()
    try await body()
    return (used() - before) / Double(requests)
  }

  private static func used() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// A server in the process of resources of several lengths: pages, scripts and pictures.
private struct MixedWeb: HTTPTransport {
  private static let lengths = [1024, 4 << 10, 16 << 10, 16 << 10, 40 << 10, 100_000]
  /// From this number on they have 1 MiB.
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
