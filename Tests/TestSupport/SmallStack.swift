import Foundation
import Synchronization

/// Runs work on a thread of its own with a stack of 512 kB, the least that a platform gives to threads other than its first, and
/// waits for it.
public func onSmallStack<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) throws -> Value {
  let outcome = Outcome<Value>()
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    outcome.value.withLock { $0 = Result { try work() } }
    done.signal()
  }
  thread.stackSize = 512 * 1024
  thread.start()
  done.wait()
  guard let result = outcome.value.withLock({ $0 }) else { throw CancellationError() }
  return try result.get()
}

private final class Outcome<Value: Sendable>: Sendable {
  let value = Mutex<Result<Value, any Error>?>(nil)
}
