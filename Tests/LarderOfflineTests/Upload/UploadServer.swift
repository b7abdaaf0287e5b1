import Foundation
import LarderHTTP
import LarderTestSupport
import Synchronization

/// The service of orders behind a socket, for stores of other processes.
final class UploadServer: Sendable {
  private struct State {
    var requests = 0
    var trigger: (at: Int, run: @Sendable () -> Void)?
    /// Of a thousand changes so many are done and not answered.
    var losses = 0
    var random: PrintedSeed
  }

  let service: UploadService
  private let state: Mutex<State>

  init(_ ways: UploadService.Ways, losses: Int = 0, seed: UInt64 = 1) {
    service = UploadService(ways)
    state = Mutex(State(losses: losses, random: PrintedSeed(seed: seed)))
  }

  /// A server of it under `/s/`.
  func serve() throws -> ScriptedServer { try ScriptedServer { self.reply(to: $0) } }

  /// No answer is lost any more.
  func loseNothing() { state.withLock { $0.losses = 0 } }

  /// Runs something when so many more requests have come.
  func onRequest(_ count: Int, _ run: @escaping @Sendable () -> Void) {
    state.withLock { $0.trigger = ($0.requests + count, run) }
  }

  private func reply(to request: ScriptedServer.Request) -> ScriptedServer.Answer {
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
    var answer: UploadService.State.Answer = (500, [:], "")
    service.change { state in
      state.root = "http://\(request.fields["Host"] ?? "h")/s/"
      if !text.hasPrefix("$metadata") { state.requests.append("\(request.method) \(text)") }
      answer = state.answer(request.method.rawValue, text, request.fields, request.body)
    }
    if isLost { return .close }
    return .response(answer.0, fields: answer.1, body: answer.2)
  }
}
