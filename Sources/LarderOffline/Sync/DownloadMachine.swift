/// The download of one defining query as a pure state machine: inputs say what happened, actions say what to do.
///
/// | state | leaves by |
/// | --- | --- |
/// | `new` | `start` to `whole` or `changes` |
/// | `whole`: all rows are read into staging | `page` to itself or `finishing`; `notModified` to `ended`; `rejected`, `failed` to itself (with other options, a repeated request, or from the beginning) or `ended` |
/// | `changes`: reads what changed since the delta link | `page` to itself or `finishing`; `notModified` to `ended`; everything that makes the link useless to `whole` |
/// | `asking`: requests one row's link for each requested link that no row has | `answered` to itself or `finishing`; `failed` to `ended` |
/// | `finishing` | `finished` to `ended`, `comparing`, `changes`; `incomplete` to `whole` |
/// | `comparing` | `counted` to `ended` or `whole` |
/// | `ended` | never |
///
/// Only the last action of a list produces an input. An input that does not fit the state is ignored.
struct DownloadMachine: Sendable {
  /// Where rows are staged before readers see them.
  enum Staging: String, Codable, Sendable, Hashable { case whole, changes }

  /// How the staged rows become visible to readers.
  struct Ending: Codable, Sendable, Hashable {
    var staging: Staging
    var deltaLink: String?
    var etag: String?
    var lastModified: String?
    /// When the download of the staged rows began, in seconds since 1970.
    var began: Double?
    /// The requested links for which it is unknown whether the service expands them, in the order in which they are
    /// asked for.
    var questions: [LinkQuestion]?
    /// Whether a row has another requested link inline.
    var showsLinks: Bool?
    /// The requested links that the service did not return.
    var missingLinks: [String]?
    /// Those of them that the service returns one by one.
    var linksToFollow: [String]?
    /// Whether rows that the read did not return stay, because it left out entities.
    var keepsAbsent: Bool?
  }

  /// What to do.
  enum Action: Sendable, Hashable {
    /// Discards what is staged and starts again.
    case begin(Staging)
    case wait(Duration)
    case ask(PageRequest)
    /// Requests the link of one row.
    case askLink(LinkQuestion)
    case finish(Ending)
    case discard
    /// Asks the service for its number of rows, and counts the rows in the store.
    case compareCounts
    case note(DownloadNote)
    case end(DownloadResult)
    case fail(OfflineODataError)
  }

  /// What happened.
  enum Input: Sendable {
    /// The download begins, or resumes at the position where it was interrupted.
    case start(DownloadPosition?)
    case page(PageEnd)
    case notModified
    /// What the service responds to the request of one row's link.
    case answered(LinkQuestion.Answer)
    /// The service responded with another status.
    case rejected(status: Int, OfflineODataError)
    /// The response did not arrive completely; `rows` of the page had arrived. `isInterrupted`: the response had begun.
    case failed(OfflineODataError, isInterrupted: Bool, rows: Int64)
    /// The response, or what was staged of it, cannot be used.
    case unusable(OfflineODataError)
    /// The staged rows are now visible to readers.
    case finished
    /// The staged rows are now visible to readers, but only a whole read can find out which rows the query still has.
    case incomplete
    /// The number of rows of the service and of the store. `service` is nil if the service does not say.
    case counted(service: Int64?, storeCount: Int64)
  }

  enum State: Sendable {
    case new
    case whole(WholeRead)
    case changes(ChangesRead)
    case asking(Ending, followUp: Bool)
    case finishing(Ending, followUp: Bool)
    case comparing
    case ended
  }

  /// What the store knows of the query's last download.
  struct LastDownload: Sendable, Hashable {
    var deltaLink: String?
    var etag: String?
    var lastModified: String?
    /// The requested links that the service did not return.
    var missingLinks: Set<String> = []
    /// The current time (`now`), and the earliest start of a staged download that may be resumed: in seconds since
    /// 1970.
    var now: Double = 0
    var oldestStaging: Double = 0
  }

  let traits: QueryTraits
  let lastDownload: LastDownload
  let links: LinkRules
  /// The URL of the defining query, for links relative to it.
  let url: String
  /// What this download has learned about the service, for the next download.
  var memory: QueryMemory
  var state = State.new
  /// Whether the service has rejected `$top` and `$skip` in this download, with statuses about options (true) or others
  /// (false); nil if not, or if it has responded without them since.
  var windowsRejection: Bool?
  /// The number of whole reads started in this download.
  var wholeReads = 0
  /// The number of pages after which an interrupted whole read resumes.
  var resumedAfterPage: Int?
  /// The number of rows and the count of a whole read, if they did not agree.
  var disagreement: [Int64]?
  /// The requested links that the rows in the store lack.
  private(set) var missingLinks: Set<String>

  init(
    traits: QueryTraits, lastDownload: LastDownload = LastDownload(), memory: QueryMemory = QueryMemory(),
    links: LinkRules, url: String
  ) {
    self.traits = traits
    self.lastDownload = lastDownload
    missingLinks = lastDownload.missingLinks
    self.memory = memory
    self.memory.forgetOldRejections(now: lastDownload.now)
    self.links = links
    self.url = url
  }

  /// What the next download should know: what holds only for this one is left out.
  var learned: QueryMemory {
    var learned = memory
    if windowsRejection != nil { learned.rejectsWindows = false }
    return learned
  }

  /// Returns what to do after an input, in order.
  mutating func take(_ input: Input) -> [Action] {
    switch (state, input) {
    case (.new, .start(let position)): return start(position)
    case (.whole(let read), _): return whole(read, input)
    case (.changes(let read), _): return changes(read, input)
    case (.asking(let ending, let followUp), .answered(let answer)): return answered(answer, ending, followUp)
    case (.asking, .failed(let error, _, _)), (.asking, .unusable(let error)): return fail(error)
    case (.finishing(let ending, let followUp), .finished): return finished(ending, followUp)
    case (.finishing, .incomplete): return incomplete()
    case (.finishing, .unusable(let error)), (.finishing, .failed(let error, _, _)): return handleFailedFinish(error)
    case (.comparing, .counted(let service, let storeCount)): return counted(service, storeCount)
    case (.comparing, .rejected), (.comparing, .failed), (.comparing, .unusable): return end(.changes)
    default: return []
    }
  }

  /// Where the download resumes if it is interrupted now: after the last staged page.
  var position: DownloadPosition? {
    switch state {
    case .whole(let read): read.pages > 0 ? .whole(read) : nil
    case .changes(let read): read.pages > 0 ? .changes(read) : nil
    case .asking(let ending, _), .finishing(let ending, _): .ending(ending)
    default: nil
    }
  }

  /// The position after a page that is being staged. It is stored in the transaction that ends the page.
  func position(behind page: PageEnd) -> DownloadPosition? {
    var next = self
    _ = next.take(.page(page))
    return next.position
  }

  private mutating func start(_ position: DownloadPosition?) -> [Action] {
    if let position,
      !(lastDownload.oldestStaging...lastDownload.now + DownloadPosition.maximumClockSetback).contains(position.began)
    {
      return [.note(.stagingTooOld)] + start(nil)
    }
    switch position {
    case .whole(var read)?:
      read.failures = 0
      wholeReads = 1
      resumedAfterPage = read.pages
      state = .whole(read)
      return [.note(.resumed(.whole, pages: read.pages, rows: read.rows)), .ask(read.request)]
    case .changes(var read)?:
      read.failures = 0
      state = .changes(read)
      return [.note(.resumed(.changes, pages: read.pages, rows: read.rows)), .ask(read.request)]
    case .ending(let ending)?:
      wholeReads = ending.staging == .whole ? 1 : 0
      return finish(ending)
    case nil: break
    }
    if let link = lastDownload.deltaLink, traits.requestsDeltaLink,
      memory.unusableDeltas < QueryMemory.unusableDeltaLimit
    {
      return beginChanges(link)
    }
    return beginWhole()
  }

  mutating func finish(_ ending: Ending, followUp: Bool = false) -> [Action] {
    if let question = ending.questions?.first {
      state = .asking(ending, followUp: followUp)
      return [.askLink(question)]
    }
    state = .finishing(ending, followUp: followUp)
    return [.finish(ending)]
  }

  mutating func end(_ strategy: DownloadStrategy, isUnchanged: Bool = false) -> [Action] {
    state = .ended
    return [.end(DownloadResult(strategy: strategy, isUnchanged: isUnchanged))]
  }

  mutating func fail(_ error: OfflineODataError) -> [Action] {
    state = .ended
    return [.fail(error)]
  }

  private mutating func answered(_ answer: LinkQuestion.Answer, _ ending: Ending, _ followUp: Bool) -> [Action] {
    var ending = ending
    guard let question = ending.questions?.removeFirst() else { return [] }
    if question.isMissing(answer, version: traits.version, showsOthers: ending.showsLinks == true) {
      ending.missingLinks = (ending.missingLinks ?? []) + [question.link]
      if answer == .related || answer == .none {
        ending.linksToFollow = (ending.linksToFollow ?? []) + [question.link]
      }
    }
    return finish(ending, followUp: followUp)
  }

  private mutating func finished(_ ending: Ending, _ followUp: Bool) -> [Action] {
    switch ending.staging {
    case .whole:
      missingLinks = Set(ending.missingLinks ?? [])
      if followUp, let link = ending.deltaLink { return beginChanges(link) }
      return end(.whole)
    case .changes:
      memory.unusableDeltas = 0
      guard !memory.countIsWrong, !memory.rejectsCount, wholeReads == 0,
        traits.deltaNeedsCount(isAtom: memory.deltaIsAtom == true)
      else { return end(wholeReads > 0 ? .whole : .changes) }
      state = .comparing
      return [.compareCounts]
    }
  }

  private mutating func incomplete() -> [Action] {
    memory.unusableDeltas = 0
    return wholeReads < 3 ? [.note(.deltaIncomplete)] + beginWhole() : end(.whole)
  }

  /// Handles a failed finish. If a delta cannot be applied, everything is read instead. If a whole read cannot be
  /// completed, its staged rows are discarded and the next download starts again, because it would fail in the same
  /// way.
  private mutating func handleFailedFinish(_ error: OfflineODataError) -> [Action] {
    guard case .finishing(let ending, _) = state, error.category == .serverSideError else { return fail(error) }
    guard ending.staging == .changes else { return [.discard] + fail(error) }
    memory.unusableDeltas += 1
    return readWhole(after: .deltaUnusable(error))
  }

  private mutating func counted(_ service: Int64?, _ storeCount: Int64) -> [Action] {
    guard let service, service != storeCount else { return end(.changes) }
    return [.note(.countsDiffer(serviceCount: service, storeCount: storeCount))] + beginWhole()
  }
}
