import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

/// The archive with a service of another implementation, which requires If-Match.
@Suite("Conflicts with a real service", .mockSAP("--require-if-match"), .serialized, .timeLimit(.minutes(1)))
struct ArchiveServicesTests {
  struct Sales: Sendable, CustomTestStringConvertible {
    let isV2: Bool
    var orders: String { isV2 ? "A_SalesOrder" : "SalesOrder" }
    var root: String { get throws { isV2 ? try MockSAP.ofSuite.salesOrdersV2 : try MockSAP.ofSuite.salesOrdersV4 } }
    var testDescription: String { isV2 ? "V2" : "V4" }
  }

  private static let name = "PurchaseOrderByCustomer"

  private func mark(_ text: String) -> ODataEntity {
    ODataEntity(properties: [ODataProperty(Self.name, .string(text))])
  }

  private func mark(of entity: ODataEntity?) -> String? {
    if case .string(let text)? = entity?[Self.name] { text } else { nil }
  }

  @Test(
    "Another client is faster: the conflict is in the archive with its three versions, then the local one, the server's or a merge is chosen",
    arguments: [Sales(isV2: true), Sales(isV2: false)], ["mine", "theirs", "both"])
  func conflict(sales: Sales, choice: String) async throws {
    let rig = try StoreRig(try sales.root)
    let store = try await rig.open(["orders": sales.orders])
    let other = try StoreRig(try sales.root)
    let colleague = try await other.open(["orders": sales.orders])
    let first = try #require(try await store.readEntitySet("\(sales.orders)?$top=1&$orderby=SalesOrder").entities.first)
    guard case .string(let number)? = first["SalesOrder"] else { return }
    let path = "\(sales.orders)('\(number)')"
    _ = try await store.execute(single: .update(path, to: mark("mine")))
    _ = try await colleague.execute(single: .update(path, to: mark("theirs")))
    #expect(try await colleague.upload().sent == 1)
    let report = try await store.upload()
    #expect(report.failed == 1 && report.pending == 0)
    let failures = try await store.readEntitySet("ErrorArchive?$expand=AffectedEntity").entities
    let row = try #require(failures.first)
    #expect(failures.count == 1 && row["HTTPStatusCode"] == .int32(412) && row["Conflict"] == .boolean(true))
    #expect(mark(of: row.navigationLink("AffectedEntity")?.entity) == "mine")
    guard case .int64(let id)? = row["RequestID"] else { return }
    let conflict = try #require(try await store.conflict(id))
    #expect(mark(of: conflict.base) == mark(of: first) && mark(of: conflict.mine) == "mine")
    #expect(mark(of: conflict.theirs) == "theirs")
    switch choice {
    case "mine": try await store.retry(id)
    case "theirs": try await store.delete("ErrorArchive(\(id)\(sales.isV2 ? "L" : ""))")
    default: _ = try await store.execute(single: .update(path, to: mark("both")))
    }
    #expect(try await store.upload().failed == 0)
    #expect(try await store.hasPendingChanges() == false)
    _ = try await colleague.download()
    #expect(mark(of: try await colleague.readEntity(path)) == choice)
    #expect(mark(of: try await store.readEntity(path)) == choice)
    try await store.close()
    try await colleague.close()
  }
}
