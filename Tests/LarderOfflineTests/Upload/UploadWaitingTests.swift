import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

/// Uploads and downloads wait while the service is overloaded or unavailable, and go on by themselves (RFC 6585 §4, RFC
/// 9110 §10.2.3).
@Suite("Waiting for the service", .timeLimit(.minutes(1)))
struct UploadWaitingTests {
  /// The waits of a store, in seconds. They end at once.
  final class Waits: Sendable {
    private let waits = Mutex<[Duration]>([])

    var all: [Duration] { waits.withLock { $0 } }

    func rig(_ behavior: UploadService.Behavior = .init()) async throws -> UploadRig {
      try await UploadRig(behavior, retry: .background, pause: { time in self.waits.withLock { $0.append(time) } })
    }
  }

  /// What goes wrong with the first send of a change.
  struct Case: Sendable, CustomTestStringConvertible {
    let fault: UploadService.Fault
    /// Whether the service has executed the change nevertheless.
    var isDone = false
    /// Whether it may have, so that it is looked up.
    var isUncertain = false

    var testDescription: String { "\(fault)" }
  }

  static let cases = [
    Case(fault: .status(408)), Case(fault: .status(425)), Case(fault: .status(429)),
    Case(fault: .status(429, [.retryAfter: "300"])),
    Case(fault: .status(502), isUncertain: true), Case(fault: .status(503), isUncertain: true),
    Case(fault: .status(504), isUncertain: true), Case(fault: .response(502), isDone: true, isUncertain: true),
    Case(fault: .response(503), isDone: true, isUncertain: true),
    Case(fault: .response(504), isDone: true, isUncertain: true),
  ]

  @Test(
    "a change is sent again after a wait, and looked up before if it may have been executed",
    arguments: cases, [(false, 0), (true, 0), (false, 100), (true, 100)])
  func changes(world: Case, form: (isV2: Bool, batchSize: Int)) async throws {
    let waits = Waits()
    let rig = try await waits.rig(.init(isV2: form.isV2))
    try await rig.store.create(ODataEntity(properties: [ODataProperty("Name", .string("new"))]), in: "Orders")
    rig.service.fail(world.fault) { $0.hasPrefix("POST") }
    let before = rig.service.requests.count
    let report = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: form.batchSize))
    #expect(report.sent == 1 && report.failed == 0 && report.pending == 0, "\(report)")
    #expect(rig.service.log == ["POST Orders(1000)"])
    #expect(waits.all.count == 1)
    if case .status(_, let fields) = world.fault, fields.contains(.retryAfter) {
      #expect(waits.all == [.seconds(300)])
    }
    let sent = rig.service.requests.dropFirst(before)
    #expect(sent.count { $0.hasPrefix("POST") } == (world.isDone ? 1 : 2), "\(sent)")
    #expect(sent.contains { $0.hasPrefix("GET") } == world.isUncertain, "\(sent)")
    #expect(try await rig.isClean())
  }

  @Test(
    "a transaction is sent again as a whole after a wait, and looked up before if it may have been executed",
    arguments: cases, [false, true])
  func transactions(world: Case, isV2: Bool) async throws {
    let waits = Waits()
    let rig = try await waits.rig(.init(isV2: isV2))
    let (new, renamed) = (ODataProperty("Name", .string("new")), ODataProperty("Name", .string("renamed")))
    _ = try await rig.store.execute(
      batch: ODataBatchRequest([
        .changeSet([
          .create(ODataEntity(properties: [new]), in: "Orders"),
          .update("Orders(1)", to: ODataEntity(properties: [renamed])),
        ])
      ]))
    rig.service.fail(world.fault) { $0.hasPrefix("POST") }
    let before = rig.service.requests.count
    let report = try await rig.store.upload()
    #expect(report.sent == 2 && report.failed == 0 && report.pending == 0, "\(report)")
    #expect(
      rig.service.log.map { $0.split(separator: " ").last } == ["Orders(1000)", "Orders(1)"], "\(rig.service.log)")
    #expect(waits.all.count == 1)
    let sent = rig.service.requests.dropFirst(before)
    #expect(sent.count { $0.hasPrefix("POST") } == (world.isDone ? 1 : 2), "\(sent)")
    #expect(try await rig.isClean())
  }

  @Test(
    "a part of a batch that the service had no capacity for is sent again; the others are done",
    arguments: [408, 425, 429])
  func parts(status: Int) async throws {
    let waits = Waits()
    let rejections = Mutex(1)
    let rig = try await waits.rig(
      .init(rejectsChange: { resource, _ in
        guard resource == "Orders(2)" else { return nil }
        return rejections.withLock { count in
          count -= 1
          return count >= 0 ? status : nil
        }
      }))
    for key in 1...3 { try await rig.update(try await rig.row("Orders", key), ["Name": .string("new")]) }
    let report = try await rig.store.upload()
    #expect(report.sent == 3 && report.failed == 0 && report.pending == 0, "\(report)")
    #expect(rig.service.log.sorted() == ["PATCH Orders(1)", "PATCH Orders(2)", "PATCH Orders(3)"])
    #expect(waits.all.count == 1)
  }

  @Test("a Retry-After beyond the limit ends the upload, and the error says how long to wait", arguments: [0, 100])
  func tooLong(batchSize: Int) async throws {
    let waits = Waits()
    let rig = try await waits.rig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("new")])
    rig.service.fail(.status(429, [.retryAfter: "3600"]), times: 9) { !$0.hasPrefix("GET") }
    let error = await #expect(throws: OfflineODataError.self) {
      _ = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: batchSize))
    }
    #expect(error?.category == .communicationError)
    #expect(error?.errorMessage.contains("it asks clients to wait 3600 s") == true, "\(String(describing: error))")
    #expect(waits.all.isEmpty)
    rig.service.change { $0.fault = nil }
    #expect(try await rig.store.upload().sent == 1)
  }

  @Test("a service that stays unavailable ends the upload after eight sends; what was done in between counts anew")
  func givesUp() async throws {
    let waits = Waits()
    let rig = try await waits.rig()
    for key in 1...3 { try await rig.update(try await rig.row("Orders", key), ["Name": .string("new")]) }
    rig.service.fail(.status(503), times: .max) { $0.hasPrefix("PATCH Orders(2)") }
    await #expect(throws: OfflineODataError.self) {
      _ = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0, lanes: 1))
    }
    #expect(rig.service.log == ["PATCH Orders(1)"])
    #expect(waits.all.count == 7)
    rig.service.change { $0.fault = nil }
    #expect(try await rig.store.upload().sent == 2)
    #expect(rig.service.log == ["PATCH Orders(1)", "PATCH Orders(2)", "PATCH Orders(3)"])
  }

  @Test("cancelling ends a wait")
  func cancelled() async throws {
    let rig = try await UploadRig(retry: .background, pause: { _ in throw CancellationError() })
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("new")])
    rig.service.fail(.status(503), times: .max) { !$0.hasPrefix("GET") }
    await #expect(throws: CancellationError.self) {
      _ = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    }
    rig.service.change { $0.fault = nil }
    #expect(try await rig.store.upload().sent == 1)
  }

  @Test(
    "a page, the metadata or a look-up is requested again after a wait",
    arguments: [408, 425, 429, 500, 502, 503, 504, 520], ["GET Orders", "GET $metadata", "skiptoken=2"])
  func downloads(status: Int, request: String) async throws {
    let waits = Waits()
    let rig = try await waits.rig(.init(pageSize: 2))
    rig.service.change { $0.sets["Orders"]?[4] = .init(values: ["ID": "4", "Name": "\"n4\"", "Total": "4"]) }
    rig.service.fail(.status(status, [.retryAfter: "5"])) { $0.contains(request) }
    try await rig.store.download()
    #expect(waits.all == [.seconds(5)])
    #expect(try await rig.rows("SELECT count(*) FROM {Orders}") == ["4"])
  }
}
