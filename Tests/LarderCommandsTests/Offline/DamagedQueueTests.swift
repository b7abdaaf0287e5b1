import LarderOData
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCommands
@testable import LarderOffline

@Suite("A clone whose queue cannot be read", .mockSAP(), .serialized, .timeLimit(.minutes(5)))
struct DamagedQueueTests {
  /// A clone with one pending change that cannot be read, and its number.
  private func clone(_ orders: OrderService, _ service: MockSAP) async throws -> (CloneRig, String) {
    let clone = try await CloneRig(orders.root(service), orders.query)
    #expect(
      await clone.run("update", orders.order, #"{"PurchaseOrderByCustomer":"mine"}"#).status
        == .done)
    let replica = try await Replica.open(path: clone.path + "/" + CloneFolder.storeName)
    let id = try await replica.database.write { (connection) throws(StorageError) in
      try connection.run("UPDATE larder_request SET request = 'damaged'")
      return try connection.first("SELECT id FROM larder_request") { (row) throws(StorageError) in
        try row.int64(0)
      }
    }
    try await replica.close()
    return (clone, "\(try #require(id))")
  }

  @Test(
    "status and errors diff fail: they report neither an empty queue nor a missing conflict"
  )
  func reported() async throws {
    let service = try MockSAP.ofSuite
    let orders = OrderService(isV4: true)
    let (clone, id) = try await clone(orders, service)
    for line in [["status"], ["status", "--json"], ["errors", "diff", id]] {
      let outcome = await clone.run(line)
      #expect(outcome.status == .storage, "\(line): \(outcome.output)\(outcome.diagnostics)")
      #expect(outcome.diagnostics.contains("cannot be read"), "\(line): \(outcome.diagnostics)")
    }
    #expect(await clone.run("errors", "diff", "99").diagnostics.contains("no request 99"))
  }

  @Test("a change that was made exits with 0: after a failure, a user would make it twice")
  func created() async throws {
    let service = try MockSAP.ofSuite
    let orders = OrderService(isV4: true)
    let (clone, _) = try await clone(orders, service)
    let other = "\(orders.set)('0000004713')"
    let reported = try await clone.json("update", other, #"{"PurchaseOrderByCustomer":"b"}"#, "--json")
    #expect(reported["pending"]?.text == "2")
    #expect(try await clone.value("\(other)/PurchaseOrderByCustomer") == "b")
  }
}
