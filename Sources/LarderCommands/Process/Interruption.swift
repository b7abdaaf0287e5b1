internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The interrupt from the keyboard (SIGINT), and the wish from elsewhere that the process ends (SIGTERM).
///
/// The first calls a closure, so that work can end in order; the second ends the process at once. Signals that the
/// process was started with as ignored stay so (`nohup`, background jobs).
final class Interruption: Sendable {
  private let sources: Mutex<[any DispatchSourceSignal]>

  init(_ onFirst: @escaping @Sendable () -> Void) {
    let count = Counter()
    var sources: [any DispatchSourceSignal] = []
    for number in [SIGINT, SIGTERM] {
      // The source only hears what the default action does not take first.
      let before = signal(number, SIG_IGN)
      if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { continue }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
      source.setEventHandler { if count.next() == 1 { onFirst() } else { _exit(128 + number) } }
      source.activate()
      sources.append(source)
    }
    self.sources = Mutex(sources)
  }

  /// Hears nothing any more.
  func stop() { sources.withLock { $0.forEach { $0.cancel() } } }
}

private final class Counter: Sendable {
  private let value = Atomic(0)
  func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}
