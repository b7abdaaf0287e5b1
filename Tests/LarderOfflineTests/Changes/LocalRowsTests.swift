import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Rows of the file with pending changes", .timeLimit(.minutes(3)))
struct LocalRowsTests {
  /// What a store should show, kept by hand: the server's rows, and requests replayed on them from the first on.
  private struct Naive {
    struct Row {
      var key: Int
      var server: String?
      /// The server's last value of a row that it has removed while changes waited.
      var lost: String?
      /// Made here, or to be seen: false where the server has never had it and nothing made it.
      var exists: Bool
    }
    var rows: [Int64: Row] = [:]
    var requests: [(id: Int64, row: Int64, effect: Effect)] = []

    func seen(_ id: Int64) -> String? {
      let rowRequests = requests.filter { $0.row == id }
      guard let row = rows[id] else { return nil }
      var value = row.exists ? row.server : rowRequests.isEmpty ? nil : row.lost
      var isThere = row.exists || (row.lost != nil && !rowRequests.isEmpty)
      for request in rowRequests {
        switch request.effect.kind {
        case .insert:
          isThere = true
          value = text(request.effect) ?? value
        case .set: if isThere { value = text(request.effect) ?? value }
        case .delete: isThere = false
        case .link, .unlink: break
        }
      }
      return isThere ? value ?? "-" : nil
    }

    private func text(_ effect: Effect) -> String? {
      if case .text(let text)? = effect.cells["Total"] { text } else { nil }
    }

    var all: [String] {
      rows.keys.compactMap { id in seen(id).flatMap { value in rows[id].map { ($0.key, value) } } }
        .sorted { $0.0 < $1.0 }.map { "\($0.0)|\($0.1)" }
    }

    mutating func succeed(_ id: Int64) {
      guard let place = requests.firstIndex(where: { $0.id == id }) else { return }
      let request = requests[place]
      var row = rows[request.row] ?? Row(key: 0, exists: false)
      switch request.effect.kind {
      case .insert, .set:
        row.server = text(request.effect) ?? (row.exists ? row.server : row.lost)
        row.exists = true
        row.lost = nil
      default:
        row.exists = false
        row.lost = nil
      }
      rows[request.row] = row
      requests.remove(at: place)
    }
  }

  @Test("Any sequence of changes, uploads, undoing and downloads shows what a replay from the beginning shows")
  func random() async throws {
    var random = PrintedSeed(for: "Rows with changes that wait")
    for round in 0..<12 {
      let rig = try await ReplicaRig(metadata: ReplicaModels.shop, makesTables: false)
      var naive = Naive()
      var server: [Int: Int] = [1: 10, 2: 20, 3: 30]
      try await load(server, rig, &naive)
      for step in 0..<30 {
        try await self.step(&random, rig, &naive, &server)
        let shown = try await rig.rows("SELECT ID, Total FROM {Orders} ORDER BY ID")
        #expect(shown == naive.all, "round \(round), step \(step)")
        guard shown == naive.all else { return }
        try await checkStates(rig, naive)
      }
      // Undone altogether, what is left is the server's.
      try await rig.replica.write { (snapshot) throws(StorageError) in
        var rows = LocalRows(snapshot)
        _ = try rows.undo(try rows.queue.entries().map(\.id))
        _ = try rows.finish()
      }
      naive.requests = []
      #expect(try await rig.rows("SELECT ID, Total FROM {Orders} ORDER BY ID") == naive.all)
      for table in ["larder_request", "larder_effect", "larder_base", "larder_dependency"] {
        #expect(try await rig.rows("SELECT count(*) FROM \(table)") == ["0"])
      }
    }
  }

  private func checkStates(_ rig: ReplicaRig, _ naive: Naive) async throws {
    let states = try await rig.rows("SELECT \"@id\", \"@state\" & 2, \"@etag\" LIKE 'W/\"larder-%' FROM {Orders}")
    for line in states {
      let parts = line.split(separator: "|")
      let isPending = naive.requests.contains { String($0.row) == parts[0] }
      #expect(parts[1] == (isPending ? "2" : "0"))
      if isPending { #expect(parts[2] == "1") }
    }
  }

  private func step(
    _ random: inout PrintedSeed, _ rig: ReplicaRig, _ naive: inout Naive, _ server: inout [Int: Int]
  ) async throws {
    let seen = naive.rows.keys.filter { naive.seen($0) != nil }.sorted()
    let value = Int.random(in: 100..<1000, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      let key = 100 + value + (naive.rows.values.map(\.key).max() ?? 0)
      try await make(rig, &naive, key: key, value: value)
    case 1, 2:
      guard let row = seen.randomElement(using: &random) else { return }
      let cells = EntityCells(["Total": .text("\(value)")])
      try await record(rig, &naive, row, Effect(.set, "Orders", row, cells: cells), .patch)
    case 3:
      guard let row = seen.randomElement(using: &random) else { return }
      try await record(rig, &naive, row, Effect(.delete, "Orders", row), .delete)
    case 4:
      guard let first = naive.requests.first else { return }
      // What the server has then.
      naive.succeed(first.id)
      if let row = naive.rows[first.row] { server[row.key] = row.exists ? row.server.flatMap { Int($0) } : nil }
      try await rig.replica.write { (snapshot) throws(StorageError) in
        var rows = LocalRows(snapshot)
        try rows.succeed(first.id)
        _ = try rows.finish()
      }
    case 5:
      guard let one = naive.requests.randomElement(using: &random) else { return }
      let undone = try await rig.replica.write { (snapshot) throws(StorageError) in
        var rows = LocalRows(snapshot)
        let undone = try rows.undo([one.id])
        _ = try rows.finish()
        return undone
      }
      #expect(Set(undone) == Set(naive.requests.filter { $0.row == one.row && $0.id >= one.id }.map(\.id)))
      naive.requests.removeAll { undone.contains($0.id) }
    default:
      // Somebody else works at the server, then a download.
      if let key = server.keys.sorted().randomElement(using: &random) {
        server[key] = Bool.random(using: &random) ? value : nil
      }
      try await load(server, rig, &naive)
    }
  }

  private func make(_ rig: ReplicaRig, _ naive: inout Naive, key: Int, value: Int) async throws {
    let row = try await rig.replica.write { (snapshot) throws(StorageError) in
      try snapshot.connection.takeIdentities(1)
    }
    naive.rows[row] = Naive.Row(key: key, exists: false)
    let cells = EntityCells(["ID": .integer(Int64(key)), "Total": .text("\(value)"), "@type": .text("N.Order")])
    try await record(rig, &naive, row, Effect(.insert, "Orders", row, cells: cells), .create)
  }

  private func record(
    _ rig: ReplicaRig, _ naive: inout Naive, _ row: Int64, _ effect: Effect, _ operation: QueuedRequest.Operation
  ) async throws {
    var request = QueuedRequest(operation, QueuedTarget(RowReference("Orders", row)))
    request.entity = RowReference("Orders", row)
    let id = try await rig.replica.write { [request] (snapshot) throws(StorageError) in
      var rows = LocalRows(snapshot)
      let id = try rows.record(request, effects: [effect])
      _ = try rows.finish()
      return id
    }
    naive.requests.append((id, row, effect))
  }

  /// Reads the server's rows as a whole, and has the naive store know them.
  private func load(_ server: [Int: Int], _ rig: ReplicaRig, _ naive: inout Naive) async throws {
    let items = server.sorted { $0.key < $1.key }.map { "{\"ID\":\($0.key),\"Total\":\($0.value)}" }
    try await rig.load("Orders", "{\"value\":[\(items.joined(separator: ","))]}")
    for id in naive.rows.keys {
      guard var row = naive.rows[id] else { continue }
      if let value = server[row.key] {
        row.exists = true
        row.server = "\(value)"
        row.lost = nil
      } else if row.exists {
        row.exists = false
        row.lost = row.server
      }
      if !row.exists, !naive.requests.contains(where: { $0.row == id }) { row.lost = nil }
      naive.rows[id] = row
    }
    for line in try await rig.rows("SELECT \"@id\", ID, Total FROM {Orders}") {
      let parts = line.split(separator: "|")
      guard let id = Int64(parts[0]), let key = Int(parts[1]), naive.rows[id] == nil else { continue }
      naive.rows[id] = Naive.Row(key: key, server: String(parts[2]), exists: true)
    }
  }
}
