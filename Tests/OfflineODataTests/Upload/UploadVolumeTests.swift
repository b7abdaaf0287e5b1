import OData
import TestSupport
import Testing

@testable import OfflineOData

@Suite("Uploads of many changes", .timeLimit(.minutes(1)))
struct UploadVolumeTests {
  @Test("Three thousand changes go in the number of batches that their size implies")
  func batches() async throws {
    let rig = try await UploadRig(orders: 0)
    try await rig.createMany(3000)
    let clock = ContinuousClock()
    let begin = clock.now
    let report = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 250))
    print("upload of 3000 changes: \(clock.now - begin)")
    #expect(report.sent == 3000 && report.requests == 12)
    #expect(rig.service.requests.filter { $0.hasPrefix("POST") }.count == 12)
    #expect(try await rig.isClean())
  }
}
