internal import LarderCore
internal import LarderOffline

/// What a download tells: progress on a terminal while it runs, a line a defining query at its end.
final class DownloadReport: Sendable {
  private struct State {
    var hasBegun = false
    var outcomes: [OfflineODataQueryOutcome] = []
    /// The names of failed queries that the clone does without.
    var leftOut: Set<String> = []
    /// Why queries are tried without the links that they expand, by name.
    var withoutLinks: [String: OfflineODataError] = [:]
  }

  private let context: CommandContext
  private let asJSON: Bool
  private let state = Locked(State())

  init(_ arguments: ParsedArguments, _ context: CommandContext) {
    self.context = context
    asJSON = arguments.has(.json)
  }

  /// Whether rows have come.
  var hasBegun: Bool { state.withLock { $0.hasBegun } }

  /// Whether defining queries were downloaded.
  var isDone: Bool { state.withLock { !$0.outcomes.isEmpty } }

  /// Whether a defining query has brought all that it answers.
  var hasCompleted: Bool { outcomes.contains { $0.error == nil } }

  /// Why the first of the queries failed that did and is not left out; nil where none did.
  var error: OfflineODataError? {
    let (outcomes, leftOut) = state.withLock { ($0.outcomes, $0.leftOut) }
    return outcomes.lazy.filter { !leftOut.contains($0.name) }.compactMap(\.error).first
  }

  /// The errors of the queries that failed and are not left out, by name.
  var errors: [String: OfflineODataError] {
    let (outcomes, leftOut) = state.withLock { ($0.outcomes, $0.leftOut) }
    return Dictionary(
      outcomes.compactMap { outcome in outcome.error.map { (outcome.name, $0) } }.filter { !leftOut.contains($0.0) },
      uniquingKeysWith: { $1 })
  }

  /// The names of the queries that have ended, well or not.
  var ended: Set<String> { Set(state.withLock { $0.outcomes }.map(\.name)) }

  /// The names of the failed queries that the clone does without, in order.
  var leftOut: [String] { state.withLock { $0.leftOut }.sorted() }

  /// The names of the queries that have brought their rows without the links that they expand, in order.
  var leftOutLinks: [String] {
    let (names, leftOut) = state.withLock { (Array($0.withoutLinks.keys), $0.leftOut) }
    return names.filter { !leftOut.contains($0) }.sorted()
  }

  /// Notes that a query is tried without the links that it expands; false where it was.
  func leaveOutLinks(of query: OfflineODataDefiningQuery, _ error: OfflineODataError) -> Bool {
    state.withLock { state in
      guard state.withoutLinks[query.name] == nil else { return false }
      state.withoutLinks[query.name] = error
      return true
    }
  }

  /// Notes that the clone does without a query that has failed.
  func leaveOut(_ name: String) { _ = state.withLock { $0.leftOut.insert(name) } }

  /// The worst of the queries' ends.
  var status: CommandStatus {
    outcomes.compactMap(\.error).map(OfflineFailure.status).max { $0.code < $1.code } ?? .done
  }

  /// An error that the download ended with, under the name of the query that it stopped.
  func failure(_ error: any Error) -> CommandFailure {
    let failure = CommandFailure(error)
    guard let told = error as? OfflineODataError, let query = outcomes.first(where: { $0.error == told }) else {
      return failure
    }
    return CommandFailure(failure.status, "\(query.name): \(failure.message)", hint: failure.hint)
  }

  /// The failure of a download, with the cure for a query that would fail again.
  func failure(_ error: any Error, in folder: CloneFolder) -> CommandFailure {
    let failure = failure(error)
    guard let name = outcomes.first(where: { $0.error.map(Self.isOfQuery) ?? false })?.name else { return failure }
    let words =
      "'larder \(folder.option)download --remove \(name)' takes the query out; with --query \(name)=PATH another takes "
      + "its place."
    return CommandFailure(
      failure.status, failure.message, hint: [failure.hint, words].compactMap(\.self).joined(separator: "\n"))
  }

  /// Whether the query may be what is wrong.
  static func isOfQuery(_ error: OfflineODataError) -> Bool {
    switch error.category {
    case .invalidInput, .preconditionFailed, .notFound, .notSupported, .serverSideError: true
    case .communicationError, .clientInternalError: false
    }
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
        // A query may be tried again in another way.
        state.outcomes.removeAll { $0.name == outcome.name }
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

  /// What became of each query, and the errors but the one that the command ends with; nothing where a command ends with
  /// an error before any query has.
  func print(endingWith error: (any Error)? = nil) throws {
    let outcomes = outcomes
    guard error == nil || !outcomes.isEmpty else { return }
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
    warn(besides: error as? OfflineODataError)
  }

  /// Warns of what has failed, but of the error that is told anyway.
  func warn(besides told: OfflineODataError? = nil) {
    let withoutLinks = state.withLock { $0.withoutLinks }
    for outcome in outcomes {
      if outcome.error == nil, let error = withoutLinks[outcome.name] {
        context.warn("\(outcome.name): copied without its links to others: \(error.errorMessage)")
      }
      for conflict in outcome.conflicts {
        let what = conflict.isGone ? "the service has it no more" : "another has changed it"
        context.warn("\(conflict.path): \(what), and a change of it waits ('larder errors diff \(conflict.requestID)')")
      }
      if let error = outcome.error, error != told { context.warn("\(outcome.name): \(error.errorMessage)") }
    }
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
