@_spi(Stores) package import LarderCore
import Synchronization

/// Whether a store, or one of its files, can be used, and if not, why.
package enum StoreUse: UInt8, AtomicRepresentable, Sendable {
  case open
  /// No file is open or locked until the store is resumed.
  case suspended
  case closed
}

/// Runs calls one after another, in the order of their arrival: suspending, resuming and closing a store.
///
/// A call that has begun runs to its end: cancelling the caller does not leave a store half closed.
package final class SerialCalls: Sendable {
  /// Waits for the most recent call.
  private let last = Locked<(@Sendable () async -> Void)?>(nil)

  private let environment: LarderEnvironment

  package init(_ environment: LarderEnvironment = .system) { self.environment = environment }

  /// Runs a call after those that arrived before, and waits for its end.
  package func run<Failure: Error>(
    _ call: @escaping @Sendable () async throws(Failure) -> Void
  ) async throws(Failure) {
    // The previous closure is released after unlocking.
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
