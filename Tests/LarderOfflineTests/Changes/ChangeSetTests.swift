import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Changes that go together", .timeLimit(.minutes(1)))
struct ChangeSetTests {
  private static let order = "Orders(\(ChangeMakingTests.order))"

  /// A link to one that goes only where it leads to an entity.
  private static func unlink(_ path: String, from target: String) -> ODataSingleRequest {
    var request = ODataSingleRequest.deleteLink(path)
    request.body = .reference(target)
    return request
  }

  private static func named(_ name: String, _ request: ODataSingleRequest) -> ODataSingleRequest {
    var request = request
    request.contentID = name
    return request
  }

  private static func customer(_ name: String) -> ODataSingleRequest {
    named(name, .create(ODataEntity(properties: [ODataProperty("Name", .string(name))]), in: "Customers"))
  }

  private static func link(_ path: String, to target: String) -> ODataSingleRequest { .updateLink(path, to: target) }

  private static let created = named(
    "o", .create(ODataEntity(properties: [ODataProperty("CustomerID", .int32(1))]), in: "Orders"))
  private static let owner = order + "/Customer/$ref"
  private static let first = order + "/First/$ref"

  private static let unlinked: [(requests: [ODataSingleRequest], isRight: Bool)] = [
    ([unlink(owner, from: "Customers(1)")], true),
    ([unlink(owner, from: "Customers(2)")], false),
    ([unlink(owner, from: "Customers(9)")], false),
    ([link(owner, to: "Customers(2)"), unlink(owner, from: "Customers(1)")], false),
    ([link(owner, to: "Customers(2)"), unlink(owner, from: "Customers(2)")], true),
    ([customer("c"), unlink(owner, from: "$c")], false),
    ([customer("c"), link(owner, to: "$c"), unlink(owner, from: "$c")], true),
    ([link(first, to: "Tags('red')"), unlink(first, from: "Tags('red')")], true),
    ([created, unlink("$o/Customer/$ref", from: "Customers(2)")], false),
    ([created, unlink("$o/Customer/$ref", from: "Customers(1)")], true),
  ]

  @Test(
    "A link to one is taken away where it leads to the entity that is said, after the changes before",
    arguments: unlinked)
  func unlinking(_ requests: [ODataSingleRequest], _ isRight: Bool) async throws {
    let rig = try await ChangeMakingTests.filled()
    var failure: OfflineODataError?
    do throws(OfflineODataError) { _ = try await rig.store.change(requests, isChangeSet: true) } catch {
      failure = error
    }
    #expect(failure?.name == (isRight ? nil : .entityNotFound), "\(failure.debugDescription)")
    let queue = try await rig.queue()
    #expect(queue.count == (isRight ? requests.count : 0))
    // The service does not have to compare.
    #expect(queue.last.map { $0.contains(" deleteLink ") && $0.contains(" -") } ?? true, "\(queue)")
  }

  @Test("One that does not fit is reported by its place; an error outside the change set is reported unchanged")
  func failures() async throws {
    let rig = try await UploadRig()
    let name = Array(#"{"Name":"x"}"#.utf8)
    var draft = ChangeSetDraft()
    try await rig.store.add(.update(.patch), "Orders(1)", json: name, name: nil, to: &draft) { _ in }
    var other = draft
    try await rig.store.add(.delete, "Orders(99)", json: nil, name: nil, to: &other) { _ in }
    let unfitting = other
    let unfit = await #expect(throws: ChangeSetError.self) { _ = try await rig.store.apply(unfitting) }
    #expect(unfit?.index == 1 && unfit?.error.name == .entityNotFound)
    // Bytes are put into the file before the first change is made.
    try await rig.store.add(.updateMedia, "Orders(1)/$value", json: nil, name: nil, to: &draft) { request in
      request.body = .stream(length: nil, contentType: "a/b") {
        HTTPBodyStream(next: { throw HTTPTransportError.connectionLost(reason: "the test ends it") })
      }
    }
    let broken = draft
    await #expect(throws: OfflineODataError.self) { _ = try await rig.store.apply(broken) }
    #expect(try await rig.store.hasPendingChanges() == false)
  }
}
