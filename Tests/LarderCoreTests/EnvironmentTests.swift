import Foundation
@_spi(Stores) import LarderCore
import Synchronization
import Testing

@Suite("The environment of the stores", .timeLimit(.minutes(1)))
struct EnvironmentTests {
  @Test("returns the date in whole units, rounded down, also before 1970 and outside the range of an integer")
  func units() {
    var environment = LarderEnvironment.system
    func at(_ seconds: Double) -> [Int64] {
      environment.now = { Date(timeIntervalSince1970: seconds) }
      return [environment.unixSeconds, environment.unixMilliseconds, environment.unixMicroseconds]
    }
    #expect(at(1_768_435_200.123) == [1_768_435_200, 1_768_435_200_123, 1_768_435_200_123_000])
    #expect(at(-0.5) == [-1, -500, -500_000])
    #expect(at(-2) == [-2, -2000, -2_000_000])
    #expect(at(.infinity) == [.max / 1_000_000, .max / 1000, .max])
    #expect(at(-.infinity)[2] == .min)
  }

  @Test("creates a version 4 UUID (RFC 9562 §5.4) from its random numbers")
  func uuid() {
    var environment = LarderEnvironment.system
    let numbers = Mutex<[UInt64]>([0, .max])
    environment.random = { numbers.withLock { $0.removeFirst() } }
    #expect(environment.uuid().uuidString == "00000000-0000-4000-BFFF-FFFFFFFFFFFF")
    numbers.withLock { $0 = [.max, 0] }
    #expect(environment.uuid().uuidString == "FFFFFFFF-FFFF-4FFF-8000-000000000000")
  }

  @Test("runs tasks on its executor")
  func tasks() async throws {
    let executor = CountingExecutor()
    var environment = LarderEnvironment.system
    environment.executor = executor
    #expect(await environment.task { 1 }.value == 1)
    let failing = environment.task { () async throws -> Int in throw CancellationError() }
    await #expect(throws: CancellationError.self) { try await failing.value }
    #expect(executor.count.withLock { $0 } >= 2)
  }

  private final class CountingExecutor: TaskExecutor {
    let count = Mutex(0)

    func enqueue(_ job: consuming ExecutorJob) {
      count.withLock { $0 += 1 }
      let job = UnownedJob(job)
      let executor = asUnownedTaskExecutor()
      Thread.detachNewThread { unsafe job.runSynchronously(on: executor) }
    }
  }
}
