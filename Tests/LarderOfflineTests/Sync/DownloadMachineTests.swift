import LarderOData
import Testing

@testable import LarderOffline

@Suite("Download machine: the strategy of a query", .timeLimit(.minutes(1)))
struct DownloadStrategyTests {
  @Test("the first download reads all, and requests a delta link and the count; the next follows the link")
  func deltaLink() {
    var service = PretendService(1...25, pageSize: 10)
    var store = PretendStore()
    store.download(from: &service)
    #expect(store.rows == Set(1...25))
    #expect(store.result == DownloadResult(strategy: .whole))
    #expect(service.requests[0] == PageRequest(place: .query(nil), tracksChanges: true, countsRows: true))
    #expect(service.requests.count == 3)
    service.put(26)
    service.remove(3)
    store.download(from: &service)
    #expect(store.result == DownloadResult(strategy: .changes))
    #expect(store.rows == Set(service.rows.keys))
    #expect(service.requests.count == 4)
    #expect(service.requests[3].isDelta)
  }

  @Test(
    "a service that rejects tracking, or the count, gets the request without it, and not again",
    arguments: [true, false],
    [true, false])
  func rejections(tracking: Bool, count: Bool) {
    var service = PretendService(1...5)
    service.rejectsTracking = tracking
    service.rejectsCount = count
    var store = PretendStore()
    store.download(from: &service)
    #expect(store.rows == Set(1...5))
    #expect(store.memory.rejectsTracking == tracking)
    #expect(store.memory.rejectsCount == count)
    let before = service.requests.count
    store.download(from: &service)
    #expect(service.requests.count == before + 1)
    #expect(store.rows == Set(1...5))
  }

  @Test(
    "One rejection teaches nothing, nor do statuses that say nothing about options",
    arguments: [[500], [400], [405], [500, 500], [400, 500], [500, 400], [422, 422], [409, 409]])
  func temporaryRejections(statuses: [Int]) {
    for windows in [nil, 10] {
      var service = PretendService(1...5)
      var store = PretendStore(windows: windows)
      store.traits.pageSize = windows ?? 100
      if windows != nil { store.memory.givesNoDeltaLink = true }
      let accidents = statuses.enumerated().map { ($0.offset, PretendStore.Accident.status($0.element)) }
      store.download(from: &service, accidents: Dictionary(uniqueKeysWithValues: accidents))
      #expect(store.rows == Set(1...5), "\(store.error.debugDescription)")
      #expect(!store.memory.rejectsTracking && !store.memory.rejectsCount && store.memory.rejectsPageSize != true)
      #expect(!store.memory.rejectsWindows && store.memory.rejectionsLearned == nil)
    }
  }

  @Test(
    "What was learned counts for a day, also what is not an option of a query; a damaged time counts as none",
    arguments: [
      (1000.0, 1000.0, true), (1000, 87_399, true), (1000, 87_400, false), (1000, 999, false), (1e300, 1000, false),
      (-1e300, 1000, false),
    ])
  func learnedForADay(learned: Double, now: Double, counts: Bool) {
    var memory = QueryMemory()
    (memory.supportsOnlyAtom, memory.rejectsTracking, memory.rejectionsLearned) = (true, true, learned)
    memory.forgetOldRejections(now: now)
    #expect(memory.supportsOnlyAtom == counts && memory.rejectsTracking == counts)
    #expect(LinkMemory(rejectsCount: true, learned: learned).isRecent(now: now) == counts)
    // An earlier version has not recorded the time.
    #expect(!LinkMemory(rejectsCount: true).isRecent(now: now))
  }

  @Test("After a day, an option that the service has rejected is tried again")
  func forgetting() {
    var service = PretendService(1...5)
    service.rejectsCount = true
    var store = PretendStore()
    store.traits.tracking = .denied
    for (now, isRejected) in [(1000.0, true), (1000 + 86_399, true), (1000 + 86_400, false)] {
      service.rejectsCount = isRejected
      store.lastDownload.now = now
      store.download(from: &service)
      #expect(store.rows == Set(1...5) && store.memory.rejectsCount == isRejected)
    }
    #expect(service.requests.count == 5 && service.requests.last?.countsRows == true)
  }

  @Test("a service that rejects its own links after a request for the count is read without it, and from then on")
  func rejectedLinks() {
    var service = PretendService(1...25, pageSize: 10)
    service.echoesCount = true
    service.tracks = false
    var store = PretendStore()
    store.traits.tracking = .denied
    store.download(from: &service)
    #expect(store.error == nil && store.rows == Set(1...25))
    #expect(store.memory.links == LinkMemory(rejectsCount: true, learned: 0))
    #expect(store.notes.contains(.pageRejected(status: 400)))
    let before = service.requests.count
    store.download(from: &service)
    #expect(store.rows == Set(1...25) && service.requests.count == before + 3)
    #expect(service.requests[before...].allSatisfy { !$0.countsRows })
  }

  @Test("a service that rejects preferences beside its links gets the same link without them, and from then on")
  func rejectedPreferences() {
    var service = PretendService(1...25, pageSize: 10)
    service.rejectsPreferencesOfLinks = true
    service.tracks = false
    var store = PretendStore()
    store.traits.pageSize = 10
    store.download(from: &service)
    #expect(store.error == nil && store.rows == Set(1...25))
    #expect(store.memory.links == LinkMemory(rejectsPreferences: true, learned: 0))
    #expect(service.requests.count == 4 && service.requests[1].place == service.requests[2].place)
    let before = service.requests.count
    store.download(from: &service)
    #expect(store.rows == Set(1...25) && service.requests.count == before + 3)
  }

  @Test("a link that has expired is no sign against an option")
  func expiredLinks() {
    var service = PretendService(1...25, pageSize: 10)
    service.pageLinkLife = 1
    var store = PretendStore()
    store.download(from: &service)
    #expect(store.rows == Set(1...25) && store.memory.links == nil)
  }

  @Test("a service that rejects the preference for a page's size gets the request without it, and not again")
  func rejectedPageSize() {
    var service = PretendService(1...5)
    service.rejectsPageSize = true
    var store = PretendStore()
    store.traits.pageSize = 100
    store.download(from: &service)
    #expect(store.rows == Set(1...5) && store.memory.rejectsPageSize == true)
    #expect(!store.memory.rejectsTracking && !store.memory.rejectsCount)
    let before = service.requests.count
    store.download(from: &service)
    #expect(service.requests.count == before + 1)
  }

  @Test("a delta that leaves open which rows remain is applied, then all is read; deltas continue after it")
  func incompleteDelta() {
    var lastDownload = DownloadMachine.LastDownload()
    lastDownload.deltaLink = "N?delta=1"
    var machine = DownloadMachine(
      traits: QueryTraits(version: .v4, hasExpand: true), lastDownload: lastDownload,
      links: LinkRules(origin: "http://h", root: "http://h/s/"), url: "http://h/s/N")
    #expect(machine.take(.start(nil)).first == .begin(.changes))
    guard case .finish(let ending)? = machine.take(.page(PageEnd(deltaLink: "N?delta=2"))).last else {
      Issue.record("the delta does not end")
      return
    }
    #expect(ending.deltaLink == "N?delta=2")
    let actions = machine.take(.incomplete)
    #expect(actions.prefix(2) == [.note(.deltaIncomplete), .begin(.whole)])
    #expect(machine.memory.unusableDeltas == 0)
    guard case .finish(let whole)? = machine.take(.page(PageEnd(deltaLink: "N?delta=3"))).last else {
      Issue.record("the whole read does not end")
      return
    }
    #expect(whole.deltaLink == "N?delta=3")
    #expect(machine.take(.finished) == [.end(DownloadResult(strategy: .whole))])
  }

  @Test("one response with an ETag: the next request is conditional, and 304 ends it")
  func condition() {
    var service = PretendService(1...5)
    service.tracks = false
    service.givesETag = true
    var store = PretendStore()
    store.download(from: &service)
    store.download(from: &service)
    #expect(store.result == DownloadResult(strategy: .condition, isUnchanged: true))
    service.put(6)
    store.download(from: &service)
    #expect(store.result == DownloadResult(strategy: .whole))
    #expect(store.rows == Set(1...6))
  }

  @Test("the ETag of one entity says nothing about those that it expands")
  func conditionOfExpansion() {
    var service = PretendService(1...1)
    service.tracks = false
    service.givesETag = true
    var store = PretendStore()
    store.traits = QueryTraits(version: .v4, isCollection: false, hasExpand: true)
    store.download(from: &service)
    store.download(from: &service)
    #expect(store.result == DownloadResult(strategy: .whole))
    #expect(service.requests.allSatisfy { $0.etag == nil })
  }

  @Test("the ETag of the first of several pages says nothing about the others")
  func conditionOfPages() {
    var service = PretendService(1...25)
    service.tracks = false
    service.givesETag = true
    service.pageSize = 10
    var store = PretendStore()
    store.download(from: &service)
    store.download(from: &service)
    #expect(service.requests.allSatisfy { $0.etag == nil })
    #expect(store.result == DownloadResult(strategy: .whole))
  }

  @Test("V2 with $expand, and a query with a window of its own, are read whole")
  func whole() {
    var expand = PretendStore()
    expand.traits = QueryTraits(version: .v2, hasExpand: true)
    var window = PretendStore()
    window.traits = QueryTraits(version: .v4, hasWindow: true)
    for var store in [expand, window] {
      var service = PretendService(1...5)
      store.download(from: &service)
      store.download(from: &service)
      #expect(service.requests.allSatisfy { !$0.tracksChanges && !$0.isDelta })
      #expect(store.rows == Set(1...5))
    }
  }

  @Test(
    "V2 deltas are requested in Atom, in JSON if the service has none, and remembered", arguments: [true, false])
  func atom(speaksAtom: Bool) {
    var service = PretendService(1...5)
    service.speaksAtomDeltas = speaksAtom
    var store = PretendStore()
    store.traits = QueryTraits(version: .v2)
    store.download(from: &service)
    service.remove(2)
    store.download(from: &service)
    #expect(service.requests[1].form == .atom)
    #expect(store.rows == [1, 3, 4, 5])
    #expect(store.memory.deltaIsAtom == speaksAtom)
    let before = service.requests.count
    store.download(from: &service)
    #expect(service.requests.count == before + 1)
  }

  @Test("a V2 delta in JSON that omits a deletion is detected by counting, and all is read")
  func forgotten() {
    var service = PretendService(1...5)
    service.forgetsDeletions = true
    var store = PretendStore()
    store.traits = QueryTraits(version: .v2)
    store.download(from: &service)
    service.remove(2)
    store.download(from: &service)
    #expect(store.notes == [.countsDiffer(serviceCount: 4, storeCount: 5)])
    #expect(store.rows == [1, 3, 4, 5])
  }

  @Test("an expired delta link becomes a whole read by itself", arguments: [400, 404, 410, 412, 500, 501])
  func expired(status: Int) {
    var service = PretendService(1...5)
    var store = PretendStore()
    store.download(from: &service)
    service.put(6)
    service.remove(1)
    service.oldestDelta = 2
    service.expiredStatus = status
    store.download(from: &service)
    #expect(store.notes == [.deltaExpired(status: status)])
    #expect(store.result == DownloadResult(strategy: .whole))
    #expect(store.rows == [2, 3, 4, 5, 6])
    #expect(store.lastDownload.deltaLink == "http://h/s/N?delta=2")
  }

  @Test(
    "a service that is away, or does not know the caller, costs no whole read", arguments: [401, 429, 502, 503, 504])
  func away(status: Int) {
    var service = PretendService(1...5)
    var store = PretendStore()
    store.download(from: &service)
    let link = store.lastDownload.deltaLink
    store.download(from: &service, accidents: [0: .status(status)])
    #expect(store.error != nil)
    #expect(store.lastDownload.deltaLink == link)
    #expect(store.rows == Set(1...5))
  }
}

@Suite("Download machine: pages", .timeLimit(.minutes(1)))
struct DownloadPageTests {
  @Test("a download interrupted at any page resumes there, and nothing is missing", arguments: 0..<6)
  func crash(page: Int) {
    var service = PretendService(1...55, pageSize: 10)
    var store = PretendStore()
    store.download(from: &service, accidents: [page: .crash])
    #expect(store.rows.isEmpty)
    let before = service.requests.count
    store.download(from: &service)
    #expect(store.rows == Set(1...55))
    #expect(service.requests.count == before + 5 - page)
  }

  @Test("a page whose connection breaks is requested again", arguments: 0..<6)
  func interrupted(page: Int) {
    var service = PretendService(1...55, pageSize: 10)
    var store = PretendStore()
    store.download(from: &service, accidents: [page: .interrupted])
    #expect(store.rows == Set(1...55))
    #expect(store.waits == [.milliseconds(250)])
    #expect(service.requests.count == 7)
  }

  @Test("a page that breaks again and again ends the download, which resumes there later")
  func interruptedAgain() {
    var service = PretendService(1...55, pageSize: 10)
    var store = PretendStore()
    store.download(from: &service, accidents: [2: .interrupted, 3: .interrupted, 4: .interrupted, 5: .interrupted])
    #expect(store.error?.name == .connectionLost)
    store.download(from: &service)
    #expect(store.rows == Set(1...55))
    #expect(store.notes.first == .resumed(.whole, pages: 2, rows: 20))
  }

  @Test("an expired page link begins again")
  func expired() {
    var service = PretendService(1...55, pageSize: 10)
    service.pageLinkLife = 2
    var store = PretendStore()
    store.download(from: &service)
    #expect(store.notes == [.pagesExpired(status: 404)])
    #expect(store.rows == Set(1...55))
  }

  @Test("a download that was interrupted too long ago is not resumed")
  func age() {
    var service = PretendService(1...25, pageSize: 10)
    var store = PretendStore()
    store.lastDownload.now = 1000
    store.download(from: &service, accidents: [1: .crash])
    #expect(store.position != nil)
    store.lastDownload.now = 5000
    store.lastDownload.oldestStaging = 2000
    store.download(from: &service)
    #expect(store.notes.first == .stagingTooOld)
    #expect(store.rows == Set(1...25))
    #expect(service.requests.count == 2 + 3)
  }

  @Test("links in circles end in an error")
  func circles() {
    var service = PretendService(1...55, pageSize: 10)
    service.circles = true
    var store = PretendStore()
    store.download(from: &service)
    #expect(store.error?.name == .endlessPages)
    #expect(store.rows.isEmpty)
  }

  @Test("windows are requested of a service without pages that denies tracking, one row of each known")
  func windows() {
    var service = PretendService(1...55)
    service.tracks = false
    var store = PretendStore(windows: 10)
    store.download(from: &service)
    #expect(store.rows == Set(1...55))
    let windows = service.requests.map(\.window)
    #expect(windows.first == .some(.init(top: 10, skip: 0)))
    #expect(windows[1] == .init(top: 10, skip: 9))
    #expect(windows.count == 6)
  }

  @Test("a service that ignores $top gives all at once, and that is enough", arguments: [true, false])
  func ignoresTop(heedsSkip: Bool) {
    var service = PretendService(1...55)
    service.heedsTop = false
    service.heedsSkip = heedsSkip
    var store = PretendStore(windows: 10)
    store.download(from: &service)
    #expect(store.rows == Set(1...55))
    #expect(service.requests.count == 1)
    #expect(store.memory.rejectsWindows)
    #expect(store.notes.last == .clientPagingIgnored)
  }

  @Test(
    "a service that ignores $skip repeats its first rows: all is requested at once instead", arguments: [true, false])
  func ignoresSkip(counts: Bool) {
    var service = PretendService(1...55)
    service.heedsSkip = false
    service.counts = counts
    var store = PretendStore(windows: 10)
    store.download(from: &service)
    #expect(store.rows == Set(1...55))
    #expect(store.memory.rejectsWindows)
  }

  @Test("everything is requested of a service that rejects $top and $skip")
  func rejectsWindows() {
    var service = PretendService(1...55)
    service.rejectsWindows = true
    var store = PretendStore(windows: 10)
    store.download(from: &service)
    #expect(store.rows == Set(1...55))
    #expect(store.memory.rejectsWindows)
  }

  @Test(
    "a service that truncates silently is detected by its count, or by a full page",
    arguments: [true, false])
  func silent(counts: Bool) {
    var service = PretendService(1...55)
    service.tracks = false
    service.silentLimit = 10
    service.counts = counts
    var store = PretendStore()
    store.traits.pageSize = 10
    store.download(from: &service)
    #expect(store.rows == Set(1...55))
  }

  @Test("rows that go while windows are read are noticed, and nothing is missing")
  func deletedBetween() {
    var service = PretendService(1...55)
    service.counts = false
    var store = PretendStore(windows: 10)
    store.download(from: &service) { service, number in if number == 2 { service.remove(3) } }
    #expect(store.notes.contains(.rowsMoved))
    #expect(store.rows == Set(service.rows.keys))
  }

  @Test("rows that come while windows are read are echoed, and do no harm")
  func insertedBetween() {
    var service = PretendService(1...55)
    service.counts = false
    var store = PretendStore(windows: 10)
    store.download(from: &service) { service, number in if number == 2 { service.put(0) } }
    #expect(store.rows.isSuperset(of: 1...55))
  }

  @Test("what changes between the service's own pages is returned by the delta link")
  func changedBetween() {
    var service = PretendService(1...55, pageSize: 10)
    var store = PretendStore()
    store.download(from: &service) { service, number in
      if number == 3 {
        service.remove(5)
        service.put(2)
      }
    }
    #expect(store.result == DownloadResult(strategy: .whole))
    store.download(from: &service)
    #expect(store.result == DownloadResult(strategy: .changes))
    #expect(store.rows == Set(service.rows.keys))
  }

  @Test("a count that is wrong costs one more read, and is not requested again")
  func wrongCount() {
    var service = PretendService(1...5)
    service.tracks = false
    service.countError = 3
    var store = PretendStore()
    store.download(from: &service)
    #expect(store.rows == Set(1...5))
    #expect(store.memory.countIsWrong)
    let before = service.requests.count
    store.download(from: &service)
    #expect(service.requests.count == before + 1)
    #expect(service.requests.last?.countsRows == false)
  }

  @Test("windows get smaller where the service takes too long")
  func timeouts() {
    var service = PretendService(1...55)
    var store = PretendStore(windows: 40)
    store.download(from: &service, accidents: [1: .timeout])
    #expect(service.requests.compactMap(\.window?.top).prefix(2) == [40, 20])
    #expect(store.rows == Set(1...55))
  }
}

@Suite("Download machine: every habit", .timeLimit(.minutes(1)))
struct DownloadHabitTests {
  @Test("whatever the service's habits and the accidents, a download that ends has the service's rows")
  func habits() {
    var random = SystemRandomNumberGenerator()
    let seed = UInt64.random(in: 0...UInt64.max, using: &random)
    print("seed \(seed)")
    var generator = Linear(state: seed)
    for _ in 0..<3000 { run(&generator) }
  }

  private func run(_ generator: inout Linear) {
    var service = PretendService(1...Int.random(in: 1...60, using: &generator))
    service.pageSize = [nil, 7, 10].randomElement(using: &generator) ?? nil
    service.heedsTop = Bool.random(using: &generator)
    service.heedsSkip = Bool.random(using: &generator)
    service.rejectsWindows = Int.random(in: 0..<5, using: &generator) == 0
    service.tracks = Bool.random(using: &generator)
    service.rejectsTracking = Int.random(in: 0..<4, using: &generator) == 0
    service.counts = Bool.random(using: &generator)
    service.rejectsCount = Int.random(in: 0..<4, using: &generator) == 0
    service.givesETag = Bool.random(using: &generator)
    service.speaksAtomDeltas = Bool.random(using: &generator)
    var store = PretendStore()
    store.traits.version = Bool.random(using: &generator) ? .v2 : .v4
    store.traits.pageSize = [nil, 5, 10, 20].randomElement(using: &generator) ?? nil
    store.traits.tracking = Bool.random(using: &generator) ? .denied : .unknown
    for _ in 0..<4 {
      var accidents: [Int: PretendStore.Accident] = [:]
      for number in 0..<12 where Int.random(in: 0..<10, using: &generator) == 0 {
        accidents[number] = [.interrupted, .crash, .timeout].randomElement(using: &generator)
      }
      store.download(from: &service, accidents: accidents)
      if store.error == nil {
        #expect(store.rows == Set(service.rows.keys), "\(service) \(store)")
      } else {
        #expect(store.error?.name != .internalFailure, "\(service) \(store)")
      }
      for _ in 0..<Int.random(in: 0..<5, using: &generator) where store.position == nil {
        let number = Int.random(in: 1...70, using: &generator)
        if Bool.random(using: &generator) { service.put(number) } else { service.remove(number) }
      }
      if store.position == nil, Int.random(in: 0..<6, using: &generator) == 0 { service.oldestDelta = service.now + 1 }
    }
  }

  private struct Linear: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let mixed = (state ^ (state >> 33)) &* 0xff51_afd7_ed55_8ccd
      return mixed ^ (mixed >> 33)
    }
  }
}
