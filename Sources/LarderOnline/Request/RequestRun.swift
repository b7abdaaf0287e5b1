import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import Synchronization

/// Carries one request through the store: does what its ``RequestMachine`` says and tells it what happened.
///
/// It begins on the caller's thread, so that the cache answers before anything else happens, and goes on in a task where
/// the server is asked.
struct RequestRun: Sendable {
  let execution: ODataRequestExecution
  let session: OpenSession
  var machine: RequestMachine

  /// Feeds the machine and delivers its steps; gives the work to do next, nil at the end.
  mutating func advance(_ input: RequestMachine.Input) -> RequestMachine.Work? {
    var input = input
    if execution.isCancelled { input = .cancel }
    for action in machine.take(input) {
      switch action {
      case .report(let step): deliver(step)
      case .perform(let work): return work
      }
    }
    return nil
  }

  private func deliver(_ step: RequestMachine.Step) {
    switch step {
    case .started: execution.start()
    // What was kept is of the model that is known now.
    case .cacheResponse(let response):
      execution.receive(cacheResponse: response?.of(session.conversation.knownModel))
    case .serverResponse(let response):
      execution.receive(serverResponse: response.of(session.conversation.knownModel))
    case .finished: execution.finish()
    case .failed(let error, let response): execution.fail(error, response: response)
    case .diagnostic(let diagnostic): session.report(diagnostic)
    }
  }

  /// Starts, and asks the cache where it takes part; gives the work that needs a task.
  @available(*, noasync)
  mutating func begin() -> RequestMachine.Work? {
    let first = advance(.start)
    guard case .lookUp(let keys)? = first, !execution.isCancelled else { return first }
    return advance(lookUp(keys))
  }

  @available(*, noasync)
  private func lookUp(_ keys: [CacheKey?]) -> RequestMachine.Input {
    guard let cache = session.cache else { return .cacheGone }
    do throws(StorageError) {
      var entries: [CacheEntry?] = []
      entries.reserveCapacity(keys.count)
      for key in keys {
        if let key { entries.append(try cache.entry(key)) } else { entries.append(nil) }
      }
      return .found(entries)
    } catch {
      return error.category == .closed || error.category == .suspended ? .cacheGone : .cacheFailed(error)
    }
  }

  /// Does the work and what follows from it, to the end.
  ///
  /// - Parameter turn: the place among the changes of the same resources, held while the service is asked; nil for reads.
  mutating func run(_ first: RequestMachine.Work?, in turn: RequestTurns.Turn?) async {
    var work = first
    var number = 0
    // What the last answer has changed is written by then.
    defer { end(number) }
    while let current = work {
      let input: RequestMachine.Input
      switch current {
      case .lookUp: input = .cacheGone
      case .ask(let question):
        session.refreshMetadata()
        end(number)
        if let turn {
          (number, input) = await turn.take { [self] in await ask(question) } ?? (0, .cancel)
        } else {
          (number, input) = await ask(question)
        }
        machine.version = session.conversation.knownVersion
      case .write(let changes): input = .written(await session.cache?.commit(changes, sentAs: number))
      }
      work = advance(input)
    }
  }

  /// Sends the request; gives its place in the order of those that were sent, and the answer.
  private func ask(_ question: Question) async -> (number: Int, RequestMachine.Input) {
    let number = session.cache?.order.withLock { $0.begin() } ?? 0
    do throws(ODataServiceError) {
      return (number, .answered(try await session.send(machine.request, question, isCached: machine.keys)))
    } catch { return (number, .failed(error)) }
  }

  private func end(_ number: Int) {
    if number > 0 { session.cache?.order.withLock { $0.end(number) } }
  }
}
