import Foundation
@_spi(Stores) import LarderHTTP
import LarderOData
import LarderService
import Testing

@testable import LarderOffline

@Suite("How a queued request is sent", .timeLimit(.minutes(1)))
struct RequestRenderingTests {
  /// Orders 1 and 2 are at the service, 11 is made here.
  private func rendering(_ version: ODataVersion) throws -> RequestRendering {
    let url = try #require(URL(string: "https://example.com/shop/"))
    return RequestRendering(
      version: version, root: try ODataServiceRoot(url),
      locate: { row in
        guard row.row < 10 else { return RowLocation() }
        return RowLocation(
          path: "\(row.table)(\(row.row))", keyPredicate: "\(row.row)", key: ["ID": .int32(Int32(row.row))])
      },
      find: { path in path == "Orders(-1)" ? RowReference("Orders", 11) : path == "Orders(1)" ? self.order : nil })
  }

  private let order = RowReference("Orders", 1)
  private let other = RowReference("Orders", 2)
  private let local = RowReference("Orders", 11)

  private func text(
    _ queued: QueuedRequest, _ version: ODataVersion, _ set: RequestRendering.ChangeSet = .init()
  ) throws -> String {
    var set = set
    let request = try rendering(version).request(queued, in: &set)
    let body =
      switch request.body {
      case .none: ""
      case .reference(let target): " -> \(target)"
      case .entity(let entity):
        try " " + String(decoding: ODataPayloadWriter(version: version).entity(entity), as: UTF8.self)
      case .properties(let all): " " + all.map(\.name).joined(separator: ",")
      case .bytes(let bytes, let type): " \(bytes.count) \(type)"
      case .stream: " stream"
      }
    return "\(request.operationName) \(request.path)\(request.ifMatch.map { " if \($0)" } ?? "")\(body)"
  }

  @Test("Links, in the form of each version")
  func links() throws {
    var make = QueuedRequest(.createLink, QueuedTarget(order, "Items"))
    make.body = .reference(.row(other))
    make.baseETag = "\"1\""
    #expect(try text(make, .v4) == "createLink Orders(1)/Items/$ref -> https://example.com/shop/Orders(2)")
    #expect(try text(make, .v2) == "createLink Orders(1)/$links/Items -> https://example.com/shop/Orders(2)")
    var remove = QueuedRequest(.deleteLink, QueuedTarget(order, "Items"))
    remove.body = .reference(.row(other))
    #expect(
      try text(remove, .v4)
        == "deleteLink Orders(1)/Items/$ref?$id=\(PercentEncoding.encode("https://example.com/shop/Orders(2)"))")
    #expect(try text(remove, .v2) == "deleteLink Orders(1)/$links/Items(2)")
    remove.body = .none
    #expect(try text(remove, .v3) == "deleteLink Orders(1)/$links/Items")
  }

  @Test("The ETag that a change was based on is sent with it, and * only if requested")
  func conditions() throws {
    var update = QueuedRequest(.patch, QueuedTarget(order))
    update.entity = order
    update.body = .entity(QueuedEntity(properties: [QueuedProperty(name: "Name", value: QueuedValue(.string("n")))]))
    #expect(try text(update, .v4) == #"update Orders(1) {"Name":"n"}"#)
    update.baseETag = "W/\"7\""
    #expect(try text(update, .v4) == #"update Orders(1) if W/"7" {"Name":"n"}"#)
    update.ifMatch = "*"
    #expect(try text(update, .v4) == #"update Orders(1) if * {"Name":"n"}"#)
    update.ifMatch = nil
    var set = RequestRendering.ChangeSet()
    set.changed = [1]
    #expect(try text(update, .v4, set) == #"update Orders(1) if * {"Name":"n"}"#)
    set.createdIDs = [1: "5"]
    #expect(try text(update, .v4, set) == #"update $5 {"Name":"n"}"#)
    // Only a link that may change the ETag hides it.
    for operation in [QueuedRequest.Operation.createLink, .updateLink] {
      var link = QueuedRequest(operation, QueuedTarget(order, "Items"))
      (link.entity, link.body) = (order, .reference(.row(other)))
      set = RequestRendering.ChangeSet()
      _ = try rendering(.v2).request(link, in: &set)
      let condition = operation == .createLink ? "W/\"7\"" : "*"
      #expect(try text(update, .v2, set) == #"update Orders(1) if \#(condition) {"Name":"n"}"#)
    }
    var remove = QueuedRequest(.delete, QueuedTarget(order))
    remove.baseETag = "\"a\""
    #expect(try text(remove, .v2) == "delete Orders(1) if \"a\"")
  }

  @Test("What refers to an entity that the service has not seen waits; within a change set it is $ and a Content-ID")
  func localEntities() throws {
    var item = QueuedRequest(.create, QueuedTarget(nil, "Items"))
    item.entity = RowReference("Items", 12)
    var entity = QueuedEntity()
    entity.properties = [
      QueuedProperty(name: "Order_ID", value: QueuedValue(.int32(-1)), key: QueuedKey(row: local, property: "ID"))
    ]
    item.body = .entity(entity)
    #expect(throws: RenderingError.waits(local)) { try text(item, .v4) }
    entity.properties[0].key = QueuedKey(row: other, property: "ID")
    item.body = .entity(entity)
    #expect(try text(item, .v4) == #"create Items {"Order_ID":2}"#)

    entity.properties[0].key = QueuedKey(row: local, property: "ID")
    entity.links = [QueuedLink(name: "Order", isCollection: false, bindings: [.row(local)])]
    item.body = .entity(entity)
    #expect(throws: RenderingError.waits(local)) { try text(item, .v4) }
    var set = RequestRendering.ChangeSet()
    set.createdIDs = [11: "40"]
    #expect(try text(item, .v4, set) == ##"create Items {"Order@odata.bind":"$40"}"##)
    #expect(try text(item, .v2, set) == ##"create Items {"Order":{"__metadata":{"uri":"$40"}}}"##)
    item.target = QueuedTarget(local, "Items")
    item.body = .entity(QueuedEntity())
    #expect(try text(item, .v4, set) == "create $40/Items {}")
  }

  @Test("A request that makes an entity is known by its Content-ID to those behind it")
  func contentIDs() throws {
    var make = QueuedRequest(.create, QueuedTarget(nil, "Orders"))
    make.entity = local
    make.body = .entity(QueuedEntity())
    var set = RequestRendering.ChangeSet()
    let rendering = try rendering(.v4)
    #expect(try rendering.request(make, contentID: "40", in: &set).contentID == "40")
    #expect(try rendering.request(QueuedRequest(.delete, QueuedTarget(local)), in: &set).path == "$40")
    set = RequestRendering.ChangeSet()
    set.hasReferences = false
    _ = try rendering.request(make, contentID: "40", in: &set)
    #expect(set.createdIDs.isEmpty)
  }

  @Test("Placeholders in fields become the service's keys and URLs")
  func placeholders() throws {
    var request = QueuedRequest(.action, QueuedTarget(nil, "Release"))
    request.headers = [QueuedHeader(name: "X-Order", value: "key {key:Orders(1)} at {id:Orders(1)}, {other} {")]
    var set = RequestRendering.ChangeSet()
    let rendering = try rendering(.v4)
    #expect(
      try rendering.request(request, in: &set).fields["X-Order"]
        == "key 1 at https://example.com/shop/Orders(1), {other} {")
    request.headers[0].value = "{key:Orders(-1)}"
    #expect(throws: RenderingError.waits(local)) { try rendering.request(request, in: &set) }
  }

  @Test("Changed entities are requested if that saves a read, unless the caller says otherwise")
  func preferences() throws {
    var update = QueuedRequest(.patch, QueuedTarget(order))
    update.body = .entity(QueuedEntity())
    var set = RequestRendering.ChangeSet()
    #expect(try rendering(.v4).request(update, in: &set).returnPreference == .representation)
    #expect(try rendering(.v2).request(update, in: &set).returnPreference == nil)
    update.returnPreference = "minimal"
    #expect(try rendering(.v4).request(update, in: &set).returnPreference == .minimal)
  }

  @Test("A request sent again unchanged keeps its name, a changed one gets another")
  func attempts() throws {
    let request = ODataSingleRequest(.delete, "Orders(1)", ifMatch: "\"1\"")
    let number = UploadRandom()
    let first = UploadAttempt(request, after: nil, now: 1_000, random: { number.next() })
    let second = UploadAttempt(request, after: UploadAttempt(json: first.json), now: 2_000, random: { number.next() })
    #expect(first.id == second.id && first.firstSent == second.firstSent && second.sent == 2_000)
    #expect(first.id.count == 32)
    var other = request
    other.ifMatch = "\"2\""
    let third = UploadAttempt(other, after: first, now: 2_000, random: { number.next() })
    #expect(third.id != first.id && third.firstSent == 2_000)
    #expect(first.fields(.v2)["RequestID"] == first.id.uppercased())
    #expect(first.fields(.v4)["Repeatability-First-Sent"] == "Thu, 01 Jan 1970 00:16:40 GMT")
    #expect(first.fields(.v4)["Repeatability-Request-ID"]?.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
  }
}
