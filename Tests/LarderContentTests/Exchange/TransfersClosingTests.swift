import LarderHTTP
import Testing

@testable import LarderContent

@Suite("Closing transfers", .timeLimit(.minutes(5)))
struct TransfersClosingTests {
  @Test("a transfer that has its place when the end comes, and has not begun, never does")
  func betweenPlaceAndStart() async throws {
    let transfers = Transfers(window: 1, finishing: 0) { _ in }
    let joinResult = transfers.joinOrBegin(key: "a", shareKey: "a", timeouts: HTTPTimeouts(), asReader: true)
    guard case .begun(let transfer, _) = joinResult else {
      Issue.record("\(joinResult)")
      return
    }
    await transfers.close()
    let begins = transfers.start(transfer) { _ in Issue.record("it has begun") }
    #expect(!begins)
    await transfer.finished()
    guard case .closed = transfers.joinOrBegin(key: "a", shareKey: "a", timeouts: HTTPTimeouts(), asReader: true) else {
      Issue.record("a place after the end")
      return
    }
  }
}
