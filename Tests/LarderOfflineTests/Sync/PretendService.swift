@testable import LarderOData
@testable import LarderOffline

/// A service of numbers in memory, with the habits that services have, and a store that holds what was downloaded:
/// the download machine runs between the two, without a network, a clock or a file.
struct PretendService {
  /// The numbers and when each was changed last, by a clock that counts changes.
  var rows: [Int: Int] = [:]
  var removed: [Int: Int] = [:]
  var now = 0

  // Habits.
  /// Rows of a page of its own; nil gives all at once.
  var pageSize: Int?
  /// Truncates after this many rows and gives no link.
  var silentLimit: Int?
  var heedsTop = true
  var heedsSkip = true
  var rejectsWindows = false
  var tracks = true
  var rejectsTracking = false
  var counts = true
  var rejectsCount = false
  var rejectsPageSize = false
  /// The count is off by this.
  var countError = 0
  var givesETag = false
  var speaksAtomDeltas = false
  /// A delta does not contain what was deleted.
  var forgetsDeletions = false
  /// Delta links older than this have expired.
  var oldestDelta = 0
  /// The status of an expired link.
  var expiredStatus = 410
  /// Page links are taken this many requests long; nil for ever.
  var pageLinkLife: Int?
  /// Links in circles.
  var circles = false
  /// Writes the option for the count into its links, and rejects them then.
  var echoesCount = false
  /// Rejects links that come with preferences.
  var rejectsPreferencesOfLinks = false

  private(set) var requests: [PageRequest] = []
  private var pageLinks: [String: Int] = [:]

  init(_ numbers: some Sequence<Int>, pageSize: Int? = nil) {
    for number in numbers { rows[number] = 0 }
    self.pageSize = pageSize
  }

  mutating func put(_ number: Int) {
    now += 1
    rows[number] = now
    removed[number] = nil
  }

  mutating func remove(_ number: Int) {
    now += 1
    rows[number] = nil
    removed[number] = now
  }

  var etag: String { "\"\(now)\"" }

  /// What a response contains.
  struct Response {
    var facts = PageEnd()
    var rows: [Int] = []
    var gone: [Int] = []
  }

  enum Reply {
    case response(Response)
    case status(Int)
  }

  mutating func reply(_ request: PageRequest) -> Reply {
    requests.append(request)
    switch request.place {
    case .link(let link) where link.contains("delta="): return delta(link, request)
    case .link(let link):
      if rejectsPreferencesOfLinks, request.tracksChanges || request.maximumPageSize != nil { return .status(400) }
      return link.contains("count=") ? .status(400) : page(link)
    case .query(let window):
      if rejectsTracking && request.tracksChanges || rejectsCount && request.countsRows { return .status(400) }
      if rejectsPageSize, request.maximumPageSize != nil { return .status(400) }
      if window != nil, rejectsWindows { return .status(501) }
      if givesETag, let etag = request.etag, etag == self.etag { return .status(304) }
      return first(request, window)
    }
  }

  private mutating func first(_ request: PageRequest, _ window: PageRequest.Window?) -> Reply {
    var all = rows.keys.sorted()
    let count = all.count + countError
    if let window {
      if heedsSkip { all = Array(all.dropFirst(Int(window.skip))) }
      if heedsTop { all = Array(all.prefix(window.top)) }
    }
    if let silentLimit { all = Array(all.prefix(silentLimit)) }
    var response = Response()
    if counts, request.countsRows { response.facts.count = Int64(count) }
    if givesETag { response.facts.etag = etag }
    let size = min(pageSize ?? .max, request.maximumPageSize.flatMap { pageSize == nil ? nil : $0 } ?? .max)
    let stamp = tracks && request.tracksChanges ? now : -1
    paginate(all, size, from: 0, stamp, &response)
    if echoesCount, request.countsRows { response.facts.nextLink? += "&count=1" }
    return .response(response)
  }

  /// Gives a page of keys above a number: the rest is requested again, so data may have changed.
  private mutating func paginate(_ all: [Int], _ size: Int, from place: Int, _ stamp: Int, _ response: inout Response) {
    response.rows = Array(all.prefix(size))
    if all.count > size, let last = response.rows.last {
      let link =
        circles ? "http://h/s/N?behind=7&size=\(size)&stamp=\(stamp)" : "N?behind=\(last)&size=\(size)&stamp=\(stamp)"
      response.facts.nextLink = link
    } else if stamp >= 0 {
      response.facts.deltaLink = "http://h/s/N?delta=\(stamp)"
    }
    response.facts.rows = Int64(response.rows.count)
  }

  private mutating func page(_ link: String) -> Reply {
    if let pageLinkLife, requests.count > pageLinkLife {
      self.pageLinkLife = nil
      return .status(404)
    }
    let values = PretendService.values(link)
    guard let behind = values["behind"], let size = values["size"], let stamp = values["stamp"] else {
      return .status(400)
    }
    var response = Response()
    paginate(rows.keys.filter { $0 > behind }.sorted(), size, from: behind, stamp, &response)
    return .response(response)
  }

  private mutating func delta(_ link: String, _ request: PageRequest) -> Reply {
    guard request.form == .json || speaksAtomDeltas else { return .status(415) }
    guard let since = PretendService.values(link)["delta"], since >= oldestDelta else { return .status(expiredStatus) }
    var response = Response()
    response.rows = rows.filter { $0.value >= since && $0.value > 0 }.keys.sorted()
    if !forgetsDeletions { response.gone = removed.filter { $0.value >= since }.keys.sorted() }
    response.facts.isAtom = request.form == .atom
    response.facts.deltaLink = "http://h/s/N?delta=\(now)"
    response.facts.rows = Int64(response.rows.count + response.gone.count)
    return .response(response)
  }

  private static func values(_ link: String) -> [String: Int] {
    let options = link.drop { $0 != "?" }.dropFirst().split(separator: "&")
    let pairs = options.compactMap { option -> (String, Int)? in
      let parts = option.split(separator: "=")
      return parts.count == 2 ? Int(parts[1]).map { (String(parts[0]), $0) } : nil
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }
}

/// The store's side: what is kept, and the machine run against a service.
struct PretendStore {
  var rows: Set<Int> = []
  var lastDownload = DownloadMachine.LastDownload()
  var memory = QueryMemory()
  var traits = QueryTraits(version: .v4)
  /// What survives a crash: position and staged rows.
  var staged: Set<Int> = []
  var stagedGone: [Int] = []
  var position: DownloadPosition?

  private(set) var notes: [DownloadNote] = []
  private(set) var result: DownloadResult?
  private(set) var error: OfflineODataError?
  private(set) var waits: [Duration] = []

  /// - Parameter windows: the number of rows of each window, for a service that is known to reject tracking; nil for one
  ///   that is not known yet.
  init(windows: Int? = nil) {
    guard let windows else { return }
    (traits.pageSize, traits.tracking) = (windows, .denied)
  }

  /// What happens to a request, by its number in this download.
  enum Accident {
    /// The connection breaks inside the response.
    case interrupted
    /// The process dies behind it.
    case crash
    case status(Int)
    case timeout
  }

  /// Runs one download; `between` is called before each request but the first.
  mutating func download(
    from service: inout PretendService, accidents: [Int: Accident] = [:],
    between: (inout PretendService, Int) -> Void = { _, _ in }
  ) {
    (notes, result, error, waits) = ([], nil, nil, [])
    var machine = DownloadMachine(
      traits: traits, lastDownload: lastDownload, memory: memory,
      links: LinkRules(origin: "http://h", root: "http://h/s/"),
      url: "http://h/s/N")
    var actions = machine.take(.start(position))
    var number = 0
    while let action = actions.first {
      actions.removeFirst()
      switch action {
      case .begin: (staged, stagedGone, position) = ([], [], nil)
      case .wait(let pause): waits.append(pause)
      case .note(let note): notes.append(note)
      case .discard: (staged, stagedGone, position) = ([], [], nil)
      case .end(let result): self.result = result
      case .fail(let error): self.error = error
      case .compareCounts:
        actions = machine.take(.counted(service: Int64(service.rows.count), storeCount: Int64(rows.count)))
      case .askLink: actions = machine.take(.answered(.unknown))
      case .finish(let ending):
        finish(ending)
        actions = machine.take(.finished)
      case .ask(let request):
        if number > 0 { between(&service, number) }
        let accident = accidents[number]
        number += 1
        guard number < 1000 else {
          error = OfflineODataError(.internalFailure, "the download does not end")
          return
        }
        if case .status(let status)? = accident {
          actions = machine.take(.rejected(status: status, OfflineODataError(.requestRejected)))
          continue
        }
        if case .timeout? = accident {
          actions = machine.take(.failed(OfflineODataError(.timeout), isInterrupted: true, rows: 0))
          continue
        }
        switch service.reply(request) {
        case .status(304): actions = machine.take(.notModified)
        case .status(let status):
          actions = machine.take(.rejected(status: status, OfflineODataError(.requestRejected)))
        case .response(let response):
          if case .interrupted? = accident {
            // Half of the page was staged before the connection broke.
            staged.formUnion(response.rows.prefix(response.rows.count / 2))
            actions = machine.take(
              .failed(OfflineODataError(.connectionLost), isInterrupted: true, rows: response.facts.rows / 2))
            continue
          }
          var facts = response.facts
          staged.formUnion(response.rows)
          facts.stagedRows = Int64(staged.count)
          stagedGone += response.gone
          position = machine.position(behind: facts)
          actions = machine.take(.page(facts))
          if case .crash? = accident {
            error = OfflineODataError(.cancelled)
            memory = machine.learned
            return
          }
        }
      }
    }
    memory = machine.learned
  }

  private mutating func finish(_ ending: DownloadMachine.Ending) {
    switch ending.staging {
    case .whole: rows = staged
    case .changes: rows = rows.union(staged).subtracting(stagedGone)
    }
    lastDownload = .init(deltaLink: ending.deltaLink, etag: ending.etag, lastModified: ending.lastModified)
    (staged, stagedGone, position) = ([], [], nil)
  }
}
