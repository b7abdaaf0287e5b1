import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderService
import Synchronization
import Testing

/// A clock that advances only in `sleep`, so that no test waits.
final class TestClock: Sendable {
  private let time = Mutex<(elapsed: Duration, sleeps: [Duration])>((.zero, []))
  /// 2026-01-15T10:00:00Z at the start.
  static let epoch: Int64 = 1_768_471_200

  var sleeps: [Duration] { time.withLock { $0.sleeps } }
  var elapsed: Duration { time.withLock { $0.elapsed } }

  func advance(_ duration: Duration) { time.withLock { $0.elapsed += duration } }

  /// `random` returns all ones, for the longest jitter.
  func environment(random: UInt64 = .max) -> LarderEnvironment {
    var environment = LarderEnvironment.system
    environment.uptime = { [self] in elapsed }
    environment.now = { [self] in
      Date(timeIntervalSince1970: Double(TestClock.epoch + elapsed.components.seconds))
    }
    environment.sleep = { [self] duration in
      try Task.checkCancellation()
      time.withLock {
        $0.elapsed += duration
        $0.sleeps.append(duration)
      }
    }
    environment.random = { random }
    return environment
  }
}

/// A conversation over a transport in memory, at `https://erp.example/sap/S/`.
func conversation(
  _ transport: FakeTransport, authentication: (any HTTPAuthentication)? = nil, clock: TestClock = TestClock(),
  root: String = "https://erp.example/sap/S/", _ change: (inout ODataConversationOptions) -> Void = { _ in }
) throws -> ODataConversation {
  var options = ODataConversationOptions()
  options.environment = clock.environment()
  change(&options)
  let url = try #require(URL(string: root))
  return try ODataConversation(root: url, transport: transport, authentication: authentication, options: options)
}

/// The error that an operation throws. The test fails if it throws none, or one of another type.
func serviceError(_ body: () async throws -> Void) async -> ODataServiceError? {
  do {
    try await body()
    Issue.record("it should have failed")
  } catch let error as ODataServiceError {
    return error
  } catch {
    Issue.record("another error: \(error)")
  }
  return nil
}
