import Foundation
import LarderOData
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

/// The process dies at any point of an upload: the store's file as it was then, the service as it was then, and an
/// upload by a process that knows nothing else.
@Suite("The end of the process in the middle of an upload", .timeLimit(.minutes(3)))
struct UploadCrashTests {
  /// A point in time: what the service was, and the files beside it.
  private struct Point: Sendable {
    let folder: TemporaryFolder
    let service: UploadService.State
  }

  private final class Points: Sendable {
    let all = Mutex<[Point]>([])
    let store: String

    init(_ store: String) { self.store = store }

    /// Copies the files. Nothing writes while a request is in progress.
    func take(_ service: UploadService.State) {
      guard let folder = try? TemporaryFolder() else { return }
      for suffix in ["", "-wal"] {
        try? FileManager.default.copyItem(
          atPath: store + "/store.larder" + suffix, toPath: folder.path + "/store.larder" + suffix)
      }
      all.withLock { $0.append(Point(folder: folder, service: service)) }
    }
  }

  struct Scenario: Sendable, CustomTestStringConvertible {
    var behavior = UploadService.Behavior()
    var testDescription: String {
      "V\(behavior.isV2 ? 2 : 4)\(behavior.batchStatus == nil ? "" : ", no batches")"
        + (behavior.isSilent ? ", silent" : "") + (behavior.knowsNames ? ", knows names" : "")
        + (behavior.hasETags ? "" : ", no ETags")
    }
  }

  static let scenarios: [Scenario] = [
    Scenario(), Scenario(behavior: .init(isV2: true)), Scenario(behavior: .init(batchStatus: 404)),
    Scenario(behavior: .init(isV2: true, batchStatus: 501)), Scenario(behavior: .init(isSilent: true)),
    Scenario(behavior: .init(knowsNames: true)), Scenario(behavior: .init(hasETags: false)),
    Scenario(behavior: .init(isV2: true, requiresIfMatch: true)),
  ]

  @Test("Nothing is lost and nothing is done twice, wherever it dies", arguments: scenarios)
  func everyPoint(scenario: Scenario) async throws {
    let rig = try await UploadRig(scenario.behavior)
    try await changes(rig, hasBatches: scenario.behavior.batchStatus == nil)
    let points = Points(rig.folder.path)
    points.take(rig.service.now)
    rig.service.change { $0.watch = { points.take($0) } }
    // One lane: nothing is written while a point in time is copied.
    let report = try await rig.store.upload(OfflineODataUploadOptions(lanes: 1))
    rig.service.change { $0.watch = nil }
    #expect(report.failed == 0 && report.pending == 0)
    let wanted = rig.service.now
    let rows = try await shown(rig.store)
    let all = points.all.withLock { $0 }
    #expect(all.count >= 5)
    for (place, point) in all.enumerated() {
      let service = UploadService(point.service)
      let store = try UploadRig.provider(point.folder, service)
      try await store.open()
      let second = try await store.upload()
      #expect(second.failed == 0 && second.pending == 0, "point \(place): \(second)")
      #expect(service.log.sorted() == wanted.log.sorted(), "point \(place)")
      #expect(service.now.sets == wanted.sets, "point \(place)")
      #expect(try await shown(store) == rows, "point \(place)")
      #expect(try await store.hasPendingUpload() == false)
      try await store.close()
    }
    print("the end of the process, \(scenario.testDescription): \(all.count) points")
  }

  @Test(
    "The power fails: any part of the log after a point has reached the disk, and garbage behind it",
    arguments: [scenarios[0], scenarios[1], scenarios[5]])
  func power(scenario: Scenario) async throws {
    var random = PrintedSeed(for: "the power goes in an upload, \(scenario.testDescription)")
    let rig = try await UploadRig(scenario.behavior)
    try await rig.open.replica.database.write { (connection) throws(StorageError) in
      try connection.run("PRAGMA wal_autocheckpoint = 0")
    }
    try await changes(rig, hasBatches: scenario.behavior.batchStatus == nil)
    let points = Points(rig.folder.path)
    points.take(rig.service.now)
    rig.service.change { $0.watch = { points.take($0) } }
    _ = try await rig.store.upload()
    rig.service.change { $0.watch = nil }
    points.take(rig.service.now)
    let wanted = rig.service.now
    let rows = try await shown(rig.store)
    let all = points.all.withLock { $0 }
    for (place, (point, next)) in zip(all, all.dropFirst()).enumerated() {
      let log = try Data(contentsOf: URL(filePath: point.folder.file("store.larder-wal")))
      let later = try Data(contentsOf: URL(filePath: next.folder.file("store.larder-wal")))
      try #require(later.starts(with: log))
      for attempt in 0..<3 {
        let copy = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: point.folder.file("store.larder"), toPath: copy.file("store.larder"))
        var remaining = later.prefix(Int.random(in: log.count...later.count, using: &random))
        if attempt == 2 {
          remaining += (0..<Int.random(in: 1...9000, using: &random)).map { _ in
            UInt8.random(in: 0...255, using: &random)
          }
        }
        try remaining.write(to: URL(filePath: copy.file("store.larder-wal")))
        let service = UploadService(point.service)
        let store = try UploadRig.provider(copy, service)
        try await store.open()
        let second = try await store.upload()
        let note = "point \(place), \(remaining.count) bytes of \(log.count) to \(later.count)"
        #expect(second.failed == 0 && second.pending == 0, "\(note): \(second)")
        #expect(service.log.sorted() == wanted.log.sorted(), "\(note)")
        #expect(service.now.sets == wanted.sets, "\(note)")
        #expect(try await shown(store) == rows, "\(note)")
        try await store.close()
      }
    }
  }

  private func changes(_ rig: UploadRig, hasBatches: Bool) async throws {
    let created = try await rig.create("Orders", key: -1, ["Name": .string("made"), "Total": .int32(1)])
    try await rig.create(
      "Items", key: -1, ["Text": .string("i")], order: created.row, orderKey: -1, after: [created.id])
    try await rig.update(created.row, ["Note": .string("later")])
    try await rig.create("Orders", key: 50, ["Name": .string("own key")])
    let one = try await rig.row("Orders", 1)
    try await rig.update(one, ["Name": .string("a")])
    try await rig.update(one, ["Name": .string("b"), "Total": .int32(9)])
    try await rig.delete(try await rig.row("Orders", 2))
    guard hasBatches else { return }
    let first = try await rig.create("Orders", key: -2, ["Name": .string("in a transaction")])
    try await rig.update(try await rig.row("Orders", 3), ["Name": .string("with it")], unit: first.id)
  }

  private func shown(_ store: OfflineODataProvider) async throws -> [String] {
    let open = try store.openStore()
    return try await open.read { snapshot in
      guard let orders = snapshot.plan.table("Orders"), let items = snapshot.plan.table("Items") else { return [] }
      let sql = """
        SELECT 'o', ID, Name, Note, Total, "@etag", "@state" & 6 FROM \(snapshot.state.tables[orders.number])
        UNION ALL SELECT 'i', ID, Order_ID, Text, 0, "@etag", "@state" & 6 FROM \(snapshot.state.tables[items.number]) ORDER BY 1, 2
        """
      var all: [String] = []
      try snapshot.connection.forEachRow(sql) { (row) in
        all.append((0..<Int32(7)).map { "\(row.value($0))" }.joined(separator: "|"))
        return true
      }
      return all
    }
  }
}
