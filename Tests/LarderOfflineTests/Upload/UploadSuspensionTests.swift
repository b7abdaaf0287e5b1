import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("A store suspended beside uncertain changes", .timeLimit(.minutes(1)))
struct UploadSuspensionTests {
  private func expectNoLocks(_ rig: UploadRig) throws {
    #if os(Linux)
      #expect(try heldLocks(below: rig.folder.path) == [])
    #endif
  }

  @Test("A change that is being uploaded then is looked up by the next upload, and is not sent twice")
  func upload() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    rig.service.fail(.hang) { $0.contains("$batch") }
    let upload = Task { try await rig.store.upload() }
    try await rig.service.hangs.wait(for: 1)
    try await rig.store.suspend()
    let interrupted = await #expect(throws: OfflineODataError.self) { try await upload.value }
    #expect(interrupted?.name == .storeSuspended)
    try expectNoLocks(rig)
    rig.service.change { $0.fault = nil }
    try await rig.store.resume()
    #expect(try await rig.queue == ["1|1"])
    let requestCount = rig.service.requests.count
    let report = try await rig.store.upload()
    #expect(report.sent == 1 && report.failed == 0, "\(report)")
    #expect(rig.service.requests.dropFirst(requestCount).allSatisfy { $0.hasPrefix("GET ") })
    #expect(rig.service.log == ["PATCH Orders(1)"])
    #expect(try await rig.isClean())
    try await rig.store.close()
  }

  @Test("A change that is being looked up for an undo then stays uncertain, and is taken back by the next one")
  func undo() async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("mine")])
    rig.service.fail(.status(504)) { $0.contains("$batch") }
    await #expect(throws: OfflineODataError.self) { try await rig.store.upload() }
    rig.service.fail(.hang) { $0.contains("GET Orders") }
    let undo = Task { try await rig.store.undoPendingChanges(of: "Orders(1)") }
    try await rig.service.hangs.wait(for: 1)
    try await rig.store.suspend()
    let interrupted = await #expect(throws: OfflineODataError.self) { try await undo.value }
    #expect(interrupted?.name == .storeSuspended)
    try expectNoLocks(rig)
    rig.service.change { $0.fault = nil }
    try await rig.store.resume()
    #expect(try await rig.queue == ["1|1"])
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 1") == ["mine"])
    #expect(try await rig.store.undoPendingChanges(of: "Orders(1)") == 1)
    #expect(try await rig.rows("SELECT Name FROM {Orders} WHERE ID = 1") == ["n1"])
    #expect(try await rig.isClean() && rig.service.log.isEmpty)
    try await rig.store.close()
  }
}
