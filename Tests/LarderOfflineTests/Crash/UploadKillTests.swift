import Foundation
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: a process that is killed while it makes changes and uploads them", .timeLimit(.minutes(5)))
struct UploadKillTests {
  struct Scenario: Sendable, CustomTestStringConvertible {
    let name: String
    let behavior: UploadService.Behavior
    /// How many of a thousand changes take effect and get no response.
    var losses = 0
    var testDescription: String { name }
  }

  static let scenarios = [
    Scenario(name: "V4", behavior: .init()),
    Scenario(name: "V2, If-Match", behavior: .init(isV2: true, requiresIfMatch: true)),
    Scenario(name: "no batches", behavior: .init(batchStatus: 404, requiresIfMatch: true)),
    Scenario(name: "silent", behavior: .init(isSilent: true)),
    Scenario(name: "lost responses", behavior: .init(), losses: 100),
    Scenario(name: "V2, lost responses", behavior: .init(isV2: true), losses: 100),
    Scenario(name: "names", behavior: .init(knowsNames: true), losses: 100),
  ]

  @Test(
    "every acknowledged change is there and none is sent twice; in the end both sides are equal", arguments: scenarios)
  func kills(scenario: Scenario) async throws {
    var random = PrintedSeed(for: "kills of an upload, \(scenario.name)")
    // A short one of all scenarios; a long one spreads over them.
    var left = max(3, UploadKills.count / Self.scenarios.count)
    var changes = 0
    while left > 0 {
      let count = min(left, Int.random(in: 1...20, using: &random))
      left -= count
      changes += try await life(scenario, count, &random)
    }
    print("\(scenario.name): \(changes) changes")
  }

  @Test(
    "Two processes make changes, upload and download at once: no error that the file is busy, nothing is doubled")
  func twoProcesses() async throws {
    let shop = UploadServer(.init(requiresIfMatch: true))
    shop.service.change { state in
      for key in 1...5 { state.sets["Orders"]?[key] = .init(values: ["ID": "\(key)", "Name": "\"n\(key)\""]) }
    }
    let server = try shop.serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let root = server.url("/s/")
    let store = try await UploadCrashRig.provider(.shop, folder.path, root)
    try await store.open()
    let process = try CrashRigProcess(["upload", "shop", folder.path, root.absoluteString, "7", "1"])
    async let said = UploadKills.lines(of: process, until: 150, 0)
    var hand = UploadCrashRig.Hand(service: .shop, store: store, random: .init(state: 9), round: 2)
    var reported = ReportedChanges()
    let (lines, more) = AsyncStream.makeStream(of: String.self)
    hand.say = { more.yield($0) }
    for number in 0..<60 {
      try await hand.change()
      guard number % 5 == 4 else { continue }
      do {
        _ = try await store.upload(hand.options())
        if number % 15 == 14 { try await store.download() }
      } catch let error as OfflineODataError where [.uploadRunning, .downloadRunning].contains(error.name) {
        // The other is at it.
      } catch let error as OfflineODataError where error.name == .unsupportedByService {
        // No batches were requested, and a transaction is pending.
      }
    }
    more.finish()
    for await line in lines { reported.take([line]) }
    let other = await said
    reported.take(other)
    #expect(
      !other.contains {
        $0.hasPrefix("failed") || $0.contains("busy") || $0.contains("in use") || $0.contains("using the file")
      }, "\(other)")
    #expect(reported.cuts.allSatisfy { $0.contains("is running") || $0.contains("one batch") }, "\(reported.cuts)")
    try await store.close()
    reported.take(await UploadKills.last("shop", folder, root.absoluteString, 7))
    try await checkEnd(folder, root.absoluteString, shop.service, reported, "two processes", isInTurn: false)
    print("two processes: \(reported.all.count) changes")
  }

  private func life(_ scenario: Scenario, _ kills: Int, _ random: inout PrintedSeed) async throws -> Int {
    let shop = UploadServer(scenario.behavior, losses: scenario.losses, seed: random.next())
    shop.service.change { state in
      for key in 1...5 { state.sets["Orders"]?[key] = .init(values: ["ID": "\(key)", "Name": "\"n\(key)\""]) }
    }
    let server = try shop.serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let root = server.url("/s/").absoluteString
    let seed = random.next()
    var reported = ReportedChanges()
    for round in 1...kills {
      let process = try CrashRigProcess(["upload", "shop", folder.path, root, "\(seed)", "\(round)"])
      let pause = UInt32.random(in: 0...15_000, using: &random)
      if Bool.random(using: &random) {
        shop.onRequest(Int.random(in: 1...40, using: &random)) { UploadKills.kill(process, after: pause) }
        reported.take(await process.lines())
      } else {
        reported.take(await UploadKills.lines(of: process, until: Int.random(in: 1...60, using: &random), pause))
      }
      try await server.waitForClosedConnections(server.connectionCount)
      try await check(folder, root, shop.service.now, reported, "round \(round) of \(seed)")
    }
    shop.loseNothing()
    reported.take(await UploadKills.last("shop", folder, root, seed))
    try await server.waitForClosedConnections(server.connectionCount)
    try await checkEnd(folder, root, shop.service, reported, "the end of \(seed)")
    return reported.all.count
  }

  /// Every change that was acknowledged waits, or took effect once; none took effect twice.
  private func check(
    _ folder: TemporaryFolder, _ root: String, _ service: UploadService.State, _ reported: ReportedChanges,
    _ note: String,
    isInTurn: Bool = true
  ) async throws {
    guard FileManager.default.fileExists(atPath: folder.file("store.larder")) else { return }
    let store = try await KilledQueue(folder, root)
    let waiting = try await store.requests()
    let effects = Dictionary(
      grouping: service.marks.map { $0.split(separator: " ") }, by: { String($0.last ?? "") })
    // Entities that were deleted before they came to the service: neither they nor their changes are sent.
    // The keys of the store are negative, those that the caller gives are from 100,000 on.
    let vanished = Set(
      reported.all.filter(\.isDeletion).map(\.place).filter { $0.contains("(-") || $0.contains(/\(1\d{5}\)/) })
    for change in reported.all where !change.isDeletion {
      let count = effects[change.mark]?.count ?? 0
      #expect(count <= 1, "\(note): \(change.mark) took effect \(count) times")
      let waits = waiting.contains { $0.contains("\"\(change.mark)\"") }
      guard reported.isAcknowledged(change), count == 0, !waits else { continue }
      let wasRemoved =
        change.mark.hasPrefix("c") ? reported.removed.contains(change.mark) : vanished.contains(change.place)
      #expect(wasRemoved, "\(note): \(change.mark) of \(change.place) is lost")
    }
    let archived = try await store.archived()
    #expect(archived.isEmpty, "\(note): \(archived)")
    // As readers see it.
    var orders: [String: [ReportedChanges.ReportedChange]] = [:]
    for change in reported.all where change.place.hasPrefix("Orders") {
      let order = try await store.order(change.place)
      let isDeleted = change.isDeletion && reported.isAcknowledged(change)
      #expect(order == nil || !isDeleted, "\(note): \(change.place) is there and was deleted")
      if let order, change.isUpdate, isInTurn { orders["\(order.key) \(order.mark)", default: []].append(change) }
    }
    for (order, updates) in orders {
      let possible = reported.possible(updates)
      let mark = String(order.split(separator: " ").last ?? "")
      #expect(possible.isEmpty || possible.contains(mark), "\(note): order \(order), its updates are \(possible)")
    }
    try await store.close()
  }

  private func checkEnd(
    _ folder: TemporaryFolder, _ root: String, _ service: UploadService, _ reported: ReportedChanges, _ note: String,
    isInTurn: Bool = true
  ) async throws {
    try await check(folder, root, service.now, reported, note, isInTurn: isInTurn)
    let store = try await KilledQueue(folder, root)
    let (requests, leftovers) = (try await store.requests(), try await store.leftovers())
    #expect(requests.isEmpty && leftovers == 0, "\(note): \(reported.reports.suffix(3)) \(requests)")
    #expect(reported.reports.allSatisfy { $0[1] == 0 }, "\(note): changes failed")
    for (set, columns) in [("Orders", ["Name", "Note", "Total"]), ("Items", ["Order_ID", "Text"])] {
      let there = service.entities(set).map { key, entity in
        "\(key)|" + columns.map { entity.values[$0]?.replacing("\"", with: "") ?? "-" }.joined(separator: "|")
      }
      let here = try await store.rows(set, columns)
      let (more, less) = (Set(here).subtracting(there), Set(there).subtracting(here))
      #expect(here == there.sorted(), "\(note): \(set), only here \(more), only there \(less)")
    }
    // Updates of an order took effect in the order in which they were made.
    for (order, marks) in Dictionary(grouping: service.now.marks, by: { $0.prefix { $0 != " " } }) {
      let updates = marks.compactMap { mark in reported.all.first { $0.isUpdate && mark.hasSuffix(" \($0.mark)") } }
      for series in isInTurn ? [updates] : Array(Dictionary(grouping: updates, by: \.round).values) {
        #expect(zip(series, series.dropFirst()).allSatisfy { $0.isBefore($1) }, "\(note): \(order): \(marks)")
      }
    }
    try await store.close()
  }
}

@Suite(
  "Offline store: a process that is killed while it uploads to a real service", .mockSAP("--require-if-match"),
  .serialized, .timeLimit(.minutes(5)))
struct ServiceKillTests {
  @Test("every acknowledged change arrives, once", arguments: [UploadCrashRig.Service.sales2, .sales4])
  func kills(service: UploadCrashRig.Service) async throws {
    var random = PrintedSeed(for: "kills of an upload to \(service)")
    let root = service == .sales2 ? try MockSAP.ofSuite.salesOrdersV2 : try MockSAP.ofSuite.salesOrdersV4
    let folder = try TemporaryFolder()
    let seed = random.next()
    var reported = ReportedChanges()
    // The two versions have their data in common: each has marks of its own.
    let first = service == .sales2 ? 1 : 500
    for round in first..<first + max(3, UploadKills.count / 10) {
      let process = try CrashRigProcess(["upload", "\(service)", folder.path, root, "\(seed)", "\(round)"])
      let pause = UInt32.random(in: 0...100_000, using: &random)
      reported.take(await UploadKills.lines(of: process, until: Int.random(in: 2...40, using: &random), pause))
      // What was in progress when it was killed ends first.
      _ = try MockSAP.ofSuite.requests(limit: 1)
      guard FileManager.default.fileExists(atPath: folder.file("store.larder")) else { continue }
      let store = try await KilledQueue(folder, root)
      let archived = try await store.archived()
      #expect(archived.isEmpty, "round \(round): \(archived)")
      try await store.close()
    }
    let lines = await UploadKills.last("\(service)", folder, root, seed)
    reported.take(lines)
    let store = try await KilledQueue(folder, root)
    let (requests, leftovers) = (try await store.requests(), try await store.leftovers())
    #expect(requests.isEmpty && leftovers == 0, "\(reported.reports.suffix(3)) \(lines) \(requests)")
    try await store.close()
    let other = try TemporaryFolder()
    guard let url = URL(string: root) else { return }
    let reader = try await UploadCrashRig.provider(service, other.path, url)
    try await reader.open()
    let here = try await UploadCrashRig.provider(service, folder.path, url)
    try await here.open()
    let query =
      "\(service.orders)?$select=\(service.key),\(service.textProperty),\(service.changed)&$orderby=\(service.key)"
    let (mine, theirs) = (try await here.text(query), try await reader.text(query))
    #expect(mine == theirs)
    for change in reported.all where !change.isUpdate {
      let count = theirs.components(separatedBy: "\"\(change.mark)\"").count - 1
      let isSound = count == 1 || count == 0 && !reported.isAcknowledged(change)
      #expect(isSound, "\(change.mark) is there \(count) times")
    }
    for (place, updates) in Dictionary(grouping: reported.all.filter(\.isUpdate), by: \.place) {
      let possible = reported.possible(updates)
      guard let order = try await here.readEntity(place), !possible.isEmpty else { continue }
      guard case .string(let mark)? = order[service.changed] else { continue }
      // It may have been updated under another of its keys later.
      let isKnown = reported.all.contains { $0.mark == mark && $0.place != place }
      #expect(possible.contains(mark) || isKnown, "\(place) has \(mark), its updates are \(possible)")
    }
    try await here.close()
    try await reader.close()
    print("\(service): \(reported.all.count) changes")
  }
}

/// How processes are killed.
enum UploadKills {
  /// How often; `LARDER_KILLS` sets more.
  static let count = ProcessInfo.processInfo.environment["LARDER_KILLS"].flatMap { Int($0) } ?? 21

  static func kill(_ process: CrashRigProcess, after microseconds: UInt32) {
    Thread.detachNewThread {
      usleep(microseconds)
      process.kill()
    }
  }

  /// What a process says that is killed so long after so many lines.
  static func lines(of process: CrashRigProcess, until count: Int, _ pause: UInt32) async -> [String] {
    let lines = Mutex<[String]>([])
    await process.forEachLine { line in
      let number = lines.withLock { lines in
        lines.append(String(line))
        return lines.count
      }
      if number == count { kill(process, after: pause) }
      return false
    }
    return lines.withLock { $0 }
  }

  /// Lets a process upload all that waits.
  static func last(_ service: String, _ folder: TemporaryFolder, _ root: String, _ seed: UInt64) async -> [String] {
    guard let process = try? CrashRigProcess(["upload", service, folder.path, root, "\(seed)", "0"]) else { return [] }
    let lines = await process.lines()
    #expect(lines.last == "closed", "\(lines)")
    return lines
  }
}

/// The queue of a store whose process was killed, and its rows as readers see them; there is no service.
struct KilledQueue {
  let provider: OfflineODataProvider
  private let open: OpenStore

  init(_ folder: TemporaryFolder, _ root: String) async throws {
    guard let root = URL(string: root) else { throw OfflineODataError(.invalidServiceRoot) }
    provider = try OfflineODataProvider(
      serviceRoot: root, transport: NoService(),
      parameters: OfflineODataParameters(
        path: folder.path, downloadsOnOpening: false, encryptionKey: try RigKey.fromEnvironment()))
    try await provider.open()
    open = try provider.openStore()
    try await open.replica.database.checkIntegrity()
  }

  /// The requests that wait.
  func requests() async throws -> [String] {
    try await open.read { snapshot in
      try snapshot.connection.rows("SELECT request FROM larder_request") { (row) throws(StorageError) in try row.text(0)
      }
    }
  }

  /// What is in the error archive.
  func archived() async throws -> [String] {
    try await open.read { snapshot in
      try ChangeQueue(snapshot.connection).entries().filter { $0.state == .archived || $0.state == .held }.map {
        "\($0.id) \($0.request.operation) \($0.failure?.message ?? "held")"
      }
    }
  }

  /// What is kept for requests that wait.
  func leftovers() async throws -> Int64 {
    try await open.read { snapshot in
      try snapshot.connection.first(
        """
        SELECT (SELECT count(*) FROM larder_effect) + (SELECT count(*) FROM larder_base)
          + (SELECT count(*) FROM larder_dependency) + (SELECT count(*) FROM larder_base_link)
        """
      ) { (row) throws(StorageError) in try row.int64(0) } ?? 0
    }
  }

  /// An order by a key that it has or had: its key now and the mark of its last update.
  func order(_ path: String) async throws -> (key: String, mark: String)? {
    let entity: ODataEntity?
    do { entity = try await provider.readEntity(path) } catch OfflineODataError.notFound { return nil }
    guard let entity, case .int32(let key)? = entity["ID"] else { return nil }
    if case .string(let mark)? = entity["Note"] { return ("\(key)", mark) }
    return ("\(key)", "-")
  }

  /// Keys and columns of a set, sorted as texts.
  func rows(_ set: String, _ columns: [String]) async throws -> [String] {
    try await open.read { snapshot in
      guard let table = snapshot.plan.table(set) else { return [] }
      let sql = "SELECT ID, \(columns.joined(separator: ", ")) FROM \(snapshot.state.tables[table.number])"
      return try snapshot.connection.rows(sql) { (row) throws(StorageError) in
        (0...Int32(columns.count)).map { column in
          switch row.value(column) {
          case .integer(let number): "\(number)"
          case .text(let text): text
          default: "-"
          }
        }.joined(separator: "|")
      }.sorted()
    }
  }

  func close() async throws { try await provider.close() }
}
