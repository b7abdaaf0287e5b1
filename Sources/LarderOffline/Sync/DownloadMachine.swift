/// The download of one defining query as a pure state machine: what happened goes in, what to do comes out.
///
/// | state | leaves by |
/// | --- | --- |
/// | `new` | `start` to `whole` or `changes` |
/// | `whole`: all rows are read aside | `page` to itself or `finishing`; `notModified` to `ended`; `refused`, `failed` to itself (asked otherwise, again, or from the beginning) or `ended` |
/// | `changes`: what changed since the delta link | `page` to itself or `finishing`; `notModified` to `ended`; all that makes the link useless to `whole` |
/// | `finishing` | `finished` to `ended`, `comparing`, `changes`; `incomplete` to `whole` |
/// | `comparing` | `counted` to `ended` or `whole` |
/// | `ended` | never |
///
/// The last action of a list is the only one that answers by an input. An input that does not fit the state does nothing.
struct DownloadMachine: Sendable {
  /// Where rows are gathered before readers see them.
  enum Staging: String, Codable, Sendable, Hashable { case whole, changes }

  /// What makes the staged rows those that readers see.
  struct Ending: Codable, Sendable, Hashable {
    var staging: Staging
    var deltaLink: String?
    var etag: String?
    var lastModified: String?
    /// When what is staged began to come, in seconds since 1970.
    var began: Double?
  }

  /// What to do.
  enum Action: Sendable, Hashable {
    /// Drops what is staged and begins anew.
    case begin(Staging)
    case wait(Duration)
    case ask(PageRequest)
    case finish(Ending)
    case discard
    /// Asks the service how many rows there are, and counts those here.
    case compareCounts
    case note(DownloadNote)
    case end(DownloadResult)
    case fail(OfflineODataError)
  }

  /// What happened.
  enum Input: Sendable {
    /// The download begins, or goes on where it was cut.
    case start(DownloadPosition?)
    case page(PageFacts)
    case notModified
    /// The service answered with another status.
    case refused(status: Int, OfflineODataError)
    /// No whole answer came; `rows` of the page had come. `isCut`: the answer had begun.
    case failed(OfflineODataError, isCut: Bool, rows: Int64)
    /// The answer, or what was staged of it, cannot be used.
    case unusable(OfflineODataError)
    /// The staged rows are what readers see.
    case finished
    /// The same, but only a whole read can tell which rows the query still has.
    case incomplete
    /// nil: the service does not say.
    case counted(service: Int64?, here: Int64)
  }

  enum State: Sendable {
    case new
    case whole(WholeRead)
    case changes(ChangesRead)
    case finishing(Ending, followUp: Bool)
    case comparing
    case ended
  }

  /// What the store knows of the query's last download.
  struct Known: Sendable, Hashable {
    var deltaLink: String?
    var etag: String?
    var lastModified: String?
    /// Now, and when what is staged must have begun to be gone on with: seconds since 1970.
    var now: Double = 0
    var oldestStaging: Double = 0
  }

  let traits: QueryTraits
  let known: Known
  let links: LinkRules
  /// The URL of the defining query, for links relative to it.
  let url: String
  /// What is found out on the way, for the next time.
  var memory: QueryMemory
  var state = State.new
  /// Whole reads begun in this download.
  var wholeReads = 0
  /// The pages behind which a whole read goes on that was cut.
  var resumedBehind: Int?
  /// Rows and count of a whole read that did not agree.
  var disagreement: [Int64]?

  init(
    traits: QueryTraits, known: Known = Known(), memory: QueryMemory = QueryMemory(), links: LinkRules, url: String
  ) {
    self.traits = traits
    self.known = known
    self.memory = memory
    self.links = links
    self.url = url
  }

  /// What to do after an input, in order.
  mutating func take(_ input: Input) -> [Action] {
    switch (state, input) {
    case (.new, .start(let position)): return start(position)
    case (.whole(let read), _): return whole(read, input)
    case (.changes(let read), _): return changes(read, input)
    case (.finishing(let ending, let followUp), .finished): return finished(ending, followUp)
    case (.finishing, .incomplete): return incomplete()
    case (.finishing, .unusable(let error)), (.finishing, .failed(let error, _, _)): return finishFailed(error)
    case (.comparing, .counted(let service, let here)): return counted(service, here)
    case (.comparing, .refused), (.comparing, .failed), (.comparing, .unusable): return end(.changes)
    default: return []
    }
  }

  /// Where the download goes on if it is cut now: behind the last page that was staged.
  var position: DownloadPosition? {
    switch state {
    case .whole(let read): read.pages > 0 ? .whole(read) : nil
    case .changes(let read): read.pages > 0 ? .changes(read) : nil
    case .finishing(let ending, _): .ending(ending)
    default: nil
    }
  }

  /// The same behind a page that is being staged: kept in the transaction that ends it.
  func position(behind page: PageFacts) -> DownloadPosition? {
    var next = self
    _ = next.take(.page(page))
    return next.position
  }

  private mutating func start(_ position: DownloadPosition?) -> [Action] {
    if let position, !(known.oldestStaging...known.now + DownloadPosition.skew).contains(position.began) {
      return [.note(.stagingTooOld)] + start(nil)
    }
    switch position {
    case .whole(var read)?:
      read.failures = 0
      wholeReads = 1
      resumedBehind = read.pages
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
    if let link = known.deltaLink, traits.mayTrack, memory.unusableDeltas < QueryMemory.patience {
      return beginChanges(link)
    }
    return beginWhole()
  }

  mutating func finish(_ ending: Ending, followUp: Bool = false) -> [Action] {
    state = .finishing(ending, followUp: followUp)
    return [.finish(ending)]
  }

  mutating func end(_ way: DownloadStrategy, isUnchanged: Bool = false) -> [Action] {
    state = .ended
    return [.end(DownloadResult(way: way, isUnchanged: isUnchanged))]
  }

  mutating func fail(_ error: OfflineODataError) -> [Action] {
    state = .ended
    return [.fail(error)]
  }

  private mutating func finished(_ ending: Ending, _ followUp: Bool) -> [Action] {
    switch ending.staging {
    case .whole:
      if followUp, let link = ending.deltaLink { return beginChanges(link) }
      return end(.whole)
    case .changes:
      memory.unusableDeltas = 0
      guard !memory.countIsWrong, !memory.refusesCount, wholeReads == 0,
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

  /// A delta that cannot be applied is no reason to stay behind: all is read instead. What is staged of a whole read that
  /// cannot be completed would fail the same way next time: that one begins anew.
  private mutating func finishFailed(_ error: OfflineODataError) -> [Action] {
    guard case .finishing(let ending, _) = state, error.category == .serverSideError else { return fail(error) }
    guard ending.staging == .changes else { return [.discard] + fail(error) }
    memory.unusableDeltas += 1
    return readWhole(after: .deltaUnusable(error))
  }

  private mutating func counted(_ service: Int64?, _ here: Int64) -> [Action] {
    guard let service, service != here else { return end(.changes) }
    return [.note(.countsDiffer(service: service, here: here))] + beginWhole()
  }
}
