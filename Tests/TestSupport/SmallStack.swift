import Foundation
import Synchronization

/// Runs work on a thread of its own, and waits for it. Its stack is of 512 kB where nothing else is asked for: the least that a
/// platform gives to threads other than its first.
public func onSmallStack<Value: Sendable>(
  kilobytes: Int = 512, _ work: @escaping @Sendable () throws -> Value
) throws -> Value {
  let outcome = Outcome<Value>()
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    outcome.value.withLock { $0 = Result { try work() } }
    done.signal()
  }
  thread.stackSize = kilobytes * 1024
  thread.start()
  done.wait()
  guard let result = outcome.value.withLock({ $0 }) else { throw CancellationError() }
  return try result.get()
}

private final class Outcome<Value: Sendable>: Sendable {
  let value = Mutex<Result<Value, any Error>?>(nil)
}
