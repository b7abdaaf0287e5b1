import Testing

@testable import LarderOData

/// Cases follow the page "JSON Format (OData Version 2.0)" of odata.org, and V3's where named.
@Suite("V1 to V3 verbose JSON", .timeLimit(.minutes(5)))
struct PayloadVerboseTests {
  static let entry = ##"""
    {"__metadata":{"id":"http://h/C('A')","uri":"http://h/C('A')","type":"N.Customer","etag":"W/\"1\"",
     "media_src":"m","edit_media":"e","media_etag":"\"x\"","content_type":"image/png"},
     "Name":"Alfreds","Address":{"__metadata":{"type":"N.Address"},"City":"Berlin"},
     "Orders":{"__deferred":{"uri":"http://h/C('A')/Orders"}},"Boss":null}
    """##

  @Test(
    "Collections: V2 with results, V1 arrays, with and without 'd' ('Representing Collections of Entries')",
    arguments: [
      ##"{"d":{"results":[@],"__count":"7","__next":"n"}}"##, ##"{"d":{"__count":7,"__next":"n","results":[@]}}"##,
      ##"{"d":[@]}"##, "[@]",
    ])
  func collection(frame: String) throws {
    let collection = try #require(try readPayload(frame.replacing("@", with: Self.entry)).collection)
    let entity = try #require(collection.entities.first)
    #expect(entity.typeName == "N.Customer")
    #expect(entity.id == "http://h/C('A')")
    #expect(entity.editLink == "http://h/C('A')")
    #expect(entity.etag == "W/\"1\"")
    #expect(entity.media == ODataMediaLink(readLink: "m", editLink: "e", contentType: "image/png", etag: "\"x\""))
    #expect(
      entity["Address"]
        == .complex(ODataComplexValue(typeName: "N.Address", properties: [.init("City", .string("Berlin"))])))
    #expect(entity.navigationLink("Orders")?.url == "http://h/C('A')/Orders")
    #expect(entity["Boss"] == .null)
    if frame.contains("__count") {
      #expect(collection.count == 7)
      #expect(collection.nextLink == "n")
    }
  }

  @Test("An entry, with related entries in line ('Inline Representation of Associated Entries')")
  func inline() throws {
    let text = ##"""
      {"d":{"__metadata":{"uri":"u"},"One":{"__metadata":{"uri":"v"},"A":"1"},
       "Many":{"results":[{"__metadata":{"uri":"w"},"B":"2"}],"__count":"9","__next":"more"},
       "Old":[{"__metadata":{"uri":"x"},"C":"3"}],"None":{"results":[]}}}
      """##
    let entity = try #require(try readPayload(text).entity)
    #expect(entity.navigationLink("One")?.entity?["A"] == .string("1"))
    #expect(entity.navigationLink("Old")?.entities?.first?["C"] == .string("3"))
    guard case .collection(let many)? = entity.navigationLink("Many")?.content else {
      Issue.record("no collection")
      return
    }
    #expect(many.count == 9)
    #expect(many.nextLink == "more")
    #expect(many.entities[0]["B"] == .string("2"))
    #expect(entity.navigationLink("None")?.entities?.isEmpty == true)
  }

  @Test("A deleted row makes a delta; without one it stays a collection with its delta link")
  func delta() throws {
    let plain = try #require(try readPayload(##"{"d":{"results":[],"__delta":"D"}}"##).collection)
    #expect(plain.deltaLink == "D")
    let text =
      ##"{"d":{"results":[{"__metadata":{"id":"i","uri":"i","deleted":true},"K":"1"},{"__metadata":{"uri":"j"}}],"__delta":"D"}}"##
    let delta = try #require(try readPayload(text).delta)
    #expect(delta.deltaLink == "D")
    guard case .deletedEntity(let gone)? = delta.items.first else {
      Issue.record("no deletion")
      return
    }
    #expect(gone.id == "i")
    #expect(gone.removal == .deleted)
    #expect(gone["K"] == .string("1"))
    #expect(delta.items.count == 2)
  }

  @Test("Links, one and many ('Representing Links')")
  func links() throws {
    #expect(try readPayload(##"{"d":{"uri":"http://h/C(1)"}}"##) == .reference(ODataReference(id: "http://h/C(1)")))
    let many = try readPayload(##"{"d":{"results":[{"uri":"a"},{"uri":"b"}],"__count":"2"}}"##)
    #expect(many == .references(ODataReferenceCollection(references: [.init(id: "a"), .init(id: "b")], count: 2)))
    #expect(
      try readPayload(##"{"d":[{"uri":"a"}]}"##) == .references(ODataReferenceCollection(references: [.init(id: "a")])))
  }

  @Test(
    "Properties and what service operations return",
    arguments: [
      (##"{"d":{"Name":"x"}}"##, "Name", ODataValue.string("x")),
      (##"{"d":{"Name":null}}"##, "Name", .null),
      (
        ##"{"d":{"Tags":{"__metadata":{"type":"Collection(Edm.String)"},"results":["a"]}}}"##, "Tags",
        .collection([.string("a")])
      ),
      (##"{"d":{"results":["a","b"]}}"##, nil, .collection([.string("a"), .string("b")])),
      (##"{"d":{"__metadata":{"type":"Collection(Edm.String)"},"results":[]}}"##, nil, .collection([])),
      (
        ##"{"d":{"Place":{"__metadata":{"type":"N.Place"},"City":"B"}}}"##, "Place",
        .complex(ODataComplexValue(typeName: "N.Place", properties: [.init("City", .string("B"))]))
      ),
      (##"{"d":"text"}"##, nil, .string("text")),
      (##"{"d":null}"##, nil, .null),
    ] as [(String, String?, ODataValue)])
  func property(text: String, name: String?, value: ODataValue) throws {
    let property = try #require(try readPayload(text).property)
    #expect(property.name == name)
    #expect(property.value == value)
  }

  @Test("The service document ('Representing Service Documents')")
  func serviceDocument() throws {
    #expect(
      try readPayload(##"{"d":{"EntitySets":["A","B"]}}"##)
        == .serviceDocument(ODataServiceDocument(elements: [.init(name: "A", url: "A"), .init(name: "B", url: "B")])))
  }

  @Test("V3: actions, named streams, association links")
  func v3() throws {
    let text = ##"""
      {"d":{"__metadata":{"uri":"u","actions":{"http://h/$metadata#N.Go":[{"title":"Go","target":"u/Go"}]},
       "functions":{"#N.See":[{"title":"See","target":"u/See"}]},
       "properties":{"Orders":{"associationuri":"u/$links/Orders"}},"custom":"kept"},
       "Photo":{"__mediaresource":{"edit_media":"p","media_src":"q","content_type":"image/jpeg","media_etag":"e"}},
       "Orders":{"__deferred":{"uri":"u/Orders"}}}}
      """##
    let entity = try #require(try readPayload(text).entity)
    #expect(entity.operations.map(\.name) == ["N.Go", "N.See"])
    #expect(entity.operations.map(\.kind) == [.action, .function])
    #expect(
      entity.streams.first?.link == ODataMediaLink(readLink: "q", editLink: "p", contentType: "image/jpeg", etag: "e"))
    #expect(entity.navigationLink("Orders")?.associationURL == "u/$links/Orders")
    #expect(entity.annotations == [ODataAnnotation(term: "__metadata.custom", value: .string("kept"))])
  }
}
