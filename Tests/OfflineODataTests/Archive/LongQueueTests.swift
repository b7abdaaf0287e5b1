import OData
import ODataService
import Storage
import TestSupport
import Testing

@testable import OfflineOData

@Suite("Long queues", .timeLimit(.minutes(3)))
struct LongQueueTests {
  /// How long a question takes, the quickest of three times.
  private func time(_ rig: UploadRig, _ path: String) async throws -> Duration {
    var best = Duration.seconds(3600)
    for _ in 1...3 {
      let begin = ContinuousClock.now
      _ = try await rig.store.readJSON(path, options: OfflineODataAnswerOptions(version: .v4))
      best = min(best, .now - begin)
    }
    return best
  }

  @Test(
    "Eight times the requests are listed in about eight times the time",
    arguments: [
      "RequestQueue?$orderby=RequestID desc", "RequestQueue?$expand=CustomHeaders,AffectedEntity",
      "RequestQueue?$filter=Method eq 'POST'&$count=true&$top=10",
    ])
  func listing(question: String) async throws {
    let few = try await UploadRig(orders: 0)
    try await few.createMany(250)
    let many = try await UploadRig(orders: 0)
    try await many.createMany(2000)
    #expect(try await many.store.readCount("RequestQueue") == 2000)
    let (short, long) = (try await time(few, question), try await time(many, question))
    let ratio = long / short
    print("\(question): \(short) for 250 requests, \(long) for 2000, \(ratio) times")
    // What looks at all of the others for each one takes 64 times.
    #expect(ratio < 28)
  }
}
