import LarderContent
import LarderTestSupport
import Testing

@Suite("Content queries that are cancelled", .timeLimit(.minutes(2)))
struct CancelledQueryTests {
  @Test("A query throws the store's error, which is that of a cancellation, if its task is cancelled")
  func cancelledTask() async throws {
    // No response is scripted, so the request waits.
    let rig = ManagerRig()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await rig.manager.content(of: rig.query())
    }
    let error = await #expect(throws: ContentError.self) { try await task.value }
    #expect(error?.isCancelled == true)
  }
}
