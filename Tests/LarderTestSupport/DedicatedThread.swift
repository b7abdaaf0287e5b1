import Foundation

/// Runs work on a thread of its own: what computes long keeps none of the few threads waiting that all tests share.
///
/// `kilobytes`: of its stack; 8 MB is what a program's first thread has.
public func onDedicatedThread<Value: Sendable>(
  kilobytes: Int = 8 << 10, _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { done in
    let thread = Thread { done.resume(with: Result { try work() }) }
    thread.stackSize = kilobytes << 10
    thread.start()
  }
}

/// Runs work on a thread with a stack of 512 kB: the least that a platform gives to threads other than its first.
public func onSmallStack<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await onDedicatedThread(kilobytes: 512, work)
}
