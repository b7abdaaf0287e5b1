import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store: an entity that is created and deleted before an upload", .timeLimit(.minutes(1)))
struct VanishedCreationTests {
  @Test("Nothing is sent if the creation was never sent, also after changes of the entity", arguments: [false, true])
  func vanishes(combines: Bool) async throws {
    let rig = try await ChangeMakingTests.filled(combines: combines)
    try await rig.create("Customers", [.init("ID", .int32(9)), .init("Name", .string("Cyd"))])
    try await rig.update("Customers(9)", [.init("Name", .string("Dee"))])
    try await rig.change(.delete("Customers(9)"))
    #expect(try await rig.queue() == [])
    #expect(try await rig.read("Customers/$count") == "2")
    // The key is free again.
    try await rig.create("Customers", [.init("ID", .int32(9)), .init("Name", .string("Eve"))])
    #expect(try await rig.queue().count == 1)
  }

  @Test(
    "The deletion is sent if the creation may have been sent",
    arguments: ["state = 1", "attempt = '{}'"])
  func sent(change: String) async throws {
    let rig = try await ChangeMakingTests.filled()
    try await rig.create("Customers", [.init("ID", .int32(9)), .init("Name", .string("Cyd"))])
    try await rig.rows.run("UPDATE larder_request SET \(change)")
    try await rig.change(.delete("Customers(9)"))
    #expect(try await rig.rows.rows("SELECT count(*) FROM larder_request") == ["2"])
  }

  @Test("The deletion is sent if another change depends on the entity")
  func dependents() async throws {
    let rig = try await ChangeMakingTests.filled()
    try await rig.create("Customers", [.init("ID", .int32(9)), .init("Name", .string("Cyd"))])
    try await rig.change(.updateLink("Orders(\(ChangeMakingTests.order))/Customer/$ref", to: "Customers(9)"))
    try await rig.change(.delete("Customers(9)"))
    #expect(try await rig.queue().count == 3)
  }
}
