import LarderOData

// Reads all rows into the next generation of the tables.
extension DownloadMachine {
  mutating func beginWhole(windows: Int? = nil) -> [Action] {
    wholeReads += 1
    var request = PageRequest(place: .query(nil), form: memory.supportsOnlyAtom ? .atom : .json)
    request.countsRows =
      traits.requestsCount && !memory.rejectsCount && !memory.countIsWrong && memory.links?.rejectsCount != true
    request.tracksChanges =
      traits.requestsDeltaLink && !memory.rejectsTracking && memory.unusableDeltas < QueryMemory.unusableDeltaLimit
    let size = windows ?? sizeAtOnce
    if let size {
      request.tracksChanges = false
      request.place = .query(PageRequest.Window(top: size, skip: 0))
    } else if traits.isCollection, !traits.hasWindow {
      request.maximumPageSize = memory.rejectsPageSize == true ? nil : traits.pageSize
    }
    // The ETag of one entity stays the same when expanded entities change (OData Protocol 4.01 §8.3.1).
    if wholeReads == 1, memory.wasOnePage, size == nil, traits.isCollection || !traits.hasExpand {
      request.etag = lastDownload.etag
      request.lastModified = lastDownload.etag == nil ? lastDownload.lastModified : nil
    }
    var read = WholeRead(request)
    read.began = lastDownload.now
    read.windows = size.map { WholeRead.Windows(size: $0) }
    state = .whole(read)
    return [.begin(.whole)] + (size.map { [.note(.clientPaging(size: $0))] } ?? []) + [.ask(request)]
  }

  /// The page size, if the client divides the result into pages from the start: the service is known to neither page
  /// nor track changes.
  private var sizeAtOnce: Int? {
    guard traits.canPage, !memory.pagesItself, !memory.rejectsWindows else { return nil }
    guard !traits.requestsDeltaLink || memory.rejectsTracking || memory.givesNoDeltaLink else { return nil }
    return traits.pageSize
  }

  mutating func whole(_ read: WholeRead, _ input: Input) -> [Action] {
    switch input {
    case .page(let facts):
      return DownloadMachine.optionsNote(read) + notePreferenceMemory(read) + wholePage(read, facts)
    case .notModified: return [.discard] + end(.condition, isUnchanged: true)
    case .rejected(let status, let error): return handleRejectedWhole(read, status, error)
    case .failed(let error, let isInterrupted, let rows):
      return handleFailedWhole(read, error: error, isInterrupted: isInterrupted, rows: rows)
    case .unusable(let error):
      // The earlier download was interrupted at this page, and the page still cannot be read: its link is no longer of
      // use.
      guard resumedAfterPage == read.pages, wholeReads == 1 else { return fail(error) }
      return restart(note: .pageUnusable(error), windows: read.windows?.size) ?? fail(error)
    case .start, .answered, .finished, .incomplete, .counted: return []
    }
  }

  // MARK: Pages

  private mutating func wholePage(_ old: WholeRead, _ facts: PageEnd) -> [Action] {
    var read = old
    learn(from: &read, facts)
    read.pages += 1
    read.rows += facts.rows
    // With $expand, the query's own table may also have rows that are not the query's own.
    read.distinct = traits.hasExpand ? nil : facts.stagedRows
    read.count = facts.count ?? read.count
    read.failures = 0
    (read.linkRejection, read.firstRejection) = (nil, nil)
    read.contradictedLinks = QueryMemory.sum(read.contradictedLinks, facts.contradictedLinks)
    read.links = LinkFacts.sum(read.links, facts.links)
    if facts.unknownKeys.count > 0 { read.leavesOutRows = true }
    read.windows?.came += facts.rows
    if let rows = facts.stagedRows, rows != read.growth.rows {
      read.growth = WholeRead.Growth(rows: rows, pages: read.pages)
    }
    if let next = facts.nextLink { return follow(next, read) }
    if read.windows != nil { return windowEnded(read) }
    if facts.deltaLink == nil, read.pages == 1 || memory.pagesItself, lacksRows(read) {
      // The service has more rows than it sent, and gave no link: it truncates results silently.
      return beginWindows(behind: read)
    }
    return ended(read, deltaLink: facts.deltaLink, repeated: facts.repeated)
  }

  private mutating func learn(from read: inout WholeRead, _ facts: PageEnd) {
    if facts.isAtom, traits.version < .v4, !memory.supportsOnlyAtom, read.request.form == .atom {
      (memory.supportsOnlyAtom, memory.rejectionsLearned) = (true, lastDownload.now)
    }
    guard read.pages == 0 else { return }
    read.etag = facts.etag
    read.lastModified = facts.lastModified
    if windowsRejection == true, read.windows == nil {
      (windowsRejection, memory.rejectionsLearned) = (nil, lastDownload.now)
    }
    if read.trial > 0, DownloadMachine.isOfOption(read.firstRejection), DownloadMachine.isOfOption(read.rejection) {
      memory.rejectionsLearned = lastDownload.now
      if read.first.tracksChanges, !read.request.tracksChanges { memory.rejectsTracking = true }
      if read.first.countsRows, !read.request.countsRows { memory.rejectsCount = true }
      if read.first.maximumPageSize != nil, read.request.maximumPageSize == nil { memory.rejectsPageSize = true }
    }
  }

  private mutating func follow(_ next: String, _ read: WholeRead) -> [Action] {
    var read = read
    if read.windows == nil { memory.pagesItself = true }
    guard let absolute = links.resolve(next, from: url) else { return fail(OfflineODataError(.foreignLink)) }
    guard !isIdle(read), read.seen.insert(absolute) else { return fail(OfflineODataError(.endlessPages)) }
    read.request.place = .link(absolute)
    if memory.links?.rejectsPreferences == true { read.request.dropPreferences() }
    read.request.etag = nil
    read.request.lastModified = nil
    state = .whole(read)
    return [.ask(read.request)]
  }

  /// The number of consecutive pages without new rows that a service may send: it may have searched in vain.
  static let idlePages = 4096
  /// After each interval of this many pages, the staged rows are counted before the next page is requested.
  private static let countedPages = 256

  /// Whether the staged rows must be counted after the page that is being requested.
  var countsNextPage: Bool {
    guard case .whole(let read) = state else { return false }
    return (read.pages + 1) % DownloadMachine.countedPages == 0
  }

  /// Whether the read has had too many consecutive pages without new rows, and may therefore never end.
  private func isIdle(_ read: WholeRead) -> Bool {
    read.pages % DownloadMachine.countedPages == 0 && read.pages - read.growth.pages > DownloadMachine.idlePages
  }

  /// Whether the service has more rows than it sent, according to its count or because the page has the full size.
  private func lacksRows(_ read: WholeRead) -> Bool {
    guard traits.canPage, !memory.rejectsWindows, read.rows > 0 else { return false }
    if let count = read.count, !memory.countIsWrong {
      return count > read.rows && read.distinct.map { count > $0 } ?? true
    }
    guard let size = traits.pageSize else { return false }
    return read.pages == 1 && read.rows == Int64(size)
  }

  // MARK: Pages that the client selects

  private mutating func beginWindows(behind read: WholeRead) -> [Action] {
    let size = traits.pageSize ?? Int(clamping: max(read.rows, 1))
    // The rows so far came in the service's own order. Pages need a stable order, so the read starts again.
    return restart(note: .clientPaging(size: size), windows: size) ?? ended(read, deltaLink: nil)
  }

  private mutating func windowEnded(_ old: WholeRead) -> [Action] {
    var read = old
    guard var windows = read.windows else { return ended(read, deltaLink: nil) }
    let received = windows.came
    let new = read.distinct.map { $0 - (windows.before ?? 0) }
    let requested = Int64(read.request.window?.top ?? windows.size)
    let isFirst = windows.position == 0
    if received == 0 { return ended(read, deltaLink: nil) }
    // More rows than requested: the service ignores `$top`, so these were all rows, or all remaining rows.
    if received > requested {
      (memory.rejectsWindows, memory.rejectionsLearned) = (true, lastDownload.now)
      return [.note(.clientPagingIgnored)] + ended(read, deltaLink: nil)
    }
    if !isFirst, new == 0 {
      // All rows were there before. Either this is the end, or the service supports `$top` but not `$skip`.
      let isShort = received < requested || (read.count.map { $0 <= (read.distinct ?? read.rows) } ?? false)
      if isShort { return ended(read, deltaLink: nil) }
      (memory.rejectsWindows, memory.rejectionsLearned) = (true, lastDownload.now)
      return restart(note: .clientPagingIgnored, windows: nil) ?? ended(read, deltaLink: nil)
    }
    // The page began one row early. That row is known, unless rows before it were deleted in the meantime.
    if !isFirst, windows.size > 1, let new, new == received,
      let actions = restart(note: .rowsMoved, windows: windows.size)
    {
      return actions
    }
    windows.position += isFirst || windows.size == 1 ? received : received - 1
    windows.largest = max(windows.largest, received)
    if let count = read.count, !memory.countIsWrong, windows.position >= count { return ended(read, deltaLink: nil) }
    if read.count == nil, received < requested, !isFirst, received < windows.largest {
      return ended(read, deltaLink: nil)
    }
    windows.came = 0
    windows.before = read.distinct
    read.windows = windows
    read.request.place = .query(windows.next)
    state = .whole(read)
    return [.ask(read.request)]
  }

  // MARK: The end

  private mutating func ended(
    _ read: WholeRead, deltaLink: String?, repeated: RepeatedRows = RepeatedRows()
  ) -> [Action] {
    var read = read
    var notes: [Action] = []
    // In one response, rows with the same key are no rows that have moved. A page that was read again after an
    // interruption has more of them than the response.
    if read.pages == 1, read.windows == nil, let distinct = read.distinct, let first = repeated.first,
      repeated.count + distinct == read.rows
    {
      notes = [.note(.keysRepeated(first: first, count: repeated.count))]
      read.distinct = read.rows
    }
    return notes + ending(read, deltaLink: deltaLink)
  }

  private mutating func ending(_ read: WholeRead, deltaLink: String?) -> [Action] {
    let link = deltaLink.flatMap { links.resolve($0, from: url) == nil ? nil : $0 }
    if read.request.tracksChanges || read.first.tracksChanges { memory.givesNoDeltaLink = link == nil }
    memory.wasOnePage = read.pages == 1 && read.windows == nil
    memory.contradictedLinks = read.contradictedLinks
    var ending = Ending(staging: .whole, deltaLink: traits.requestsDeltaLink ? link : nil, began: read.began)
    let questions = LinkQuestion.all(read.links)
    if !questions.isEmpty {
      ending.questions = questions
      ending.showsLinks = read.links?.values.contains { $0.isShown }
    }
    if memory.wasOnePage {
      ending.etag = read.etag
      ending.lastModified = read.lastModified
    }
    if read.leavesOutRows == true {
      // The service counts the entities that were left out.
      ending.keepsAbsent = true
      memory.countIsWrong = true
    }
    // One response is one state of the service; several pages may come from several states.
    guard let distinct = read.distinct, let count = read.count, count != distinct, traits.requestsCount,
      !memory.countIsWrong
    else { return finish(ending) }
    // The delta link reports what changed while the pages were read.
    if ending.deltaLink != nil, read.pages > 1 { return finish(ending, followUp: true) }
    let figures = [distinct, count]
    if disagreement == figures {
      memory.countIsWrong = true
      return [.note(.unstable(count: count, rows: distinct))] + finish(ending)
    }
    disagreement = figures
    // The state of the service is not known.
    (ending.etag, ending.lastModified) = (nil, nil)
    return restart(note: .rowsMoved, windows: read.windows?.size)
      ?? [.note(.unstable(count: count, rows: distinct))] + finish(ending)
  }

  /// Starts the read again; nil if it was started often enough.
  private mutating func restart(note: DownloadNote, windows: Int?) -> [Action]? {
    guard wholeReads < 3 else { return nil }
    return [.note(note)] + beginWhole(windows: windows)
  }

  // MARK: Rejections and failures

  private mutating func handleRejectedWhole(_ old: WholeRead, _ status: Int, _ error: OfflineODataError) -> [Action] {
    var read = old
    if DownloadMachine.isTemporary(status) { return fail(error) }
    if read.request.isLink { return handleRejectedLink(read, status, error) }
    if read.request.form == .json, traits.version < .v4, status == 406 || status == 415 {
      read.request.form = .atom
      read.first.form = .atom
      state = .whole(read)
      return [.ask(read.request)]
    }
    if status == 404 || status == 410 { return fail(error) }
    guard let first = read.firstRejection else {
      // Only what is rejected twice may be about an option.
      guard read.windows != nil || DownloadMachine.trial(1, of: read.first) != nil else { return fail(error) }
      read.firstRejection = status
      state = .whole(read)
      return [.ask(read.request)]
    }
    if read.windows != nil {
      memory.rejectsWindows = true
      windowsRejection = DownloadMachine.isOfOption(first) && DownloadMachine.isOfOption(status)
      return restart(note: .clientPagingIgnored, windows: nil) ?? fail(error)
    }
    guard let next = DownloadMachine.trial(read.trial + 1, of: read.first) else { return fail(error) }
    read.trial += 1
    read.request.tracksChanges = next.tracking
    read.request.countsRows = next.count
    read.request.maximumPageSize = next.pageSize ? read.first.maximumPageSize : nil
    read.rejection = status
    state = .whole(read)
    return [.ask(read.request)]
  }

  /// The note about the options that the service rejects, once it has responded without them.
  private static func optionsNote(_ read: WholeRead) -> [Action] {
    guard read.pages == 0, read.trial > 0, let status = read.rejection else { return [] }
    return [
      .note(
        .optionsRejected(
          status: status, tracking: read.first.tracksChanges && !read.request.tracksChanges,
          count: read.first.countsRows && !read.request.countsRows,
          pageSize: read.first.maximumPageSize != nil && read.request.maximumPageSize == nil))
    ]
  }

  /// Handles a rejected link. A link is requested as the service gave it (Protocol 4.01 §11.2.6.7). The service can
  /// reject the preferences sent with it, or the count, if it has copied the first request's option into the link. In
  /// that case the read starts again without the count.
  private mutating func handleRejectedLink(_ old: WholeRead, _ status: Int, _ error: OfflineODataError) -> [Action] {
    var read = old
    if DownloadMachine.isAboutOptions(status) {
      if read.request.hasPreferences {
        read.request.dropPreferences()
        read.linkRejection = status
        state = .whole(read)
        return [.ask(read.request)]
      }
      if read.request.countsRows {
        memory.links = LinkMemory(
          rejectsCount: true, rejectsPreferences: memory.links?.rejectsPreferences ?? false,
          learned: lastDownload.now)
        return restart(note: .pageRejected(status: status), windows: read.windows?.size) ?? fail(error)
      }
      // The count was not the option that the service rejected.
      if wholeReads > 1 { memory.links?.rejectsCount = false }
    }
    return restart(note: .pagesExpired(status: status), windows: read.windows?.size) ?? fail(error)
  }

  /// Records that the service accepts a link without preferences that it rejected with them.
  private mutating func notePreferenceMemory(_ read: WholeRead) -> [Action] {
    guard let status = read.linkRejection else { return [] }
    memory.links = LinkMemory(
      rejectsCount: memory.links?.rejectsCount ?? false, rejectsPreferences: true, learned: lastDownload.now)
    return [.note(.preferencesRejected(status: status))]
  }

  /// Whether a service that answers with a status may reject an option for good.
  private static func isOfOption(_ status: Int?) -> Bool {
    status.map { OptionRejection(status: $0) != .none } ?? false
  }

  /// Whether the service may reject an option of the request with a status.
  static func isAboutOptions(_ status: Int) -> Bool { status == 400 || status == 501 }

  /// The options of the first request, for each attempt after a rejection.
  private static func trial(
    _ number: Int, of first: PageRequest
  ) -> (tracking: Bool, count: Bool, pageSize: Bool)? {
    var trials = [(tracking: first.tracksChanges, count: first.countsRows, pageSize: true)]
    // Deltas are worth more than the count, which they make unnecessary.
    if first.countsRows { trials.append((first.tracksChanges, false, true)) }
    if first.tracksChanges { trials.append((false, first.countsRows, true)) }
    if first.tracksChanges, first.countsRows { trials.append((false, false, true)) }
    if first.maximumPageSize != nil { trials.append((first.tracksChanges, first.countsRows, false)) }
    return number < trials.count ? trials[number] : nil
  }

  private mutating func handleFailedWhole(
    _ old: WholeRead, error: OfflineODataError, isInterrupted: Bool, rows: Int64
  ) -> [Action] {
    var read = old
    guard isInterrupted, let pause = DownloadMachine.pause(after: &read.failures) else { return fail(error) }
    if error.name == .timeout, let windows = read.windows, windows.size > 10, let window = read.request.window {
      read.windows?.size = max(windows.size / 2, 10)
      read.request.place = .query(.init(top: max(windows.size / 2, 10), skip: window.skip))
    } else if let size = traits.pageSize, read.pages == 0, read.windows == nil, rows > Int64(size), traits.canPage,
      !memory.rejectsWindows, let actions = restart(note: .clientPaging(size: size), windows: size)
    {
      // A response without pages that breaks off would always start again at its beginning.
      return [.wait(pause)] + actions
    }
    state = .whole(read)
    return [.wait(pause), .ask(read.request)]
  }
}
