internal import Dispatch
@_spi(Stores) internal import LarderCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Handles the signals that end the process: the interrupt from the keyboard (SIGINT), the end of the terminal
/// (SIGHUP), and a request to terminate (SIGTERM).
///
/// The first signal is reported to ``onFirst(_:)``, so that work can end in order; the second ends the process at once.
/// Signals that were ignored when the process started stay ignored (`nohup`, background jobs).
final class Interruption: Sendable {
  private let sources: Locked<[any DispatchSourceSignal]>
  private let firstSignal = FirstSignal()

  /// Starts to handle signals.
  init() {
    var sources: [any DispatchSourceSignal] = []
    for number in [SIGINT, SIGTERM, SIGHUP] {
      // The source receives the signal only if the default action does not.
      let previousHandler = signal(number, SIG_IGN)
      if unsafeBitCast(previousHandler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { continue }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
      source.setEventHandler { [firstSignal] in if !firstSignal.receive(number) { _exit(128 + number) } }
      source.activate()
      sources.append(source)
    }
    self.sources = Locked(sources)
  }

  /// Calls a closure at the first signal, or at once if there has already been one.
  func onFirst(_ handler: @escaping @Sendable () -> Void) { firstSignal.onFirst(handler) }

  /// 128 plus the number of the first signal; nil if there was none.
  var code: Int32? { firstSignal.number.map { 128 + $0 } }

  /// Stops handling signals.
  func stop() { for source in sources.withLock({ exchange(&$0, with: []) }) { source.cancel() } }
}

private final class FirstSignal: Sendable {
  private struct State {
    var number: Int32?
    var handler: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  var number: Int32? { state.withLock { $0.number } }

  /// True for the first signal only.
  func receive(_ number: Int32) -> Bool {
    let (isFirst, handler) = state.withLock { state in
      guard state.number == nil else { return (false, nil as (@Sendable () -> Void)?) }
      state.number = number
      return (true, state.handler)
    }
    handler?()
    return isFirst
  }

  func onFirst(_ handler: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      state.handler = handler
      return state.number != nil
    }
    if isLate { handler() }
  }
}
