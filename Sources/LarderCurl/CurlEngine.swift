import CLarderCurl
@_spi(Stores) import LarderCore
import LarderHTTP

/// libcurl's multi handle.
///
/// Unchecked: only the engine's thread uses it. The exception is `curl_multi_wakeup`, which libcurl allows on every
/// thread and which is called under the inbox's lock, so that the handle cannot be cleaned up meanwhile.
@safe struct MultiHandle: @unchecked Sendable {
  let pointer: UnsafeMutableRawPointer
}

/// The thread that drives libcurl, and the inbox for commands from other threads.
final class CurlEngine: Sendable {
  /// The commands to the thread.
  enum Command {
    case start(CurlExchange)
    case cancel(CurlExchange)
    case resumeReceiving(CurlExchange)
    case resumeSending(CurlExchange)
    case stop
  }

  private struct Inbox {
    var commands: [Command] = []
    /// The multi handle while the thread lives. Other threads may only call `curl_multi_wakeup` with it.
    var multi: MultiHandle?
    var stopWaiters: [CheckedContinuation<Void, Never>] = []
  }

  /// Initializes libcurl once per process. True if that succeeded.
  private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  private let settings: TransportSettings
  private let inbox = Locked(Inbox())

  init(_ settings: TransportSettings) throws(HTTPTransportError) {
    self.settings = settings
    guard CurlEngine.isReady, let pointer = unsafe curl_multi_init() else {
      throw .other("libcurl cannot be started")
    }
    let multi = unsafe MultiHandle(pointer: pointer)
    inbox.withLock { $0.multi = multi }
    guard DetachedThread.start({ self.run() }) else {
      inbox.withLock { $0.multi = nil }
      unsafe curl_multi_cleanup(multi.pointer)
      throw .other("no thread can be started")
    }
  }

  /// Posts a command. After the end, an exchange that should start fails.
  func post(_ command: Command) {
    let isPosted = inbox.withLock { inbox in
      guard let multi = inbox.multi else { return false }
      inbox.commands.append(command)
      // Under the lock, so that the handle cannot be cleaned up meanwhile.
      unsafe curl_multi_wakeup(multi.pointer)
      return true
    }
    if !isPosted, case .start(let exchange) = command {
      exchange.finish(.other("the transport has been shut down"))
    }
  }

  /// Tells the thread to end.
  func requestStop() { post(.stop) }

  /// Ends the thread and waits until it has ended.
  func stop() async {
    await withCheckedContinuation { continuation in
      let hasStopped = inbox.withLock { inbox in
        guard let multi = inbox.multi else { return true }
        inbox.stopWaiters.append(continuation)
        inbox.commands.append(.stop)
        unsafe curl_multi_wakeup(multi.pointer)
        return false
      }
      if hasStopped { continuation.resume() }
    }
  }

  /// The body of the thread.
  private func run() {
    guard let multi = inbox.withLock({ $0.multi }) else { return }
    let loop = CurlLoop(multi, settings)
    while loop.execute(takeCommands()) { loop.runOnce() }
    loop.close()
    let (unstarted, waiters) = inbox.withLock { inbox in
      inbox.multi = nil
      defer { inbox = Inbox() }
      return (inbox.commands, inbox.stopWaiters)
    }
    unsafe curl_multi_cleanup(multi.pointer)
    for case .start(let exchange) in unstarted { exchange.finish(.other("the transport has been shut down")) }
    for waiter in waiters { waiter.resume() }
  }

  private func takeCommands() -> [Command] {
    inbox.withLock { inbox in
      defer { inbox.commands = [] }
      return inbox.commands
    }
  }
}
