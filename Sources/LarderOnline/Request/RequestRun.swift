@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import Synchronization

/// Runs one request through the store: carries out the actions of its ``RequestMachine`` and reports the results to it.
///
/// The run begins on the caller's thread, so that the cache lookup happens before anything else. It continues in a task
/// for the request to the server.
struct RequestRun: Sendable {
  let execution: ODataRequestExecution
  let session: OpenSession
  var machine: RequestMachine

  /// Feeds an input to the machine and reports its steps. Returns the work to do next, or nil at the end.
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
    // The cached content belongs to the model that is known now.
    case .cacheResponse(let response):
      execution.receive(cacheResponse: response?.with(model: session.conversation.knownModel))
    case .serverResponse(let response):
      execution.receive(serverResponse: response.with(model: session.conversation.knownModel))
    case .finished: execution.finish()
    case .failed(let error, let response): execution.fail(error, response: response)
    case .diagnostic(let diagnostic): session.report(diagnostic)
    }
  }

  /// Starts the request and looks it up if it uses the cache. Returns the work that needs a task.
  @available(*, noasync)
  mutating func begin() -> RequestMachine.Work? {
    let first = advance(.start)
    guard case .lookUp(let keys)? = first, !execution.isCancelled else { return first }
    return advance(lookUp(keys))
  }

  @available(*, noasync)
  private func lookUp(_ keys: [CacheKey?]) -> RequestMachine.Input {
    guard let cache = session.cache else { return .cacheUnavailable }
    do throws(StorageError) {
      var entries: [TechnicalCacheEntry?] = []
      entries.reserveCapacity(keys.count)
      for key in keys {
        if let key { entries.append(try cache.entry(key)) } else { entries.append(nil) }
      }
      return .entries(entries)
    } catch {
      return error.category == .closed || error.category == .suspended ? .cacheUnavailable : .cacheFailed(error)
    }
  }

  /// Does the work and all that follows from it, to the end.
  ///
  /// - Parameter turn: the request's turn among the changes of the same resources, held during the request to the
  ///   service; nil for reads.
  mutating func run(_ first: RequestMachine.Work?, in turn: RequestTurns.Turn?) async {
    var work = first
    var number = 0
    // The number of the last response ends after its changes are written.
    defer { end(number) }
    while let current = work {
      let input: RequestMachine.Input
      switch current {
      // Only after a cancellation: `begin()` looks up otherwise.
      case .lookUp: input = .cacheUnavailable
      case .send(let revalidation):
        session.refreshMetadata()
        end(number)
        if let turn {
          (number, input) = await turn.take { [self] in await send(revalidation) } ?? (0, .cancel)
        } else {
          (number, input) = await send(revalidation)
        }
        machine.version = session.conversation.knownVersion
      case .write(let changes): input = .written(await session.cache?.commit(changes, sentAs: number))
      }
      work = advance(input)
    }
  }

  /// Sends the request. Returns its number in the order of sending, and the response as an input.
  private func send(_ revalidation: RevalidationRequest) async -> (number: Int, RequestMachine.Input) {
    let number = session.cache?.order.withLock { $0.begin() } ?? 0
    do throws(ODataServiceError) {
      return (number, .response(try await session.send(machine.request, revalidation, keys: machine.keys)))
    } catch { return (number, .failed(await attributed(error))) }
  }

  /// The error, as foreign if it does not come from the service.
  private func attributed(_ error: ODataServiceError) async -> ODataServiceError {
    guard machine.isDoubtful(error) else { return error }
    do throws(ODataServiceError) {
      return try await session.conversation.attributed(error, presence: ServicePresence())
    } catch { return error }
  }

  private func end(_ number: Int) {
    if number > 0 { session.cache?.order.withLock { $0.end(number) } }
  }
}
