import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

/// What a service deletes together with an entity that the store has deleted; deltas need not report it.
@Suite(
  "Offline store: what leaves with an entity that was deleted here", .mockSAP(), .serialized, .timeLimit(.minutes(1)))
struct OwnDeletionTests {
  @Test("Expanded entities leave with the next download", arguments: [false, true])
  func expanded(isV2: Bool) async throws {
    let prefix = isV2 ? "A_" : ""
    let rig = try StoreRig(isV2 ? try MockSAP.ofSuite.salesOrdersV2 : try MockSAP.ofSuite.salesOrdersV4)
    let store = try await rig.open(["orders": "\(prefix)SalesOrder?$expand=to_Item"])
    let first = try #require(try await store.readEntitySet("\(prefix)SalesOrderItem?$top=1").entities.first)
    guard case .string(let number)? = first["SalesOrder"] else { return }
    let items = "\(prefix)SalesOrderItem?$filter=SalesOrder eq '\(number)'"
    let others = "\(prefix)SalesOrderItem?$filter=SalesOrder ne '\(number)'"
    let before = (try await store.size(items), try await store.size(others))
    #expect(before.0 > 0)
    try await store.delete("\(prefix)SalesOrder('\(number)')")
    #expect(try await store.upload().sent == 1)
    try await store.download()
    #expect(try await store.size(items) == 0)
    #expect(try await store.size(others) == before.1)
    try await store.close()
  }
}
