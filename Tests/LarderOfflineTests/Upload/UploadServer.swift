import Foundation
import LarderHTTP
import LarderTestSupport
import Synchronization

/// The service of orders behind a socket, for stores of other processes.
final class UploadServer: Sendable {
  private struct State {
    var requests = 0
    var trigger: (at: Int, run: @Sendable () -> Void)?
    /// How many of a thousand changes take effect and get no response.
    var losses = 0
    var random: PrintedSeed
  }

  let service: UploadService
  private let state: Mutex<State>

  init(_ behavior: UploadService.Behavior, losses: Int = 0, seed: UInt64 = 1) {
    service = UploadService(behavior)
    state = Mutex(State(losses: losses, random: PrintedSeed(seed: seed)))
  }

  /// A server of it under `/s/`.
  func serve() throws -> ScriptedServer { try ScriptedServer { self.reply(to: $0) } }

  /// No response is lost any more.
  func loseNothing() { state.withLock { $0.losses = 0 } }

  /// Runs something when so many more requests have come.
  func onRequest(_ count: Int, _ run: @escaping @Sendable () -> Void) {
    state.withLock { $0.trigger = ($0.requests + count, run) }
  }

  private func reply(to request: ScriptedServer.Request) -> ScriptedServer.Response {
    let (run, isLost) = state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
      state.requests += 1
      var run: (@Sendable () -> Void)?
      if let trigger = state.trigger, state.requests >= trigger.at {
        run = trigger.run
        state.trigger = nil
      }
      let isChange = request.method != .get && request.method != .head
      return (run, isChange && Int(state.random.next() % 1000) < state.losses)
    }
    run?()
    let path = request.target.components(separatedBy: "/s/").last ?? ""
    let text = path.removingPercentEncoding ?? path
    var response: UploadService.State.Response = (500, [:], "")
    service.change { state in
      state.root = "http://\(request.fields["Host"] ?? "h")/s/"
      if !text.hasPrefix("$metadata") { state.requests.append("\(request.method) \(text)") }
      response = state.response(request.method.rawValue, text, request.fields, request.body)
    }
    if isLost { return .close }
    return .response(response.0, fields: response.1, body: response.2)
  }
}
