import LarderOData
import LarderService

/// The state of a delta download that is in progress.
struct ChangesRead: Codable, Sendable, Hashable {
  /// The delta link that the download began with.
  var link: String
  /// The current request, or the next one.
  var request: PageRequest
  var pages = 0
  var rows: Int64 = 0
  /// The number of pages without rows since the last page that had some.
  var emptyPages = 0
  /// How often the transfer of the current page was interrupted.
  var failures = 0
  /// When the download began, in seconds since 1970.
  var began: Double?
  var seen = SeenLinks()
  /// The number of links that referential constraints contradict; nil for none.
  var contradictedLinks: [String: Int64]?
}

/// Detects a cycle in the links that a download follows, with Brent's algorithm. It keeps a digest of one link, and
/// replaces that link after twice as many steps as before. The size stays constant, because it is written with each
/// page.
struct SeenLinks: Codable, Sendable, Hashable {
  private var kept: UInt64?
  /// The number of links since the kept one, and the number after which the next one is kept.
  private var steps = 0
  private var patience = 1

  /// Returns false if the link is the kept one. A cycle is detected as soon as the kept link lies on it.
  mutating func insert(_ link: String) -> Bool {
    // FNV-1a gives the same digest in every process. This is needed because positions are stored.
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

// Reads what has changed since the delta link.
extension DownloadMachine {
  mutating func beginChanges(_ link: String) -> [Action] {
    guard let absolute = links.resolve(link, from: url) else { return beginWhole() }
    let isAtom = memory.supportsOnlyAtom || traits.version < .v4 && memory.deltaIsAtom != false
    let request = PageRequest(place: .link(absolute), isDelta: true, form: isAtom ? .atom : .json)
    var read = ChangesRead(link: link, request: request)
    _ = read.seen.insert(absolute)
    read.began = lastDownload.now
    state = .changes(read)
    return [.begin(.changes), .ask(request)]
  }

  mutating func changes(_ read: ChangesRead, _ input: Input) -> [Action] {
    switch input {
    case .page(let facts): return changesPage(read, facts)
    case .notModified: return [.discard] + end(.changes, isUnchanged: true)
    case .rejected(let status, let error): return handleRejectedChanges(read, status, error)
    case .failed(let error, let isInterrupted, _):
      var read = read
      guard isInterrupted, let pause = DownloadMachine.pause(after: &read.failures) else { return fail(error) }
      state = .changes(read)
      return [.wait(pause), .ask(read.request)]
    case .unusable(let error):
      memory.unusableDeltas += 1
      return readWhole(after: .deltaUnusable(error))
    case .start, .answered, .finished, .incomplete, .counted: return []
    }
  }

  private mutating func changesPage(_ read: ChangesRead, _ facts: PageEnd) -> [Action] {
    var read = read
    read.pages += 1
    read.rows += facts.rows
    read.failures = 0
    read.emptyPages = facts.rows > 0 ? 0 : read.emptyPages + 1
    if traits.version < .v4 { memory.deltaIsAtom = facts.isAtom }
    read.contradictedLinks = QueryMemory.sum(read.contradictedLinks, facts.contradictedLinks)
    // The service has begun to expand. A delta has only the rows that changed.
    if let link = facts.links.keys.sorted().first(where: {
      missingLinks.contains($0) && facts.links[$0]?.isShown == true
    }) {
      return readWhole(after: .linkShown(link))
    }
    guard let next = facts.nextLink else {
      memory.contradictedLinks = QueryMemory.sum(memory.contradictedLinks, read.contradictedLinks)
      // Without a new link, the old link still returns all changes since then. Applying changes twice does no harm.
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

  private mutating func handleRejectedChanges(_ read: ChangesRead, _ status: Int, _ error: OfflineODataError)
    -> [Action]
  {
    if DownloadMachine.isTemporary(status) { return fail(error) }
    // Services without Atom report this with various statuses. The response to a request for JSON decides.
    if read.request.form == .atom, status != 410, !memory.supportsOnlyAtom, memory.deltaIsAtom != true {
      var read = read
      read.request.form = .json
      state = .changes(read)
      return [.ask(read.request)]
    }
    return readWhole(after: .deltaExpired(status: status))
  }

  /// Reads everything if a delta cannot be used, but only once in one download.
  mutating func readWhole(after note: DownloadNote) -> [Action] {
    wholeReads > 0 ? [.note(note), .discard] + end(.whole) : [.note(note)] + beginWhole()
  }

  /// Whether a status says nothing about the request itself: the client is not authenticated, or the service is
  /// unavailable.
  static func isTemporary(_ status: Int) -> Bool {
    status == 401 || status == 403 || status == 407 || TemporaryStatus.contains(status)
  }

  /// How long to wait before an interrupted page is requested again; nil after too many interruptions.
  static func pause(after failures: inout Int) -> Duration? {
    failures += 1
    return failures < 4 ? .milliseconds(250 << (failures - 1)) : nil
  }
}
