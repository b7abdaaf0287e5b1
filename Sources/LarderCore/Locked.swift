// The locks of the project. No source outside this target uses `Mutex` or another lock: a test holds it.
//
// How a state changes:
// 1. `Locked.withLock` lends the state to a closure, on this thread alone.
// 2. The closure changes the state and returns what left it. It calls nothing, resumes nothing and releases nothing.
// 3. The caller, outside of the lock, calls, resumes, cancels and releases what was returned.
//
// In debug builds a closure that enters another `Locked` ends the process and says so (`LockNesting`). Without that check, code
// that runs under a lock could enter the same lock again, or wait for a thread that needs it.
//
// `Exclusive` is for work instead of a state: one thread at a time writes to a file.

public import Synchronization

/// State that one thread at a time reads and changes.
///
/// The lock is not recursive: a thread that enters it twice ends the process. So nothing that can run code of others may be
/// called or released in a closure of ``withLock(_:)``: a closure, a continuation, a task, the stream of a content, an
/// object that others hold too. Each can end in a `deinit` or a callback that enters the same lock again, or waits for
/// another thread that does. Return such a value from the closure: it is then called or released after the lock is free.
/// An optional leaves the state with `take()`, another value with `exchange(_:with:)`; both return what was there.
///
///     let task = state.withLock { $0.task.take() }
///     task?.cancel()
///
///     _ = state.withLock { exchange(&$0.handler, with: handler) }
///
/// Public, though no product has it: what is `package` is not compiled into the modules that use it, and a call takes several
/// times as long.
public struct Locked<State: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<State>

  /// A lock around a state.
  @inlinable
  public init(_ state: consuming sending State) { mutex = Mutex(state) }

  /// Lends the state to a closure while no other thread has it.
  ///
  /// - Parameter body: Reads and changes the state. It returns what left it and calls no code of others.
  /// - Returns: What `body` returns; it is released outside of the lock.
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

/// Work that one thread at a time does, such as writing to a file: the others wait until it is done.
///
/// The work may take long, call others and enter ``Locked`` state. It must not begin this work again, which ends the process,
/// nor wait for a thread that does. So it is for work inside of one type, never for the calls of a user's code.
public struct Exclusive<State: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<State>

  /// Work with a state of its own.
  @inlinable
  public init(_ state: consuming sending State) { mutex = Mutex(state) }

  /// Does the work when no other thread does any; the state is the work's own.
  @inlinable
  public borrowing func run<Result: ~Copyable, Failure: Error>(
    _ work: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    #if DEBUG
      LockNesting.check()
    #endif
    return try mutex.withLock(work)
  }

  /// Does the work as ``run(_:)`` does; `nil` without waiting where another thread does some.
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
