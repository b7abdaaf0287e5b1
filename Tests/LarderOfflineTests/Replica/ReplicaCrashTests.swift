import Foundation
import LarderOData
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("A process that ends at any time", .timeLimit(.minutes(1)))
struct ReplicaCrashTests {
  private final class Points: Sendable {
    let taken = Mutex<[String]>([])
    let isOver = Atomic(false)
  }

  /// The state that a killed process leaves: the file and its log as they were at one time. Both are read again until
  /// neither has been written over meanwhile: else the file could be older than the move of the log into it, and the log
  /// newer.
  private static func copy(_ rig: ReplicaRig, to folder: TemporaryFolder, _ number: Int) throws -> String {
    let path = folder.file("\(number).db")
    func bytes(_ suffix: String) -> Data {
      (try? Data(contentsOf: URL(fileURLWithPath: rig.folder.file("store.db") + suffix))) ?? Data()
    }
    var (file, log) = (bytes(""), bytes("-wal"))
    while true {
      let (laterFile, laterLog) = (bytes(""), bytes("-wal"))
      if laterFile == file, laterLog.starts(with: log) { break }
      (file, log) = (laterFile, laterLog)
    }
    try file.write(to: URL(fileURLWithPath: path))
    try log.write(to: URL(fileURLWithPath: path + "-wal"))
    return path
  }

  private static func json(_ total: Int, _ ids: Range<Int>) -> String {
    let rows = ids.map { id in
      "{\"ID\":\(id),\"Total\":\(total),\"Items\":[{\"No\":1,\"Text\":\"\(total)\"}],\"Tags\":[{\"Name\":\"t\(total)\"}]}"
    }
    return "{\"value\":[\(rows.joined(separator: ","))]}"
  }

  /// Totals, texts of items and tags in the store: all of one state.
  private static func state(of replica: Replica) async throws -> [String] {
    try await replica.read { (snapshot) throws(StorageError) in
      let (orders, tags) = (snapshot.state.tables[1], snapshot.state.tables[2])
      let items = snapshot.plan.table("Orders/Items").map { snapshot.state.tables[$0.number] } ?? ""
      let sql = """
        SELECT count(*) || '|' || group_concat(DISTINCT o.Total) || '|' || group_concat(DISTINCT i.Text) || '|'
        || group_concat(DISTINCT t.Name) FROM \(orders) o LEFT JOIN \(items) i ON i."@parent" = o."@id"
        LEFT JOIN \(snapshot.state.links[0]) l ON l.source = o."@id" LEFT JOIN \(tags) t ON t."@id" = l.target
        """
      return try snapshot.connection.rows(sql) { (row) throws(StorageError) in try row.text(0) }
    }
  }

  @Test("the file has the state before or after the download, and the download can be resumed")
  func anyPoint() async throws {
    let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
    let copies = try TemporaryFolder()
    try await rig.download("q", "Orders", pages: [Self.json(1, 0..<40)])
    try await rig.download("other", "Orders", pages: ["{\"value\":[{\"ID\":1},{\"ID\":2}]}"])
    try await rig.replica.sweep()
    let points = Points()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        while !points.isOver.load(ordering: .relaxed) {
          let number = points.taken.withLock { $0.count }
          if number < 60 {
            let path = try Self.copy(rig, to: copies, number)
            points.taken.withLock { $0.append(path) }
          }
          await Task.yield()
        }
      }
      let read = try await rig.begin("q", "Orders")
      for page in 0..<4 {
        _ = try await rig.page(Self.json(2, (page * 10)..<(page * 10 + 10)), of: read)
        try await read.save(position: "\(page)")
      }
      _ = try await read.finish(deltaLink: "d", etag: nil, lastModified: nil, at: 1)
      try await rig.replica.sweep()
      points.isOver.store(true, ordering: .relaxed)
      try await group.waitForAll()
    }
    #expect(try await Self.state(of: rig.replica) == ["40|2|2|t2"])
    var seen: Set<String> = []
    for path in points.taken.withLock({ $0 }) {
      let replica = try await Replica.open(path: path, key: try RigKey.fromEnvironment(), readers: 1)
      try await replica.database.checkIntegrity()
      let state = try await Self.state(of: replica)
      seen.formUnion(state)
      let link = try await replica.query("q")?.deltaLink
      #expect(state == (link == "d" ? ["40|2|2|t2"] : ["40|1|1|t1"]))
      try await replica.sweep()
      if let query = try await replica.query("q"),
        let read = try await GenerationRead.resume(replica, query: query.id, table: 1)
      {
        let page = read.beginPage(PageForm(url: "Orders", status: 200, version: .v4))
        try await page.take(Array(Self.json(2, 0..<40).utf8))
        _ = try await page.end()
        _ = try await read.finish(deltaLink: "d", etag: nil, lastModified: nil, at: 1)
        #expect(try await Self.state(of: replica) == ["40|2|2|t2"])
      }
      try await replica.close()
    }
    print("\(points.taken.withLock { $0.count }) points, states seen: \(seen.sorted())")
  }
}
