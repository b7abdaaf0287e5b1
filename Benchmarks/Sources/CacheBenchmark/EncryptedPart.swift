import Foundation
import KeyCost
import LarderHTTP
import LarderOnline
import LarderService

/// The cost of encryption for the technical cache: the same requests with and without a key.
struct EncryptedPart {
  let folder: URL
  /// The number of stored responses.
  let count: Int
  private static let rounds = 9

  private let works = [
    KeyCost.Work("first reads, with each response stored", limit: 1.25),
    KeyCost.Work("a hit of each, after opening the cache again", limit: 1.45),
    KeyCost.Work("2,000 reads with a 304, a fifth of them with new responses", limit: 1.25),
  ]

  init(folder: URL, count: Int) { (self.folder, self.count) = (folder, count) }

  /// Returns true if all limits are met. The times are those of one request.
  func run() async throws -> Bool {
    var cost = KeyCost()
    try await cost.compare("technical cache of \(count) responses", works, rounds: EncryptedPart.rounds) {
      round, isKeyed in
      let place = folder.appendingPathComponent("\(round)-\(isKeyed)").path
      defer { try? FileManager.default.removeItem(atPath: place) }
      return try await measure(place, isKeyed)
    }
    return cost.end()
  }

  private func measure(_ place: String, _ isKeyed: Bool) async throws -> [Double] {
    let key = isKeyed ? try StorageKey(bytes: (0..<32).map { $0 &* 7 }) : nil
    guard let root = URL(string: "http://origin.test/service/") else { throw BenchmarkError("no URL") }
    let store = try OnlineODataStore(
      serviceRoot: root, transport: MixedOrigin(),
      options: OnlineStoreOptions(
        useCache: true, path: place, byteLimit: 64 << 30, encryptionKey: key))
    try await store.open()
    let load = try await KeyCost.seconds(of: count) {
      for number in 0..<count { try await read(store, number) }
      // Includes the checkpoint that the last connection writes.
      try await store.close()
    }
    // The page cache of SQLite is empty now, the one of the operating system is not.
    try await store.open()
    try store.setPassive(true)
    let scan = try await KeyCost.seconds(of: count) { for number in 0..<count { try await read(store, number) } }
    try store.setPassive(false)
    let mixed = try await KeyCost.seconds(of: 2000) {
      for turn in 0..<400 {
        for step in 0..<4 { try await read(store, (turn * 4 + step) * 7 % count) }
        try await read(store, count + turn)
      }
    }
    try await store.close()
    return [load, scan, mixed]
  }

  private func read(_ store: OnlineODataStore, _ number: Int) async throws {
    let response = try await store.execute(.read("Rows?$skip=\(number)"))
    guard response.single?.payloadBytes.count == MixedOrigin.length(number) else {
      throw BenchmarkError("the response to request \(number) has the wrong length")
    }
  }
}

/// A server in this process. The number in a URL determines the length of the response.
private struct MixedOrigin: HTTPTransport {
  private static let lengths = [1024, 4 << 10, 10 << 10, 30 << 10, 1024, 2048]
  private static let beginning = Array(#"{"value":[{"ID":1,"Name":""#.utf8)
  private static let end = Array(#""}]}"#.utf8)

  static func length(_ number: Int) -> Int { lengths[number % lengths.count] }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    guard !request.url.path.hasSuffix("$metadata") else { return try await Origin(payload: []).send(request) }
    let number = Int((request.url.query ?? "").prefix { $0 != "&" }.split(separator: "=").last ?? "") ?? 0
    let fields: HTTPFields = [
      "OData-Version": "4.0", .contentType: "application/json", .etag: "\"\(number)\"",
    ]
    if request.fields[.ifNoneMatch] == "\"\(number)\"" {
      return HTTPResponse(status: 304, fields: fields, url: request.url)
    }
    let filler = MixedOrigin.length(number) - MixedOrigin.beginning.count - MixedOrigin.end.count
    let body = MixedOrigin.beginning + [UInt8](repeating: 0x78, count: filler) + MixedOrigin.end
    return HTTPResponse(status: 200, fields: fields, url: request.url, body: HTTPBodyStream(body))
  }
}
