import LarderOData
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Uploads of many changes", .timeLimit(.minutes(1)))
struct UploadVolumeTests {
  @Test("Fifteen hundred changes go in the number of batches that their size implies")
  func batches() async throws {
    let rig = try await UploadRig(orders: 0)
    try await rig.createMany(1500)
    let clock = ContinuousClock()
    let begin = clock.now
    let report = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 250))
    print("upload of 1500 changes: \(clock.now - begin)")
    #expect(report.sent == 1500 && report.requests == 6)
    #expect(rig.service.requests.filter { $0.hasPrefix("POST") }.count == 6)
    #expect(try await rig.isClean())
  }
}
