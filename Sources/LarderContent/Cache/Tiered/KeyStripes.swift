@_spi(Stores) import LarderCore

/// Allows one change at a time under a key, and lets readers detect changes in the meantime.
///
/// Keys share a fixed number of stripes, so that the memory does not grow. Callers wait in turn, without blocking a
/// thread.
final class KeyStripes: Sendable {
  private typealias Waiting = CheckedContinuation<Void, Never>

  private struct Stripe {
    var isHeld = false
    /// Increased by every change, while it holds the stripe.
    var generation: UInt64 = 0
    var waiting: [Waiting] = []
  }

  /// The state of a stripe, as a reader remembers it.
  struct Mark: Sendable {
    fileprivate let index: Int
    fileprivate let generation: UInt64
  }

  private static let count = 64
  private let stripes: Locked<[Stripe]> = Locked(Array(repeating: Stripe(), count: KeyStripes.count))

  private func index(_ key: String) -> Int { Int(UInt(bitPattern: key.hashValue) % UInt(KeyStripes.count)) }

  /// Applies a change under a key while no other change runs there.
  func change<Value>(
    _ key: String, _ work: () async throws(CacheError) -> Value
  ) async throws(CacheError) -> Value {
    let index = index(key)
    await acquire(index)
    defer { release(index) }
    return try await work()
  }

  /// Applies a change under all keys.
  func changeAll<Value>(_ work: () async throws(CacheError) -> Value) async throws(CacheError) -> Value {
    // Always in the same order, to prevent a deadlock of two calls.
    for index in 0..<KeyStripes.count { await acquire(index) }
    defer { for index in 0..<KeyStripes.count { release(index) } }
    return try await work()
  }

  /// The mark to take before something is read; nil while a change is running.
  func mark(_ key: String) -> Mark? {
    let index = index(key)
    return stripes.withLock { stripes in
      stripes[index].isHeld ? nil : Mark(index: index, generation: stripes[index].generation)
    }
  }

  /// Runs `work` if no change was applied since the mark, and blocks changes in the meantime. Otherwise does nothing.
  func unlessChanged(since mark: Mark, _ work: () async -> Void) async {
    let isAcquired = stripes.withLock { stripes in
      guard !stripes[mark.index].isHeld, stripes[mark.index].generation == mark.generation else { return false }
      stripes[mark.index].isHeld = true
      return true
    }
    guard isAcquired else { return }
    await work()
    release(mark.index)
  }

  private func acquire(_ index: Int) async {
    let isAcquired = stripes.withLock { stripes in
      if stripes[index].isHeld { return false }
      stripes[index].isHeld = true
      stripes[index].generation &+= 1
      return true
    }
    if isAcquired { return }
    await withCheckedContinuation { continuation in
      let isFree = stripes.withLock { stripes in
        stripes[index].generation &+= 1
        if stripes[index].isHeld {
          stripes[index].waiting.append(continuation)
          return false
        }
        stripes[index].isHeld = true
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  /// Passes the stripe to the next waiting caller.
  private func release(_ index: Int) {
    let next = stripes.withLock { stripes -> Waiting? in
      guard !stripes[index].waiting.isEmpty else {
        stripes[index].isHeld = false
        return nil
      }
      return stripes[index].waiting.removeFirst()
    }
    next?.resume()
  }
}
