import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: a service that takes conditions and links wrongly", .timeLimit(.minutes(5)))
struct ConditionFaultTests {
  private static func response(_ version: Int, etag: String?) -> ScriptedServer.Response {
    var fields: HTTPFields = [.contentType: "application/json", .odataVersion: "4.0"]
    if let etag { fields[.etag] = etag }
    return .response(200, fields: fields, body: FaultyService.good(version))
  }

  @Test("200 to every If-None-Match: the rows that come are taken, changed or not")
  func always200() async throws {
    let rig = try await FaultRig()
    for version in [1, 1, 2, 2, 3] {
      let error = await rig.download { _ in Self.response(version, etag: "\"same\"") }
      #expect(error == nil, "\(error.debugDescription)")
      #expect(try await rig.texts() == [String](repeating: "v\(version)", count: 5))
    }
    #expect(rig.server.requests.contains { $0.fields[.ifNoneMatch] == "\"same\"" && $0.path == "/s/Rows" })
    try await rig.end()
  }

  @Test("304 to a condition is no change; 304 without a condition is an invalid response")
  func always304() async throws {
    let rig = try await FaultRig()
    // Nothing was said that a condition could be made of.
    let none = await rig.download { _ in .response(304) }
    #expect(none?.name == .malformedResponse, "\(none.debugDescription)")
    #expect(none?.errorMessage.contains("304") == true, "\(none.debugDescription)")
    #expect(try await rig.texts() == [String](repeating: "v1", count: 5))
    #expect(await rig.download { _ in Self.response(2, etag: "\"2\"") } == nil)
    #expect(
      await rig.download { request in
        request.fields[.ifNoneMatch] == "\"2\"" ? .response(304) : .response(500)
      } == nil)
    #expect(try await rig.store.strategies() == ["rows": "notModified"])
    // A page behind a link is requested without one.
    let page = await rig.download { request in
      request.query?.contains("skip") == true
        ? .response(304) : FaultyService.json("{\"value\":[{\"ID\":1}],\"@odata.nextLink\":\"Rows?skip=1\"}")
    }
    #expect(page?.name == .malformedResponse, "\(page.debugDescription)")
    #expect(try await rig.texts() == [String](repeating: "v2", count: 5))
    rig.service.version = 2
    #expect(try await rig.isIntact(2))
    try await rig.end()
  }

  @Test("304 to a new store's first requests: to the metadata, to the rows")
  func firstTime() async throws {
    for path in ["/s/$metadata", "/s/Rows"] {
      let service = FaultyService()
      let server = try service.serve()
      defer { server.stop() }
      let rig = try StoreRig(server.url("/s/").absoluteString)
      service.faulty = { $0.path == path ? .response(304) : nil }
      let store = try rig.provider()
      try await store.add(OfflineODataDefiningQuery("rows", "Rows"))
      let error = await #expect(throws: OfflineODataError.self) { try await store.open() }
      #expect([.malformedResponse, .requestRejected].contains(error?.name), "\(path): \(error.debugDescription)")
      #expect(error?.errorMessage.contains("304") == true, "\(error.debugDescription)")
      service.faulty = nil
      try await store.open()
      _ = try await store.download()
      #expect(try await store.size("Rows") == 5)
      try await store.close()
    }
  }

  @Test("pages without end, each behind a link of its own, that bring nothing new", arguments: ["{\"ID\":1}", ""])
  func endless(row: String) async throws {
    let rig = try await FaultRig()
    let requestCount = Atomic(0)
    let error = await rig.download { _ in
      let number = requestCount.add(1, ordering: .relaxed).newValue
      return FaultyService.json("{\"value\":[\(row)],\"@odata.nextLink\":\"Rows?skip=\(number)\"}")
    }
    #expect(error?.name == .endlessPages, "\(error.debugDescription)")
    #expect(requestCount.load(ordering: .relaxed) < 6000)
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test("the position of a download of many pages takes no more room with each page")
  func position() async throws {
    let rig = try await FaultRig()
    let sizes = Mutex<[Int]>([])
    let replica = try #require(rig.store.store?.replica)
    for last in [20, 600] {
      let error = await rig.download { request in
        let number = Int(request.query?.split(separator: "=").last ?? "0") ?? 0
        if number == last { return .response(503) }
        return FaultyService.json("{\"value\":[{\"ID\":\(number)}],\"@odata.nextLink\":\"Rows?skip=\(number + 1)\"}")
      }
      #expect(error?.name == .serviceUnavailable)
      let size = try await replica.database.read { (connection) throws(StorageError) in
        try connection.first("SELECT length(position) FROM larder_download") { (row) throws(StorageError) in
          Int(try row.int64(0))
        }
      }
      sizes.withLock { $0.append(size ?? 0) }
    }
    let (first, second) = sizes.withLock { ($0[0], $0[1]) }
    #expect(first > 0)
    #expect(second < first + 40, "\(first), \(second)")
    try await replica.database.checkIntegrity()
    try await rig.end()
  }

  @Test("links in a circle of any length, with links leading into it, are noticed; links that differ never are")
  func circles() {
    for entry in 0..<12 {
      for length in 1...12 {
        var seen = SeenLinks()
        let steps = (0..<1000).first { step in
          !seen.insert("l\(step < entry ? step : entry + (step - entry) % length)")
        }
        #expect((steps ?? .max) <= 3 * (entry + length) + 3, "\(entry) \(length)")
      }
    }
    var seen = SeenLinks()
    #expect((0..<20_000).allSatisfy { seen.insert("link \($0)") })
  }

  @Test("a clock that jumps: what was staged in the future, or long ago, is not resumed")
  func clock() async throws {
    let rig = try await FaultRig()
    let now = Mutex<Int64>(1_800_000_000)
    var parameters = rig.store.parameters
    parameters.encryptionKey = try RigKey.fromEnvironment()
    parameters.conversation.environment = .at { now.withLock { $0 * 1000 } }
    try await rig.store.close()
    let store = try OfflineODataProvider(
      serviceRoot: rig.server.url("/s/"), transport: rig.rig.transport, parameters: parameters)
    try await store.open()
    for jump in [-400 * 86_400, 500 * 86_400, 3600, -60, 0] as [Int64] {
      let requestCount = Mutex<[String]>([])
      let isInterrupted = Mutex(true)
      rig.service.faulty = { request in
        guard request.path == "/s/Rows" else { return nil }
        requestCount.withLock { $0.append(request.query ?? "") }
        guard request.query?.contains("skip") == true else {
          return FaultyService.json("{\"value\":[{\"ID\":1,\"Text\":\"x\"}],\"@odata.nextLink\":\"Rows?skip=1\"}")
        }
        return isInterrupted.withLock { $0 }
          ? .response(503) : FaultyService.json("{\"value\":[{\"ID\":2,\"Text\":\"x\"}]}")
      }
      await #expect(throws: OfflineODataError.self) { try await store.download() }
      now.withLock { $0 += jump }
      isInterrupted.withLock { $0 = false }
      requestCount.withLock { $0 = [] }
      try await store.download()
      #expect(requestCount.withLock { $0.first?.contains("skip") } == (abs(jump) < 86_400), "\(jump)")
      #expect(try await store.size("Rows") == 2)
    }
    try await store.close()
    rig.server.stop()
  }
}
