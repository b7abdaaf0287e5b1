@_spi(Stores) internal import LarderCore
internal import LarderOffline

/// Reports a download: progress on a terminal while it runs, and one line for each defining query at its end.
final class DownloadReport: Sendable {
  private struct State {
    var hasBegun = false
    var outcomes: [OfflineODataQueryOutcome] = []
    /// The names of failed queries that the clone omits.
    var leftOut: Set<String> = []
    /// The links that queries are tried without, by name.
    var withoutLinks: [String: LeftOutLinks] = [:]
  }

  /// Links that a query was to expand and that are left out.
  struct LeftOutLinks: Sendable {
    /// The items of `$expand` that the service rejects.
    var rejected: [String] = []
    /// The links that no URL can expand.
    var withoutURL: [String] = []
    /// Whether the service rejects all items of the query.
    var areAll = false
    /// The first rejection; nil if the service rejects none.
    var error: OfflineODataError?

    var all: [String] { rejected + withoutURL }
  }

  private let context: CommandContext
  private let asJSON: Bool
  private let state = Locked(State())

  init(_ arguments: ParsedArguments, _ context: CommandContext) {
    self.context = context
    asJSON = arguments.has(.json)
  }

  /// Whether rows or a complete query were downloaded.
  var hasBegun: Bool { state.withLock { $0.hasBegun } }

  /// The number of queries whose last download failed because the sign-in was rejected.
  var rejectedSignIns: Int { outcomes.count { $0.error?.name == .authenticationFailed } }

  /// Whether a defining query has been downloaded completely.
  var hasCompleted: Bool { outcomes.contains { $0.error == nil } }

  /// The error of the first failed query that is not left out; nil if none failed.
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

  /// The names of the queries that have ended, successfully or not.
  var finishedQueries: Set<String> { Set(state.withLock { $0.outcomes }.map(\.name)) }

  /// The names of the failed queries that the clone omits, sorted.
  var leftOut: [String] { state.withLock { $0.leftOut }.sorted() }

  /// The links without which the rows of queries were downloaded, sorted.
  var leftOutLinks: [String] {
    let (withoutLinks, leftOut) = state.withLock { ($0.withoutLinks, $0.leftOut) }
    return withoutLinks.filter { !leftOut.contains($0.key) }.sorted { $0.key < $1.key }.flatMap { name, left in
      left.areAll ? ["links of \(name)"] : left.all.map { "\(name)/\($0)" }
    }
  }

  /// The links that the service did not return although the queries expand them, each after the name of its query.
  var missingLinks: [String] { outcomes.flatMap { outcome in outcome.missingLinks.map { "\(outcome.name)/\($0)" } } }

  /// Records the links without which a query is tried.
  func leaveOut(rejected links: [String], of query: String, areAll: Bool, _ error: OfflineODataError) {
    state.withLock { state in
      var left = state.withoutLinks[query] ?? LeftOutLinks()
      (left.rejected, left.areAll, left.error) = (links, areAll, left.error ?? error)
      state.withoutLinks[query] = left
    }
  }

  /// Records the links of a query that no URL can expand.
  func leaveOut(withoutURL links: [String], of query: String) {
    state.withLock { $0.withoutLinks[query, default: LeftOutLinks()].withoutURL = links }
  }

  /// Records that the clone omits a failed query.
  func leaveOut(_ name: String) { _ = state.withLock { $0.leftOut.insert(name) } }

  /// The worst exit status of the queries.
  var status: CommandStatus {
    outcomes.compactMap(\.error).map(OfflineFailure.status).max { $0.code < $1.code }
      ?? (missingLinks.isEmpty ? .done : .negative)
  }

  /// The failure of the download, with the name of the query that caused it.
  func failure(_ error: any Error) -> CommandFailure {
    let failure = CommandFailure(error)
    guard let reportedError = error as? OfflineODataError,
      let query = outcomes.first(where: { $0.error == reportedError })
    else {
      return failure
    }
    return CommandFailure(failure.status, "\(query.name): \(failure.message)", hint: failure.hint)
  }

  /// The failure of a download, with a hint for a query that would fail again.
  func failure(_ error: any Error, in folder: CloneFolder) -> CommandFailure {
    let failure = failure(error)
    guard let name = errors.filter({ Self.isQueryError($0.value) }).keys.min() else { return failure }
    let hint =
      "'larder \(folder.option)download --remove \(name)' removes the query; together with --query \(name)=PATH it "
      + "replaces it."
    return CommandFailure(
      failure.status, failure.message, hint: [failure.hint, hint].compactMap(\.self).joined(separator: "\n"))
  }

  /// Whether the query may be the cause of the error.
  static func isQueryError(_ error: OfflineODataError) -> Bool {
    switch error.category {
    case .invalidInput, .preconditionFailed, .notFound, .notSupported, .serverSideError: true
    case .communicationError, .clientInternalError: false
    }
  }

  /// Runs a download and shows its progress.
  func follow(_ provider: OfflineODataProvider, _ work: () async throws -> Void) async throws {
    let bars = DownloadBars(context)
    let listener = Listener { [self] event in handle(event, bars) }
    provider.listener = listener
    defer {
      provider.listener = nil
      bars.end()
    }
    try await work()
  }

  /// Receives each call before the next one: at the end of the work all calls have been handled.
  private final class Listener: OfflineODataListener {
    private let handle: @Sendable (OfflineODataEvent) -> Void

    init(_ handle: @escaping @Sendable (OfflineODataEvent) -> Void) { self.handle = handle }

    func offlineODataProvider(_: OfflineODataProvider, didUpdateOpenProgress progress: OfflineODataDownloadProgress) {
      handle(.downloadProgress(progress))
    }

    func offlineODataProvider(_: OfflineODataProvider, didUpdateDownloadProgress progress: OfflineODataDownloadProgress)
    {
      handle(.downloadProgress(progress))
    }

    func offlineODataProvider(_: OfflineODataProvider, didFinishQuery outcome: OfflineODataQueryOutcome) {
      handle(.queryFinished(outcome))
    }
  }

  private func handle(_ event: OfflineODataEvent, _ bars: DownloadBars) {
    switch event {
    case .downloadProgress(let progress):
      if progress.rows > 0 { state.withLock { $0.hasBegun = true } }
      guard let query = progress.query else { return }
      bars.update(query) { line in
        line.step = progress.step.rawValue
        line.rows = progress.rows
        line.bytes = progress.byteCount
        line.total = progress.totalRows
      }
    case .queryFinished(let outcome):
      state.withLock { state in
        // A query may be tried again without its links.
        state.outcomes.removeAll { $0.name == outcome.name }
        state.outcomes.append(outcome)
        if outcome.error == nil { state.hasBegun = true }
      }
    // Conflicts are part of their queries' outcomes.
    case .conflictsNoticed: break
    case .stateChanged, .downloadFinished, .downloadFailed, .uploadProgress, .uploadFinished, .uploadFailed: break
    }
  }

  private var outcomes: [OfflineODataQueryOutcome] { state.withLock { $0.outcomes }.sorted { $0.name < $1.name } }

  /// Writes an array with one object for each query.
  func write(to json: inout JSONOutput) throws(OutputError) {
    json.beginArray()
    for outcome in outcomes { try Self.write(outcome, to: &json) }
    json.endArray()
  }

  /// Prints the outcome of each query, and all errors except the one with which the command ends. Prints nothing if the
  /// command ends with an error before any query has ended.
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

  /// Warns about the failures, except for the error that is reported anyway.
  func warn(besides reportedError: OfflineODataError? = nil) {
    let withoutLinks = state.withLock { $0.withoutLinks }
    for outcome in outcomes {
      if outcome.error == nil, let left = withoutLinks[outcome.name] {
        let reason = left.error?.errorMessage ?? "this version of OData has no URLs for links of derived types"
        let links = TerminalText.line(left.all.joined(separator: ", "))
        context.warn("\(outcome.name): downloaded without links to other entities (\(links)): \(reason)")
      }
      for conflict in outcome.conflicts {
        let reason = conflict.isGone ? "it was deleted at the service" : "another client has changed it"
        context.warn(
          "\(conflict.path): \(reason), and a change of it is pending ('larder errors diff \(conflict.requestID)')")
      }
      if let error = outcome.error, error != reportedError { context.warn("\(outcome.name): \(error.errorMessage)") }
    }
  }

  private static func lines(_ outcomes: [OfflineODataQueryOutcome]) -> String {
    let names = Columns.width(outcomes.map(\.name))
    let rows = Columns.width(outcomes.map { "\($0.rows)" })
    return outcomes.map { outcome in
      let strategy = outcome.strategy?.rawValue ?? "failed"
      return Columns.pad(TerminalText.line(outcome.name), names) + "  " + Columns.pad(strategy, 11) + "  "
        + Columns.padLeft("\(outcome.rows)", rows) + " rows, \(outcome.byteCount) bytes\n"
    }.joined()
  }

  private static func write(_ outcome: OfflineODataQueryOutcome, to json: inout JSONOutput) throws(OutputError) {
    json.beginObject()
    json.member("name", outcome.name)
    json.member("strategy", outcome.strategy?.rawValue)
    json.member("rows", outcome.rows)
    json.member("bytes", outcome.byteCount)
    json.member("pages", outcome.pages)
    try json.member("notes", outcome.notes) { (json, note) throws(OutputError) in json.string(note) }
    try json.member("missingLinks", outcome.missingLinks) { (json, link) throws(OutputError) in json.string(link) }
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
