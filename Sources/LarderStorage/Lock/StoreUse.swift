package import LarderCore
import Synchronization

/// Whether a store, or a file of one, can be used, and if not, why.
package enum StoreUse: UInt8, AtomicRepresentable, Sendable {
  case open
  /// Nothing is open or locked until it is resumed.
  case suspended
  case closed
}

/// Calls that run one after another, in the order in which they came: suspending, resuming and closing a store.
///
/// A call that has begun runs to its end: cancelling the caller does not leave a store half closed.
package final class SerialCalls: Sendable {
  /// Waits for the call that came last.
  private let last = Locked<(@Sendable () async -> Void)?>(nil)

  private let environment: LarderEnvironment

  package init(_ environment: LarderEnvironment = .system) { self.environment = environment }

  /// Runs a call after those that came before, and waits for its end.
  package func run<Failure: Error>(
    _ call: @escaping @Sendable () async throws(Failure) -> Void
  ) async throws(Failure) {
    // The former one is released after unlocking.
    let (task, _) = last.withLock { last in
      let former = last
      let task: Task<Result<Void, Failure>, Never> = environment.task {
        await former?()
        do throws(Failure) { return .success(try await call()) } catch { return .failure(error) }
      }
      last = { _ = await task.value }
      return (task, former)
    }
    try await task.value.get()
  }
}
