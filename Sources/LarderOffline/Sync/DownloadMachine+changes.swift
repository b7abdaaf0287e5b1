import LarderOData

/// A delta on its way.
struct ChangesRead: Codable, Sendable, Hashable {
  /// The delta link that it began with.
  var link: String
  /// What is asked now, or next.
  var request: PageRequest
  var pages = 0
  var rows: Int64 = 0
  /// Pages without rows since one that had some.
  var emptyPages = 0
  /// How often the page asked for was cut.
  var failures = 0
  /// When it began, in seconds since 1970.
  var began: Double?
  var seen = SeenLinks()
  /// Links that their referential constraints contradict; nil for none.
  var contradictedLinks: [String: Int64]?
}

/// Links followed, so that pages in circles are noticed: one of them is kept, by a digest, and another one after twice as
/// many (Brent's algorithm). What is kept does not grow, for it is written with each page.
struct SeenLinks: Codable, Sendable, Hashable {
  private var kept: UInt64?
  /// Links since the kept one, and after how many the next is kept.
  private var steps = 0
  private var patience = 1

  /// False for the link that is kept: a circle comes by it once it is wholly behind it.
  mutating func insert(_ link: String) -> Bool {
    // FNV-1a: the same in every process, for positions are kept.
    var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in link.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
    if kept == digest { return false }
    steps += 1
    if kept == nil || steps == patience {
      (kept, steps) = (digest, 0)
      patience *= 2
    }
    return true
  }
}

// What changed since the delta link.
extension DownloadMachine {
  mutating func beginChanges(_ link: String) -> [Action] {
    guard let absolute = links.resolve(link, from: url) else { return beginWhole() }
    let isAtom = memory.speaksAtom || traits.version < .v4 && memory.deltaIsAtom != false
    let request = PageRequest(place: .link(absolute), isDelta: true, form: isAtom ? .atom : .json)
    var read = ChangesRead(link: link, request: request)
    _ = read.seen.insert(absolute)
    read.began = known.now
    state = .changes(read)
    return [.begin(.changes), .ask(request)]
  }

  mutating func changes(_ read: ChangesRead, _ input: Input) -> [Action] {
    switch input {
    case .page(let facts): return changesPage(read, facts)
    case .notModified: return [.discard] + end(.changes, isUnchanged: true)
    case .refused(let status, let error): return changesRefused(read, status, error)
    case .failed(let error, let isCut, _):
      var read = read
      guard isCut, let pause = DownloadMachine.pause(after: &read.failures) else { return fail(error) }
      state = .changes(read)
      return [.wait(pause), .ask(read.request)]
    case .unusable(let error):
      memory.unusableDeltas += 1
      return readWhole(after: .deltaUnusable(error))
    case .start, .finished, .incomplete, .counted: return []
    }
  }

  private mutating func changesPage(_ read: ChangesRead, _ facts: PageFacts) -> [Action] {
    var read = read
    read.pages += 1
    read.rows += facts.rows
    read.failures = 0
    read.emptyPages = facts.rows > 0 ? 0 : read.emptyPages + 1
    if traits.version < .v4 { memory.deltaIsAtom = facts.isAtom }
    read.contradictedLinks = QueryMemory.sum(read.contradictedLinks, facts.contradictedLinks)
    guard let next = facts.nextLink else {
      memory.contradictedLinks = QueryMemory.sum(memory.contradictedLinks, read.contradictedLinks)
      // Without a new link the old one still tells all since then; hearing it twice does no harm.
      return finish(Ending(staging: .changes, deltaLink: facts.deltaLink ?? read.link, began: read.began))
    }
    let isEndless = read.emptyPages > DownloadMachine.idlePages
    guard !isEndless, let absolute = links.resolve(next, from: url), read.seen.insert(absolute) else {
      memory.unusableDeltas += 1
      return readWhole(after: .deltaUnusable(OfflineODataError(.endlessPages)))
    }
    read.request.place = .link(absolute)
    state = .changes(read)
    return [.ask(read.request)]
  }

  private mutating func changesRefused(_ read: ChangesRead, _ status: Int, _ error: OfflineODataError) -> [Action] {
    if DownloadMachine.isAboutTheMoment(status) { return fail(error) }
    // A service that has no Atom says so by many statuses; JSON's answer decides.
    if read.request.form == .atom, status != 410, !memory.speaksAtom, memory.deltaIsAtom != true {
      var read = read
      read.request.form = .json
      state = .changes(read)
      return [.ask(read.request)]
    }
    return readWhole(after: .deltaExpired(status: status))
  }

  /// All is read where a delta is of no use; not a second time in one download.
  mutating func readWhole(after note: DownloadNote) -> [Action] {
    wholeReads > 0 ? [.note(note), .discard] + end(.whole) : [.note(note)] + beginWhole()
  }

  /// Statuses that say nothing about what was asked: the caller is not known, the service is away.
  static func isAboutTheMoment(_ status: Int) -> Bool {
    switch status {
    case 401, 403, 407, 408, 429, 502, 503, 504: true
    default: false
    }
  }

  /// How long to wait before a page that was cut is asked for again; nil where it was cut too often.
  static func pause(after failures: inout Int) -> Duration? {
    failures += 1
    return failures < 4 ? .milliseconds(250 << (failures - 1)) : nil
  }
}
