import Foundation
import LarderCore
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("What is remembered about the batches of a service", .timeLimit(.minutes(5)))
struct UploadBatchMemoryTests {
  private final class Clock: Sendable {
    let seconds = Mutex<Int64>(1_800_000_000)
  }

  /// A store of two orders whose clock the test sets.
  private struct Rig {
    let service = UploadService()
    /// Seconds since 1970.
    let time = Clock()
    let folder: TemporaryFolder
    let store: OfflineODataProvider

    init() async throws {
      service.change { state in
        for key in 1...2 { state.sets["Orders"]?[key] = .init(values: ["ID": "\(key)", "Name": "\"n\(key)\""]) }
      }
      folder = try TemporaryFolder()
      var parameters = OfflineODataParameters(
        storeName: "store", path: folder.path, encryptionKey: try RigKey.fromEnvironment())
      parameters.conversation.retry = .never
      parameters.conversation.csrf = .never
      parameters.conversation.environment = .at { [time] in time.seconds.withLock { $0 } * 1000 }
      store = try OfflineODataProvider(
        serviceRoot: try #require(URL(string: "http://h/s/")), transport: service, parameters: parameters)
      try await store.add(OfflineODataDefiningQuery("orders", "Orders"))
      try await store.open()
    }

    /// Uploads a change of each order, in one transaction or not. Returns the number of batches that were sent.
    func upload(inTransaction: Bool) async throws -> Int {
      let name = ODataProperty("Name", .string("after \(service.log.count)"))
      let changes = (1...2).map { ODataSingleRequest.update("Orders(\($0))", to: ODataEntity(properties: [name])) }
      if inTransaction {
        _ = try await store.execute(batch: ODataBatchRequest([.changeSet(changes)]))
      } else {
        for change in changes { _ = try await store.execute(single: change) }
      }
      service.change { $0.requests = [] }
      let report = try await store.upload()
      #expect(report.sent == 2 && report.pending == 0, "\(report)")
      return service.requests.filter { $0.contains("$batch") }.count
    }
  }

  @Test(
    "A status that a batch gets once does not prevent the batches of later uploads",
    arguments: [400, 403, 404, 406, 413, 415, 422, 500])
  func once(status: Int) async throws {
    let rig = try await Rig()
    rig.service.fail(.status(status), times: 1) { $0.contains("$batch") }
    _ = try await rig.upload(inTransaction: false)
    rig.service.change { $0.fault = nil }
    #expect(try await rig.upload(inTransaction: true) == 1)
  }

  @Test("A service that rejects all batches is asked again after a day", arguments: [405, 501, 404, 400])
  func always(status: Int) async throws {
    let rig = try await Rig()
    rig.service.change { $0.behavior.batchStatus = status }
    // What may be about the request's content must happen again.
    for _ in 0..<([405, 501].contains(status) ? 1 : 2) { #expect(try await rig.upload(inTransaction: false) > 0) }
    #expect(try await rig.upload(inTransaction: false) == 0)
    rig.time.seconds.withLock { $0 += 86_399 }
    #expect(try await rig.upload(inTransaction: false) == 0)
    rig.service.change { $0.behavior.batchStatus = nil }
    rig.time.seconds.withLock { $0 += 1 }
    #expect(try await rig.upload(inTransaction: true) == 1)
  }
}
