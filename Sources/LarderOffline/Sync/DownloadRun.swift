@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderODataXML
import LarderService
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Carries out the decisions of a ``DownloadMachine`` for one defining query: it sends requests to the service, stages
/// the responses, and makes the staged rows visible to readers. It holds no lock on the file while it waits for the
/// service.
struct DownloadRun: Sendable {
  let query: DefiningQueryRow
  let bound: BoundDefiningQuery
  let store: OpenStore
  /// The positions of rows in the responses of each of the store's defining queries.
  let places: [Int64: QueryPlaces]
  /// Whether the run ignores delta links, ETags and staged rows, and reads everything.
  let isWhole: Bool
  /// The marks of the download that this run is part of.
  let marks: DownloadMarks
  /// Receives progress events, often.
  let reportProgress: @Sendable (OfflineODataDownloadProgress) -> Void

  /// The mutable state of a run.
  private struct Run {
    var machine: DownloadMachine
    var staging: (any DownloadStaging)?
    var outcome: OfflineODataQueryOutcome
    var progress: OfflineODataDownloadProgress
    var result: DownloadResult?
    var failure: OfflineODataError?
    /// The number of rows that this download has already made visible to readers.
    var finished: Int64 = 0
    /// What this download has learned about the service's links.
    var learnedLinks: LinkMemory?
    /// Values with more digits than their type has.
    var fineValues = NotedValues()
    /// Values that were kept although they do not fit their declared type, and entities that were left out.
    var rawValues = NotedValues()
    var unknownKeys = NotedValues()
    /// What the model does not declare.
    var undeclared = UndeclaredContent()
    /// Whether some of the staged rows were read by an earlier run, which may not have recorded their links.
    var isResumed = false
    /// The links that rows still lack after links were followed; nil if none were.
    var missingLinks: [String]?

    mutating func note(_ facts: PageEnd) {
      fineValues.add(facts.fineValues)
      rawValues.add(facts.rawValues)
      unknownKeys.add(facts.unknownKeys)
      undeclared.add(facts.undeclared)
    }
  }

  var pages: PageURL { PageURL(query: query.url, version: bound.traits.version, key: bound.key) }

  /// Downloads the query. All errors are reported in the outcome.
  func run() async -> OfflineODataQueryOutcome {
    var run = Run(
      machine: machine(), outcome: OfflineODataQueryOutcome(name: query.name),
      progress: OfflineODataDownloadProgress(.reading, query: query.name))
    do {
      let links = try await store.linkMemory()
      if let links { run.machine.memory.links = links.isRecent(now: run.machine.lastDownload.now) ? links : nil }
      defer { run.learnedLinks = run.machine.memory.links == links ? nil : run.machine.memory.links }
      if let container = bound.container, try await store.isDeletedHere(container) {
        note(.containerDeleted, &run)
        run.result = DownloadResult(strategy: .condition, isUnchanged: true)
      } else {
        let resumed =
          isWhole ? nil : try await ReplicaStaging.resume(query, bound: bound, places: places, replica: store.replica)
        run.staging = resumed?.0
        run.isResumed = resumed != nil
        try await readAll(&run, resumed?.1)
      }
      // The download may have returned no rows.
      if run.failure == nil { try await marks.begin(store.replica) }
      if query.streams, run.failure == nil { try await streams(&run) }
    } catch {
      run.failure = OfflineODataError(below: error)
    }
    // If the download was interrupted or failed, rows of its last pages may still be on their way to the file.
    await run.staging?.settle()
    do throws(StorageError) {
      try await store.replica.setFacts(JSONSettings.encode(run.machine.learned), of: query.id)
      if let links = run.learnedLinks {
        try await store.replica.set(LinkMemory.setting, to: .text(JSONSettings.encode(links)))
      }
    } catch { run.failure = run.failure ?? OfflineODataError(error) }
    run.outcome.error = run.failure
    if let first = run.fineValues.first {
      note(.excessFractionalDigits(first: first, count: run.fineValues.count), &run)
    }
    if let first = run.rawValues.first { note(.rawValues(first: first, count: run.rawValues.count), &run) }
    if let first = run.unknownKeys.first { note(.unknownKeys(first: first, count: run.unknownKeys.count), &run) }
    if !run.undeclared.types.isEmpty { note(.undeclaredTypes(run.undeclared.types), &run) }
    if !run.undeclared.properties.isEmpty { note(.undeclaredProperties(run.undeclared.properties), &run) }
    if run.failure == nil {
      run.outcome.missingLinks = run.missingLinks ?? run.machine.missingLinks.sorted()
      for link in run.outcome.missingLinks { note(.linkNotDownloaded(link), &run) }
    }
    if let result = run.result { run.outcome.strategy = OfflineODataDownloadStrategy(result) }
    run.progress.step = .done
    reportProgress(run.progress)
    return run.outcome
  }

  /// Adds a remark to the outcome, and reports it.
  private func note(_ note: DownloadNote, _ run: inout Run) {
    run.outcome.notes.append(note.description)
    store.report(note.diagnostic(of: query.name))
  }

  private func machine() -> DownloadMachine {
    let root = store.root
    // ETags of unchanged rows do not apply if an entity contains the rows: the entity may be another row now.
    let isOfSet = bound.container == nil && !isWhole
    let lastDownload = DownloadMachine.LastDownload(
      deltaLink: isWhole ? nil : query.deltaLink, etag: isOfSet ? query.etag : nil,
      lastModified: isOfSet ? query.lastModified : nil,
      missingLinks: query.missingLinks, now: store.now, oldestStaging: store.oldestStaging)
    var memory = query.memory ?? QueryMemory()
    if isWhole { memory.unusableDeltas = 0 }
    let rules = LinkRules(origin: root.origin.text, root: root.url.absoluteString, query: root.query)
    let url = (try? root.absoluteText(query.url)) ?? query.url
    return DownloadMachine(traits: bound.traits, lastDownload: lastDownload, memory: memory, links: rules, url: url)
  }

  private func readAll(_ run: inout Run, _ position: DownloadPosition?) async throws {
    var actions = run.machine.take(.start(position))
    while !actions.isEmpty {
      let action = actions.removeFirst()
      if let input = try await perform(action, &run) { actions = run.machine.take(input) }
    }
  }

  private func perform(_ action: DownloadMachine.Action, _ run: inout Run) async throws -> DownloadMachine.Input? {
    switch action {
    case .begin(let kind):
      await run.staging?.settle()
      run.staging = try await ReplicaStaging.begin(kind, query: query, bound: bound, places: places, store: store)
      run.progress.step = kind == .whole ? .reading : .changes
      run.progress.rows = 0
      if kind == .whole { (run.undeclared, run.isResumed) = (UndeclaredContent(), false) }
      run.progress.totalRows = nil
      run.outcome.rows = run.finished
      reportProgress(run.progress)
    case .wait(let pause): try await store.conversation.options.environment.sleep(pause)
    case .note(let note): self.note(note, &run)
    case .discard:
      try await run.staging?.discard()
      run.staging = nil
    case .end(let result): run.result = result
    case .fail(let error): run.failure = error
    case .ask(let request): return try await ask(request, &run)
    case .askLink(let question): return try await ask(question, run.machine)
    case .finish(let ending): return try await finish(ending, &run)
    case .compareCounts: return try await compareCounts()
    }
    return nil
  }

  // MARK: Requests

  private func ask(_ request: PageRequest, _ run: inout Run) async throws -> DownloadMachine.Input {
    try Task.checkCancellation()
    let response: ODataMediaResponse
    do throws(ODataServiceError) {
      response = try await store.conversation.streamResponse(to: pages.request(request))
    } catch {
      if try await isOfDeletedEntity(error, request) { return .page(PageEnd(stagedRows: 0)) }
      return try input(of: try await attributed(error, request), to: request)
    }
    if response.httpStatus == 204, bound.mayBeNull, !request.isLink { return .page(PageEnd(stagedRows: 0)) }
    guard let inputForOtherContent = inputForOtherContent(response, request) else {
      return try await stage(response, of: request, &run)
    }
    response.body.cancel()
    return inputForOtherContent
  }

  /// Whether the service has deleted the entity that the query names by its key since the last download. A path that is no
  /// longer valid has the same status, so the entity's set must answer.
  private func isOfDeletedEntity(_ error: ODataServiceError, _ request: PageRequest) async throws -> Bool {
    guard query.downloaded != nil, let set = bound.setOfEntity, !request.isLink, !request.isDelta,
      error.httpStatus == 404 || error.httpStatus == 410, error.payload != nil, error.isOfRequestedURL
    else { return false }
    do throws(ODataServiceError) {
      let response = try await store.conversation.send(ODataSingleRequest(.read, "\(set)?$top=1", useCache: false))
      return (try? response.payload(model: store.replica.model)) != nil
    } catch {
      if error.isCancelled { throw CancellationError() }
      return false
    }
  }

  /// Returns what a response without rows means, by its status and type; nil for a response that may hold rows. Such a
  /// response says nothing about the rows themselves.
  func inputForOtherContent(_ response: ODataMediaResponse, _ request: PageRequest) -> DownloadMachine.Input? {
    let type = DownloadRun.mediaType(response)
    func error(_ found: String) -> OfflineODataError {
      OfflineODataError(.malformedResponse, response.located("expected \(content(request).rawValue), found \(found)"))
    }
    switch response.httpStatus {
    case 200, 203, 206: break
    case let status:
      return .unusable(error("a response without \(status == 204 ? "content" : "a result")"))
    }
    if WebPage.isType(type) { return .unusable(error("a web page (\(type))")) }
    guard request.form == .json, type.contains("xml") else { return nil }
    let atom = error("\(type), but JSON was requested")
    // A service without JSON may also say so by the type of its response.
    return bound.traits.version < .v4 && !request.isDelta ? .rejected(status: 406, atom) : .unusable(atom)
  }

  private func content(_ request: PageRequest) -> PageForm.Content {
    if request.isDelta || bound.returnsChanges { return .changes }
    return bound.traits.isCollection ? .collection : .entity
  }

  private static func mediaType(_ response: ODataMediaResponse) -> String {
    (response.contentType ?? "").prefix { $0 != ";" }.lowercased()
  }

  /// Only the service itself can say that a link is no longer valid. The first page of a query is what a look-up would
  /// request.
  private func attributed(
    _ error: ODataServiceError, _ request: PageRequest
  ) async throws(ODataServiceError) -> ODataServiceError {
    request.isLink ? try await store.attributed(error, path: query.url) : error
  }

  private func input(of error: ODataServiceError, to request: PageRequest) throws -> DownloadMachine.Input {
    if error.isCancelled { throw CancellationError() }
    let downloadError = OfflineODataError(error)
    if error.isForeign { return .failed(downloadError, isInterrupted: false, rows: 0) }
    switch error.category {
    case .http(304, _):
      // A delta link is already a condition.
      guard request.isDelta && error.isOfRequestedURL || error.response?.isNotModified == true else {
        return .unusable(OfflineODataError(.malformedResponse, downloadError.errorMessage))
      }
      return .notModified
    case .http(let status, _): return .rejected(status: status, downloadError)
    case .communication, .authentication(.unavailable), .authentication(.unreachable):
      return .failed(downloadError, isInterrupted: false, rows: 0)
    case .authentication, .csrf: return .rejected(status: 401, downloadError)
    default: throw downloadError
    }
  }

  private func stage(
    _ response: ODataMediaResponse, of request: PageRequest, _ run: inout Run
  ) async throws -> DownloadMachine.Input {
    // The validators of another URL mean nothing to that of the query.
    let isOwn = response.sender == .requested
    let field = (etag: isOwn ? response.etag : nil, lastModified: isOwn ? response.fields[.lastModified] : nil)
    let machine = run.machine
    var page = arriving(response, content(request), run.progress) { facts in
      var facts = facts
      (facts.etag, facts.lastModified) = field
      return machine.position(behind: facts).map(JSONSettings.encode)
    }
    page.isCounted = machine.countsNextPage
    do {
      guard let (staged, bytes) = try await run.staging?.page(page) else { throw DownloadRun.nothingStaged }
      var facts = staged
      (facts.etag, facts.lastModified) = field
      // Pages may overlap: each row counts once.
      let earlier = run.staging?.earlierRows ?? 0
      run.outcome.rows = facts.stagedRows.map { run.finished + $0 - earlier } ?? run.outcome.rows + facts.rows
      run.outcome.pages += 1
      run.note(facts)
      run.progress.rows = facts.stagedRows ?? run.progress.rows + facts.rows
      run.progress.totalRows = facts.count ?? run.progress.totalRows
      count(bytes, &run)
      return .page(facts)
    } catch { return try inputForBrokenPage(error, of: response) }
  }

  private static let nothingStaged = OfflineODataError(.internalFailure, "no rows are staged")

  private func count(_ bytes: Int64, _ run: inout Run) {
    run.outcome.byteCount += bytes
    run.progress.byteCount += bytes
    reportProgress(run.progress)
  }

  /// What is known about a response before it is read.
  func form(_ response: ODataMediaResponse, _ content: PageForm.Content) -> PageForm {
    PageForm(
      isAtom: DownloadRun.mediaType(response).contains("xml"), url: nil, status: response.httpStatus,
      contentType: response.contentType, version: version(response), content: content,
      protocolVersion: protocolVersion(response))
  }

  private func arriving(
    _ response: ODataMediaResponse, _ content: PageForm.Content, _ progress: OfflineODataDownloadProgress,
    countsRows: Bool = true, position: @escaping @Sendable (PageEnd) -> String?
  ) -> ArrivingPage {
    ArrivingPage(body: response.body, form: form(response, content), position: position) {
      [reportProgress] bytes, rows in
      var updatedProgress = progress
      updatedProgress.byteCount += bytes
      // Until the page is complete, it is unknown which of its rows were there before.
      if countsRows {
        updatedProgress.rows = min(
          updatedProgress.rows + rows, max(updatedProgress.rows, updatedProgress.totalRows ?? .max))
      }
      reportProgress(updatedProgress)
    }
  }

  /// Returns the input for a page that could not be read to its end; `response` is its response.
  private func inputForBrokenPage(
    _ error: any Error, of response: ODataMediaResponse? = nil
  ) throws -> DownloadMachine.Input {
    if Task.isCancelled || error is CancellationError { throw CancellationError() }
    if let response, let error = error as? PayloadError, case .inStreamError = error.problem {
      return .unusable(OfflineODataError(.serviceFailed, response.located("\(error.problem)")))
    }
    let requestError = (error as? HTTPTransportError).flatMap { response?.error($0) }
    let downloadError = OfflineODataError(below: requestError ?? error)
    switch error {
    case HTTPTransportError.cancelled: throw CancellationError()
    case let error as HTTPTransportError where error.isTransient:
      return .failed(downloadError, isInterrupted: true, rows: 0)
    case is HTTPTransportError: return .failed(downloadError, isInterrupted: false, rows: 0)
    case is StorageError: throw downloadError
    case is PayloadError: return .unusable(downloadError)
    case is AtomError, is PageError, is ColumnValueError:
      return .unusable(OfflineODataError(.malformedResponse, cause: error))
    default:
      if downloadError.category == .serverSideError { return .unusable(downloadError) }
      throw downloadError
    }
  }

  private func version(_ response: ODataMediaResponse) -> ODataVersion {
    let declaredVersion = response.fields[.odataVersion] ?? response.fields[.dataServiceVersion]
    return declaredVersion.flatMap(ODataVersion.init(header:)) ?? bound.traits.version
  }

  /// The protocol version that a response must have: the service's version. A V2 service may respond in V3, which the
  /// request offers.
  private func protocolVersion(_ response: ODataMediaResponse) -> ODataVersion {
    let version = version(response)
    return bound.traits.version < .v4 && version < .v4 ? max(version, bound.traits.version) : bound.traits.version
  }

  // MARK: Finishing

  private func finish(_ ending: DownloadMachine.Ending, _ run: inout Run) async throws -> DownloadMachine.Input {
    guard let staging = run.staging else { throw DownloadRun.nothingStaged }
    var ending = ending
    do {
      try await follow(&ending, staging, isResumed: run.isResumed)
      if ending.staging == .whole { run.missingLinks = ending.missingLinks?.sorted() }
      var links = InlineLinks()
      while let inline = try await staging.nextInlinePage() {
        try await read(inline, staging: staging, links: &links, run: &run)
      }
      run.progress.step = .committing
      reportProgress(run.progress)
      let now = Double(store.conversation.options.environment.unixSeconds)
      if run.unknownKeys.count > 0 { ending.keepsAbsent = true }
      let outcome = try await staging.finish(ending, at: now, marks: marks)
      if !outcome.conflicts.isEmpty {
        note(.pendingRowsChanged(outcome.conflicts.count), &run)
      }
      run.outcome.conflicts += outcome.noticed
      run.staging = nil
      run.finished = run.outcome.rows
      return outcome.isIncomplete ? .incomplete : .finished
    } catch { return try inputForBrokenPage(error) }
  }

  /// Reads a part of an inline collection for which the service gave a separate link.
  private func read(
    _ inline: InlinePage, staging: any DownloadStaging, links: inout InlineLinks, run: inout Run
  ) async throws {
    try Task.checkCancellation()
    guard let link = run.machine.links.resolve(inline.link, from: run.machine.url) else {
      throw OfflineODataError(.foreignLink)
    }
    guard links.insert(link) else { throw OfflineODataError(.endlessPages) }
    let request = PageRequest(place: .link(link), form: run.machine.memory.supportsOnlyAtom ? .atom : .json)
    let isCollection = isCollection(inline)
    guard let response = try await response(to: request, of: inline, isCollection: isCollection) else {
      return try await staging.end(inline)
    }
    if case .unusable(let error)? = inputForOtherContent(response, request) { throw error }
    // These rows are not the query's own.
    let page = arriving(response, isCollection ? .collection : .entity, run.progress, countsRows: false) { _ in nil }
    let (facts, bytes) = try await staging.inlinePage(inline, page)
    count(bytes, &run)
    run.note(facts)
    guard links.note(inline, new: facts.newRows ?? facts.rows) else { throw OfflineODataError(.endlessPages) }
  }

  /// Downloads the bytes of the media that the rows refer to.
  private func streams(_ run: inout Run) async throws {
    run.progress.step = .streams
    let before = run.progress
    let reportProgress = reportProgress
    let bytes = try await StreamDownload(store: store, isWhole: isWhole).run(bound, query: query.id) { bytes in
      var updatedProgress = before
      updatedProgress.byteCount += bytes
      reportProgress(updatedProgress)
    }
    run.outcome.byteCount += bytes
    run.progress.byteCount += bytes
  }

  private func compareCounts() async throws -> DownloadMachine.Input {
    try Task.checkCancellation()
    let storeCount = try await store.replica.rowCount(of: query.id, in: bound.table.number)
    do throws(ODataServiceError) {
      let countResponse = try await store.conversation.send(ODataSingleRequest(.read, pages.count, useCache: false))
      guard case .count(let count) = try countResponse.payload() else {
        return .counted(service: nil, storeCount: storeCount)
      }
      return .counted(service: count, storeCount: storeCount)
    } catch {
      if error.isCancelled { throw CancellationError() }
      return .counted(service: nil, storeCount: storeCount)
    }
  }
}

extension OpenStore {
  /// What the service is known to reject on its own links; nil if nothing is known.
  func linkMemory() async throws(StorageError) -> LinkMemory? {
    guard case .text(let text)? = try await replica.setting(LinkMemory.setting) else { return nil }
    return JSONSettings.decode(LinkMemory.self, text)
  }
}

extension OfflineODataDownloadStrategy {
  init(_ result: DownloadResult) {
    switch result.strategy {
    case .changes: self = .changes
    case .whole: self = .whole
    case .condition: self = .notModified
    }
  }
}
