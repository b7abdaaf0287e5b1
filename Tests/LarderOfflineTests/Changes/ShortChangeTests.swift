@_spi(Stores) import LarderCore
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Changes that are short, on whatever thread they are made", .timeLimit(.minutes(1)))
struct ShortChangeTests {
  @Test("Of many tasks at once each is made whole, or not at all; none is lost")
  func together() async throws {
    let rig = try await ChangeRig()
    // One that is known to be quick, so that the next run on the calling thread.
    try await rig.create("Customers", [ODataProperty("Name", .string("first"))])
    let rejected = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 1...40 {
        group.addTask {
          let name = number % 4 == 0 ? String(repeating: "x", count: 21) : "c\(number)"
          let customer = ODataEntity(properties: [ODataProperty("Name", .string(name))])
          do { try await rig.change(.create(customer, in: "Customers")) } catch let error as OfflineODataError {
            #expect(error.category == .invalidInput, "\(error)")
            return true
          }
          return false
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(rejected == 10)
    #expect(try await rig.read("Customers/$count") == "31")
    #expect(try await rig.queue().count == 31)
    try await rig.rows.replica.database.checkIntegrity()
  }

  @Test("A model that another has put into the file meanwhile is read in turn")
  func modelChanged() async throws {
    let rig = try await ChangeRig()
    let replica = rig.rows.replica
    try await rig.create("Customers", [ODataProperty("Name", .string("first"))])
    let set = "<EntitySet Name=\"Others\" EntityType=\"N.Tag\"/>"
    let model = ChangeModels.shop.replacing("<ActionImport", with: set + "<ActionImport")
    let other = try await Replica.open(path: replica.database.path, key: try RigKey.fromEnvironment())
    _ = try await other.adopt(metadata: Array(model.utf8))
    try await other.close()
    #expect(replica.plan.table("Others") == nil)
    // Whatever the disk is: so that the next runs on the calling thread.
    let isQuick = replica.pace.withLock { pace in
      pace = WritingPace()
      pace.note(.zero, changes: 1)
      return pace.isQuick
    }
    #expect(isQuick)
    let names = try await replica.writeShortly { (snapshot) throws(StorageError) in snapshot.plan.tables.map(\.name) }
    #expect(names.contains("Others") && names.contains("Customers"))
  }

  @Test("A change is short by all that it carries: texts, names, points, entities that it names")
  func weights() {
    func isShort(_ properties: [ODataProperty], bindings: Int = 0) -> Bool {
      var link = ODataNavigationLink(name: "Tags")
      link.bindings = [String](repeating: "Tags('a')", count: bindings)
      return ODataSingleRequest.create(ODataEntity(properties: properties, navigationLinks: [link]), in: "Orders")
        .isShort
    }
    func line(_ count: Int) -> ODataGeo {
      ODataGeo(.geography, shape: .lineString([ODataGeo.Position](repeating: .init(x: 1, y: 2), count: count)))
    }
    let long = String(repeating: "x", count: 70_000)
    #expect(isShort([ODataProperty("Name", .string("a"))]) && !isShort([ODataProperty("Name", .string(long))]))
    #expect(!isShort([ODataProperty(long, .null)]) && !isShort([ODataProperty("Kind", .enumeration(long))]))
    #expect(isShort([ODataProperty("Way", .geo(line(100)))]) && !isShort([ODataProperty("Way", .geo(line(10_000)))]))
    #expect(!isShort([ODataProperty("Ways", .geo(ODataGeo(.geography, shape: .collection([line(10_000).shape]))))]))
    #expect(isShort([], bindings: 10) && !isShort([], bindings: 100))
  }

  @Test("What a change throws rolls it back and comes through")
  func failure() async throws {
    let rig = try await ChangeRig()
    for _ in 1...3 {
      let error = await #expect(throws: OfflineODataError.self) {
        try await rig.store.write(isShort: true) { snapshot in
          _ = try snapshot.connection.takeIdentities(1000)
          throw OfflineODataError(.entityNotFound, "it")
        }
      }
      #expect(error?.name == .entityNotFound)
    }
    let next = try await rig.store.write(isShort: true) { snapshot in try snapshot.connection.nextIdentity() }
    #expect(next < 1000)
  }
}
