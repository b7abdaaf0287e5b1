@_spi(Stores) import LarderCore
import Testing

@Suite("Locks", .timeLimit(.minutes(5)))
struct LockTests {
  /// Enters a lock in its deinitializer.
  private final class Caller: Sendable {
    let lock: Holder
    init(_ lock: Holder) { self.lock = lock }
    deinit { lock.state.withLock { _ in } }
  }

  private final class Holder: Sendable {
    let state = Locked<Caller?>(nil)
  }

  @Test("A value removed from the state is returned, and its deinitializer may enter the lock")
  func returned() {
    let holder = Holder()
    _ = holder.state.withLock { exchange(&$0, with: Caller(holder)) }
    _ = holder.state.withLock { exchange(&$0, with: Caller(holder)) }
    _ = holder.state.withLock { $0.take() }
    #expect(holder.state.withLock { $0 == nil })
  }

  @Test("Releasing such a value under its lock ends the process; in debug builds, so does entering any other lock")
  func released() async {
    await #expect(processExitsWith: .failure) {
      let (holder, other) = (Holder(), Holder())
      _ = holder.state.withLock { exchange(&$0, with: Caller(other)) }
      holder.state.withLock { $0 = nil }
      #if !DEBUG
        holder.state.withLock { _ in holder.state.withLock { _ in } }
      #endif
    }
  }

  @Test("The closure of Exclusive may enter locks")
  func work() {
    let work = Exclusive(0)
    let state = Locked(0)
    work.run { done in
      done += 1
      state.withLock { $0 += 1 }
      #expect(work.runIfFree { _ in true } == nil)
    }
    #expect(work.run { $0 } == 1 && state.withLock { $0 } == 1)
  }
}
