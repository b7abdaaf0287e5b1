import LarderOData
import Testing

@testable import LarderOffline

@Suite("What an entity looks like behind later changes of its transaction", .timeLimit(.minutes(1)))
struct LaterChangesTests {
  private static let row = RowReference("Orders", 1)
  private static let child = RowReference("Items", 2)

  private static func property(_ name: String, _ value: ODataValue) -> QueuedProperty {
    QueuedProperty(name: name, value: QueuedValue(value))
  }

  private static var sent: QueuedEntity {
    var sent = QueuedEntity(row: row, properties: [property("A", .string("a")), property("B", .string("b"))])
    let item = QueuedEntity(row: child, properties: [property("T", .string("t"))])
    sent.links = [QueuedLink(name: "Items", isCollection: true, entities: [item])]
    return sent
  }

  private static func request(
    _ operation: QueuedRequest.Operation, _ path: String = "", _ body: QueuedBody = .none, of row: RowReference = row
  ) -> QueuedRequest {
    var request = QueuedRequest(operation, QueuedTarget(row, path))
    request.entity = row
    request.body = body
    return request
  }

  private static func entity(_ properties: QueuedProperty...) -> QueuedBody {
    .entity(QueuedEntity(properties: properties))
  }

  private static func text(_ changes: LaterChanges) -> String {
    guard case .like(let entity) = changes else { return changes == .gone ? "gone" : "unclear" }
    return text(entity)
  }

  private static func text(_ entity: QueuedEntity) -> String {
    let values = entity.properties.sorted { $0.name < $1.name }.map { property in
      if case .string(let text) = property.value.value { "\(property.name)=\(text)" } else { "\(property.name)=null" }
    }
    let links = entity.links.map { link in
      "\(link.name)[\((link.bindings.map { _ in "@" } + link.entities.map(text)).joined(separator: ";"))]"
    }
    return (values + links).joined(separator: " ")
  }

  private static let table: [(String, [QueuedRequest], String)] = [
    ("nothing", [], "A=a B=b Items[T=t]"),
    ("of another", [request(.delete, of: RowReference("Orders", 9))], "A=a B=b Items[T=t]"),
    ("PATCH", [request(.patch, "", entity(property("B", .string("x"))))], "A=a B=x Items[T=t]"),
    (
      "twice",
      [
        request(.patch, "", entity(property("B", .string("x")))), request(.merge, "", entity(property("B", .null))),
      ], "A=a B=null Items[T=t]"
    ),
    ("PUT", [request(.replace, "", entity(property("B", .string("x"))))], "B=x Items[T=t]"),
    ("DELETE", [request(.delete)], "gone"),
    ("an action", [request(.action, "N.Close")], "unclear"),
    (
      "a property", [request(.replaceProperty, "A", .properties([property("A", .string("x"))]))],
      "A=x B=b Items[T=t]"
    ),
    (
      "a part of one", [request(.replaceProperty, "A/C", .properties([property("C", .string("x"))]))],
      "B=b Items[T=t]"
    ),
    ("no property", [request(.deleteProperty, "A")], "A=null B=b Items[T=t]"),
    ("bytes", [request(.replaceValue, "A/$value", .bytes([1], contentType: "a/b"))], "B=b Items[T=t]"),
    (
      "a link", [request(.updateLink, "First", .reference(.url("Tags(1)")))], "A=a B=b Items[T=t] First[@]"
    ),
    ("no link", [request(.deleteLink, "Items")], "A=a B=b"),
    (
      "what was made with it", [request(.patch, "", entity(property("T", .string("x"))), of: child)],
      "A=a B=b Items[T=x]"
    ),
    ("that deleted", [request(.delete, of: child)], "A=a B=b Items[]"),
    ("an action of that", [request(.action, "N.Do", of: child)], "A=a B=b Items[]"),
    ("its bytes", [request(.updateMedia, "$value")], "A=a B=b Items[T=t]"),
  ]

  @Test("One row a kind of change", arguments: table.indices)
  func each(place: Int) {
    let (name, later, expected) = Self.table[place]
    #expect(Self.text(LaterChanges.of(Self.sent, later)) == expected, "\(name)")
  }
}
