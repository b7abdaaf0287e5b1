import Testing

@testable import LarderOData

@Suite("Rows of a delta and their own sets", .timeLimit(.minutes(5)))
struct PayloadDeltaTypingTests {
  private static let model: EdmModel = {
    var schema = EdmSchema(namespace: "N")
    var e = EdmEntityType(namespace: "N", name: "E")
    e.properties = [EdmProperty(name: "Id", type: .primitive(.int64))]
    e.navigationProperties = [EdmNavigationProperty(name: "Es", type: .collection(.named("N.E")))]
    var o = EdmEntityType(namespace: "N", name: "O")
    o.properties = [
      EdmProperty(name: "Id", type: .primitive(.string)), EdmProperty(name: "When", type: .primitive(.date)),
    ]
    schema.entityTypes = [e, o]
    var container = EdmEntityContainer(namespace: "N", name: "C")
    container.entitySets = [EdmEntitySet(name: "Es", entityType: "N.E"), EdmEntitySet(name: "Os", entityType: "N.O")]
    container.singletons = [EdmSingleton(name: "Me", type: "N.O")]
    schema.containers = [container]
    return EdmModel(version: .v4, schemas: [schema])
  }()

  private func delta(_ row: String) throws -> ODataDelta {
    let text = ##"{"@odata.context":"http://h/s/$metadata#Es/$delta","value":[{"Id":1},"## + row + "]}"
    return try #require(try readPayload(text, options: PayloadOptions(model: Self.model)).delta)
  }

  @Test(
    "An entity of another set has the type of its own context (JSON Format 4.0 §14, 4.01 §15.2)",
    arguments: [
      ("@odata.context", "http://h/s/$metadata#Os/$entity"), ("@odata.context", "#Os/$entity"),
      ("@odata.context", "$metadata#Me/$entity"), ("@context", "#Os/$entity"), ("@odata.context", "#Me"),
    ])
  func otherSet(name: String, context: String) throws {
    let delta = try delta(#"{"\#(name)":"\#(context)","Id":"a","When":"2020-01-01"}"#)
    guard case .entity(let first) = delta.items[0], case .entity(let other) = delta.items[1] else {
      Issue.record("\(delta.items)")
      return
    }
    #expect(first["Id"] == .int64(1))
    #expect(other.typeName == "N.O")
    #expect(other["Id"] == .string("a"))
    #expect(other["When"] == .date(try #require(ODataDate("2020-01-01"))))
  }

  @Test("Entities of an unknown set have no type, not that of the rows")
  func unknownSet() throws {
    let delta = try delta(##"{"@odata.context":"#Xs/$entity","Id":"a"}"##)
    guard case .entity(let other) = delta.items[1] else {
      Issue.record("\(delta.items)")
      return
    }
    #expect(other.typeName == nil)
    #expect(other["Id"] == .string("a"))
  }

  @Test("A deleted entity of another set, in 4.01's form, keeps its reason and its types (JSON Format 4.01 §15.3)")
  func deleted() throws {
    let delta = try delta(
      ##"{"@context":"#Os/$deletedEntity","@removed":{"reason":"changed","@x.y":1},"@id":"Os('a')","Id":"a"}"##)
    guard case .deletedEntity(let gone) = delta.items[1] else {
      Issue.record("\(delta.items)")
      return
    }
    #expect(gone.removal == .changed)
    #expect(gone.id == "Os('a')")
    #expect(gone["Id"] == .string("a"))
    #expect(gone.typeName == "N.O")
  }

  @Test("Annotations next to the reason of a removal are kept (JSON Format 4.01 §15.3)")
  func removalAnnotations() throws {
    let delta = try delta(##"{"@removed":{"@a.b":"x","reason":"changed","@x.y":1},"Id":2,"@c.d":true}"##)
    guard case .deletedEntity(let gone) = delta.items[1] else {
      Issue.record("\(delta.items)")
      return
    }
    #expect(gone.removal == .changed)
    #expect(gone["Id"] == .int64(2))
    #expect(gone.annotations.map(\.term) == ["a.b", "x.y", "c.d"])
    #expect(gone.annotations.first?.value == .string("x"))
  }
}
