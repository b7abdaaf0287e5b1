// A program to be killed: it reads through a store with a technical cache as fast as it can, and says on standard output
// which responses the store has acknowledged. The test that kills it checks what the cache then contains.
//
// Arguments: the cache's folder, the service root, a seed, the number of the first round. Or `content`, a kind of content
// cache, a folder, its limit in bytes, the number of the first round: ``CacheRig``. Or `object`, what to do, an object
// store's path, the number of the first round: ``ObjectCrashRig``. Or `offline`, an offline store's folder, the service
// root, how often to download: ``OfflineCrashRig``. Or `upload`, a kind of service, an offline store's folder, the service
// root, a seed, the number of the round: ``UploadCrashRig``. Or `users`, what to do, an offline store's folder, a user,
// after how many steps to end: ``UserCrashRig``.

import Foundation
import LarderHTTP
import LarderOnline
import LarderService

/// A service in this process whose every response proves itself: its content says the URL, the round and a check of
/// both.
struct SelfCheckingService: HTTPTransport {
  let round: Int

  @concurrent
  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let isMetadata = request.url.path.hasSuffix("$metadata")
    let body = isMetadata ? SelfCheckingService.metadata : SelfCheckingService.body(request.url.absoluteString, round)
    return HTTPResponse(
      status: 200,
      fields: ["Content-Type": isMetadata ? "application/xml" : "application/json", "OData-Version": "4.0"],
      url: request.url, body: HTTPBodyStream(Array(body.utf8)))
  }

  /// The length depends on the URL and the round, so that rows grow, shrink and move.
  static func body(_ url: String, _ round: Int) -> String {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in url.utf8 { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    sum = (sum ^ UInt64(round)) &* 0x100_0000_01b3
    let filling = String(repeating: String(sum % 10), count: Int(sum % 30_000))
    return #"{"url":"\#(url)","round":\#(round),"sum":\#(sum),"filling":"\#(filling)"}"#
  }

  static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>\
    <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityContainer Name="C"/></Schema>\
    </edmx:DataServices></edmx:Edmx>
    """
}

@main
struct CrashRig {
  static func main() async throws {
    let arguments = CommandLine.arguments
    if arguments.count == 6, arguments[1] == "content", let kind = CacheRig.Kind(rawValue: arguments[2]),
      let limit = Int(arguments[4]), let round = Int(arguments[5])
    {
      return try await CacheRig.run(kind, arguments[3], limit: limit, from: round)
    }
    if arguments.count == 5, arguments[1] == "object", let kind = ObjectCrashRig.Kind(rawValue: arguments[2]),
      let first = Int(arguments[4])
    {
      return try await ObjectCrashRig.run(kind, arguments[3], from: first)
    }
    if arguments.count == 5, arguments[1] == "offline", let root = URL(string: arguments[3]),
      let downloads = Int(arguments[4])
    {
      return try await OfflineCrashRig.run(arguments[2], root, downloads: downloads)
    }
    if arguments.count == 7, arguments[1] == "upload", let service = UploadCrashRig.Service(rawValue: arguments[2]),
      let root = URL(string: arguments[4]), let seed = UInt64(arguments[5]), let round = Int(arguments[6])
    {
      return try await UploadCrashRig.run(service, arguments[3], root, seed: seed, round: round)
    }
    if arguments.count == 6, arguments[1] == "users", let userSwitch = UserCrashRig.Switch(rawValue: arguments[2]),
      let last = Int(arguments[5])
    {
      return try await UserCrashRig.run(userSwitch, arguments[3], arguments[4], last: last)
    }
    guard arguments.count == 5, let root = URL(string: arguments[2]), let seed = UInt64(arguments[3]),
      let first = Int(arguments[4])
    else {
      FileHandle.standardError.write(
        Data(
          """
          usage: LarderCrashRig FOLDER ROOT SEED ROUND | content KIND FOLDER LIMIT ROUND | object KIND PATH ROUND
            | offline FOLDER ROOT DOWNLOADS | upload WORLD FOLDER ROOT SEED ROUND
            | users WAY FOLDER USER STEPS

          """.utf8))
      exit(2)
    }
    var random = seed
    var round = first
    while true {
      let store = try OnlineODataStore(
        serviceRoot: root, transport: SelfCheckingService(round: round),
        options: OnlineStoreOptions(
          useCache: true, path: arguments[1], byteLimit: 400 << 10,
          encryptionKey: try RigKey.fromEnvironment()))
      try await store.open()
      say("open \(round)")
      for _ in 0..<40 {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let path = "P(\((random >> 33) % 50))"
        _ = try await store.execute(.read(path))
        say("stored \(round) \(path)")
      }
      try await store.close()
      say("closed \(round)")
      round += 1
    }
  }

  /// One write a line: the reader never sees half of one.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
