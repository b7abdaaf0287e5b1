@_spi(Stores) import LarderCore

/// Allows one task at a time to work on the data under a key. Other tasks wait in their order, without blocking a
/// thread.
final class KeyedLock: Sendable {
  private typealias Waiting = CheckedContinuation<Void, Never>

  /// Keys that are held, with the waiting tasks of each.
  private let queues = Locked<[String: [Waiting]]>([:])

  /// Runs a function while no other one runs under this key.
  ///
  /// A waiting task is not cancelled: work under a key is short, and to do only half of it would be worse.
  func run<Value, Failure: Error>(
    _ key: String, _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await withCheckedContinuation { waiting in
      let isFree = queues.withLock { queues in
        if queues[key] != nil {
          queues[key]?.append(waiting)
          return false
        }
        queues[key] = []
        return true
      }
      if isFree { waiting.resume() }
    }
    defer { release(key) }
    return try await work()
  }

  /// Waits until all current work has ended.
  func settled() async {
    for key in queues.withLock({ Array($0.keys) }) { await run(key) {} }
  }

  private func release(_ key: String) {
    let next = queues.withLock { queues -> Waiting? in
      guard var queue = queues[key], !queue.isEmpty else {
        queues[key] = nil
        return nil
      }
      let next = queue.removeFirst()
      queues[key] = queue
      return next
    }
    next?.resume()
  }
}
