import Dispatch
@_spi(Stores) import LarderCore

/// Runs asynchronous work and blocks the calling thread until it is done.
///
/// Only for the blocking variants of functions: on a thread of the concurrency pool it could wait for itself.
@available(*, noasync)
package func blocking<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
  let done = DispatchSemaphore(value: 0)
  let box = ResultBox<Value>()
  Task.detached {
    do { box.set(.success(try await work())) } catch { box.set(.failure(error)) }
    done.signal()
  }
  done.wait()
  return try box.get()
}

private final class ResultBox<Value: Sendable>: Sendable {
  private let result = Locked<Result<Value, any Error>?>(nil)

  func set(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }

  func get() throws -> Value {
    guard let value = result.withLock({ $0 }) else { throw CancellationError() }
    return try value.get()
  }
}
