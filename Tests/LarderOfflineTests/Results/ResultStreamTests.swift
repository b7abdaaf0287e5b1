import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("Results: streams", .timeLimit(.minutes(1)))
struct ResultStreamTests {
  private static func rig(rows: Int) async throws -> ResultRig {
    let rig = try await ResultRig(ResultModels.v4)
    try await rig.database.write { (connection) throws(StorageError) in
      try connection.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows)) "
          + "INSERT INTO t0(\"@id\", \"ID\", \"Title\") SELECT i, i, 'Order number ' || i FROM n")
    }
    return rig
  }

  @Test("The pieces add up to the result, which does not contain concurrent writes")
  func pieces() async throws {
    let rig = try await ResultStreamTests.rig(rows: 3000)
    let run = try rig.result(try rig.bench("Orders").readPlan, "Orders", ResultForm(version: .v4))
    let (whole, end) = try await rig.read { try run.json($0) }
    #expect(end.rows == 3000)
    let stream = try await ResultStream.open(rig.database) { _ in run }
    #expect(stream.end.outcome == .content)
    try await rig.database.write { (connection) throws(StorageError) in try connection.run("DELETE FROM t0") }
    var pieces: [[UInt8]] = []
    for try await piece in stream { pieces.append(piece) }
    #expect(pieces.count > 3 && pieces.allSatisfy { $0.count < 2 * ResultBytes.chunk })
    #expect(Array(pieces.joined()) == whole)
    try await rig.database.close()
  }

  @Test("A dropped stream releases its transaction; a single entity, and a missing one, can be streamed too")
  func dropped() async throws {
    let rig = try await ResultStreamTests.rig(rows: 3000)
    var bench = try rig.bench("Orders")
    var run = try rig.result(bench.readPlan, "Orders", ResultForm(version: .v4))
    do {
      let stream = try await ResultStream.open(rig.database) { [run] _ in run }
      var iterator = stream.makeAsyncIterator()
      #expect(try await iterator.next() != nil)
    }
    bench.isSingle = true
    bench.condition = "\"ID\" = 5"
    bench.select = ["ID"]
    run = try rig.result(bench.readPlan, "Orders(5)", ResultForm(version: .v4, metadata: .none))
    var stream = try await ResultStream.open(rig.database) { [run] _ in run }
    var text: [UInt8] = []
    for try await piece in stream { text += piece }
    #expect(String(decoding: text, as: UTF8.self) == "{\"ID\":5}")
    bench.condition = "0"
    run = try rig.result(bench.readPlan, "Orders(5)", ResultForm(version: .v4))
    stream = try await ResultStream.open(rig.database) { [run] _ in run }
    #expect(stream.end.outcome == .nothing)
    try await rig.database.close()
  }

  @Test("An error in the middle of the rows ends the stream with that error")
  func failing() async throws {
    let rig = try await ResultStreamTests.rig(rows: 3000)
    try await rig.database.write { (connection) throws(StorageError) in
      try connection.run("UPDATE t0 SET \"Stops\" = '[{' WHERE \"ID\" = 2900")
    }
    let run = try rig.result(try rig.bench("Orders").readPlan, "Orders", ResultForm(version: .v4))
    let stream = try await ResultStream.open(rig.database) { _ in run }
    await #expect(throws: OfflineODataError.self) {
      for try await piece in stream { #expect(!piece.isEmpty) }
    }
  }
}
