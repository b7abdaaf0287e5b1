internal import OfflineOData
internal import Synchronization

/// What a download tells: progress on a terminal while it runs, a line a defining query at its end.
final class DownloadReport: Sendable {
  private struct State {
    var hasBegun = false
    var outcomes: [OfflineODataQueryOutcome] = []
  }

  private let context: CommandContext
  private let asJSON: Bool
  private let state = Mutex(State())

  init(_ arguments: ParsedArguments, _ context: CommandContext) {
    self.context = context
    asJSON = arguments.has(.json)
  }

  /// Whether rows have come.
  var hasBegun: Bool { state.withLock { $0.hasBegun } }

  /// Whether defining queries were downloaded.
  var isDone: Bool { state.withLock { !$0.outcomes.isEmpty } }

  /// A query that does not fit the service's metadata any more.
  var unfittingQuery: String? {
    state.withLock { $0.outcomes }.first { $0.error?.name == .invalidDefiningQuery }?.name
  }

  /// The worst of the queries' ends.
  var status: CommandStatus {
    let errors = state.withLock { $0.outcomes }.compactMap(\.error)
    return errors.map(OfflineFailure.status).max { $0.code < $1.code } ?? .done
  }

  /// Runs a download and shows how far it is.
  func hear(_ provider: OfflineODataProvider, _ work: () async throws -> Void) async throws {
    let bars = DownloadBars(context)
    let listener = Listener { [self] event in take(event, bars) }
    provider.delegate = listener
    defer {
      provider.delegate = nil
      bars.end()
    }
    try await work()
  }

  /// Hears each call before the next one comes: at the work's end everything was heard.
  private final class Listener: OfflineODataDelegate {
    private let take: @Sendable (OfflineODataEvent) -> Void

    init(_ take: @escaping @Sendable (OfflineODataEvent) -> Void) { self.take = take }

    func offlineODataProvider(_: OfflineODataProvider, didUpdateOpenProgress progress: OfflineODataProgress) {
      take(.progress(progress))
    }

    func offlineODataProvider(_: OfflineODataProvider, didUpdateDownloadProgress progress: OfflineODataProgress) {
      take(.progress(progress))
    }

    func offlineODataProvider(_: OfflineODataProvider, didFinishQuery outcome: OfflineODataQueryOutcome) {
      take(.queryFinished(outcome))
    }
  }

  private func take(_ event: OfflineODataEvent, _ bars: DownloadBars) {
    switch event {
    case .progress(let progress):
      if progress.rows > 0 { state.withLock { $0.hasBegun = true } }
      guard let query = progress.query else { return }
      bars.update(query) { line in
        line.step = progress.step.rawValue
        line.rows = progress.rows
        line.bytes = progress.bytes
        line.total = progress.totalRows
      }
    case .queryFinished(let outcome):
      state.withLock { state in
        state.outcomes.append(outcome)
        if outcome.error == nil { state.hasBegun = true }
      }
    // They are in the outcomes of their queries.
    case .conflictsNoticed: break
    case .stateChanged, .downloadFinished, .downloadFailed, .uploadProgress, .uploadFinished, .uploadFailed: break
    }
  }

  private var outcomes: [OfflineODataQueryOutcome] { state.withLock { $0.outcomes }.sorted { $0.name < $1.name } }

  /// An array with an object a query.
  func write(to json: inout JSONOutput) throws(OutputError) {
    json.beginArray()
    for outcome in outcomes { try Self.write(outcome, to: &json) }
    json.endArray()
  }

  /// What became of each query; errors but the one that is told anyway.
  func print(besides told: OfflineODataError? = nil) throws {
    let outcomes = outcomes
    if asJSON {
      var json = JSONOutput(context.output)
      try write(to: &json)
      try json.endLine()
    } else {
      try context.output.write(Self.lines(outcomes))
      for outcome in outcomes {
        for note in outcome.notes { context.note("\(TerminalText.line(outcome.name)): \(TerminalText.line(note))") }
      }
    }
    warn(besides: told)
  }

  /// Warns of what has failed, but of the error that is told anyway.
  func warn(besides told: OfflineODataError? = nil) {
    for outcome in outcomes {
      for conflict in outcome.conflicts {
        let what = conflict.isGone ? "the service has it no more" : "another has changed it"
        context.warn("\(conflict.path): \(what), and a change of it waits ('larder errors diff \(conflict.requestID)')")
      }
      if let error = outcome.error, error != told { context.warn("\(outcome.name): \(error.errorMessage)") }
    }
  }

  /// The same where the download ends with an error, which is told after it: as far as queries have come to their end.
  func print(endingWith error: any Error) throws {
    guard state.withLock({ !$0.outcomes.isEmpty }) else { return }
    try print(besides: error as? OfflineODataError)
  }

  private static func lines(_ outcomes: [OfflineODataQueryOutcome]) -> String {
    let names = Columns.width(outcomes.map(\.name))
    let rows = Columns.width(outcomes.map { "\($0.rows)" })
    return outcomes.map { outcome in
      let way = outcome.way?.rawValue ?? "failed"
      return Columns.pad(TerminalText.line(outcome.name), names) + "  " + Columns.pad(way, 11) + "  "
        + Columns.padLeft("\(outcome.rows)", rows) + " rows, \(outcome.bytes) bytes\n"
    }.joined()
  }

  private static func write(_ outcome: OfflineODataQueryOutcome, to json: inout JSONOutput) throws(OutputError) {
    json.beginObject()
    json.member("name", outcome.name)
    json.member("way", outcome.way?.rawValue)
    json.member("rows", outcome.rows)
    json.member("bytes", outcome.bytes)
    json.member("pages", outcome.pages)
    try json.member("notes", outcome.notes) { (json, note) throws(OutputError) in json.string(note) }
    try json.member("conflicts", outcome.conflicts) { (json, conflict) throws(OutputError) in
      json.beginObject()
      json.member("id", conflict.requestID)
      json.member("path", conflict.path)
      json.member("isGone", conflict.isGone)
      json.endObject()
    }
    json.member("error", outcome.error?.errorMessage)
    json.endObject()
    try json.drain()
  }
}
