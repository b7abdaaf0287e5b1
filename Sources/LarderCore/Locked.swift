// The locks of the project. No source outside this target uses `Mutex` or another lock: a test checks that.
//
// How a state changes:
// 1. `Locked.withLock` lends the state to a closure, on this thread only.
// 2. The closure changes the state and returns the values that it removed from it. It calls nothing, resumes nothing
//    and releases nothing.
// 3. The caller, outside of the lock, calls, resumes, cancels and releases what was returned.
//
// In debug builds a closure that enters another `Locked` ends the process with a message (`LockNesting`). Without that
// check, code that runs under a lock could enter the same lock again, or wait for a thread that needs it.
//
// `Exclusive` is for work instead of a state, for example writing to a file by one thread at a time.

public import Synchronization

/// A state that one thread at a time reads and changes.
///
/// The lock is not recursive: a thread that enters it twice ends the process. So a closure of ``withLock(_:)`` must not
/// call or release anything that can run other code: a closure, a continuation, a task, the stream of a content, an
/// object with other owners. Each can end in a `deinit` or a callback that enters the same lock again, or waits for
/// another thread that does. Return such a value from the closure: it is then called or released after the lock is
/// free. Remove an optional from the state with `take()`, another value with `exchange(_:with:)`; both return the old
/// value.
///
///     let task = state.withLock { $0.task.take() }
///     task?.cancel()
///
///     _ = state.withLock { exchange(&$0.handler, with: handler) }
///
/// Public, for the package's modules only: `package` code is not inlined into the modules that use it, and a call takes
/// several times as long.
@_spi(Stores)
public struct Locked<State: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<State>

  /// Creates a lock around a state.
  @inlinable
  public init(_ state: consuming sending State) { mutex = Mutex(state) }

  /// Lends the state to a closure while no other thread has it.
  ///
  /// - Parameter body: Reads and changes the state. It returns the values that it removed and calls no other code.
  /// - Returns: The result of `body`; it is released outside of the lock.
  @inlinable
  public borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    #if DEBUG
      LockNesting.enter()
      defer { LockNesting.leave() }
    #endif
    return try mutex.withLock(body)
  }

  /// Lends the state as ``withLock(_:)`` does; `nil` without waiting if another thread has it.
  @inlinable
  public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    #if DEBUG
      LockNesting.enter()
      defer { LockNesting.leave() }
    #endif
    return try mutex.withLockIfAvailable(body)
  }
}

/// Work that one thread at a time does, such as writing to a file; other threads wait until it is done.
///
/// The work may take long, call other code and enter ``Locked`` state. It must not start this work again, which ends
/// the process, nor wait for a thread that does. So use it for work inside of one type, never for calls of a user's
/// code.
@_spi(Stores)
public struct Exclusive<State: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<State>

  /// Creates the lock with the state of the work.
  @inlinable
  public init(_ state: consuming sending State) { mutex = Mutex(state) }

  /// Runs the work when no other thread runs it, with the state of the work.
  @inlinable
  public borrowing func run<Result: ~Copyable, Failure: Error>(
    _ work: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    #if DEBUG
      LockNesting.check()
    #endif
    return try mutex.withLock(work)
  }

  /// Runs the work as ``run(_:)`` does; `nil` without waiting if another thread runs it.
  @inlinable
  public borrowing func runIfFree<Result: ~Copyable, Failure: Error>(
    _ work: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    #if DEBUG
      LockNesting.check()
    #endif
    return try mutex.withLockIfAvailable(work)
  }
}
