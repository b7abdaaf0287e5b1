import Testing

@testable import LarderOData

@Suite("V4 and V3 light JSON", .timeLimit(.minutes(5)))
struct PayloadV4Tests {
  @Test(
    "A collection: context, count, links, rows (JSON Format 4.01 §12), in 4.0 and 4.01 spelling",
    arguments: ["odata.", ""])
  func collection(prefix: String) throws {
    let text = """
      {"@\(prefix)context":"http://h/$metadata#Customers","@\(prefix)count":37,
       "value":[{"@\(prefix)id":"Customers('A')","@\(prefix)etag":"W/\\"1\\"","Name":"Alfreds","Notes":null},
                {"Name":"Around","@my.term":"x","Name@my.note":"y"}],
       "@\(prefix)nextLink":"Customers?$skiptoken=2","@my.late":true}
      """
    let collection = try #require(try readPayload(text).collection)
    #expect(collection.context == "http://h/$metadata#Customers")
    #expect(collection.count == 37)
    #expect(collection.nextLink == "Customers?$skiptoken=2")
    #expect(collection.annotations == [ODataAnnotation(term: "my.late", value: .boolean(true))])
    #expect(collection.entities.count == 2)
    #expect(collection.entities[0].id == "Customers('A')")
    #expect(collection.entities[0].etag == "W/\"1\"")
    #expect(collection.entities[0]["Name"] == .string("Alfreds"))
    #expect(collection.entities[0]["Notes"] == .null)
    #expect(collection.entities[1].annotations == [ODataAnnotation(term: "my.term", value: .string("x"))])
    #expect(collection.entities[1].properties[0].annotations == [ODataAnnotation(term: "my.note", value: .string("y"))])
  }

  @Test("Control information may be anywhere in an object (§4.5, unordered payloads)")
  func unordered() throws {
    let entity = try #require(
      try readPayload(
        ##"""
        {"Name":"x","Orders":[{"ID":"1"}],"Orders@odata.count":"3","Orders@odata.nextLink":"n","Name@my.a":"b",
         "Orders@odata.navigationLink":"l","Orders@odata.associationLink":"r",
         "@odata.type":"#M.Customer","@odata.context":"$metadata#Customers/$entity"}
        """##
      ).entity)
    #expect(entity.typeName == "M.Customer")
    #expect(entity.context == "$metadata#Customers/$entity")
    let link = try #require(entity.navigationLink("Orders"))
    #expect(link.url == "l")
    #expect(link.associationURL == "r")
    guard case .collection(let orders)? = link.content else {
      Issue.record("no collection")
      return
    }
    #expect(orders.count == 3)
    #expect(orders.nextLink == "n")
    #expect(orders.entities.map { $0["ID"] } == [.string("1")])
    #expect(
      entity.properties == [
        ODataProperty("Name", .string("x"), annotations: [.init(term: "my.a", value: .string("b"))])
      ])
  }

  @Test("Expanded entities: by the select list, by their control information, by links; null by none (§8.3)")
  func expanded() throws {
    let text = ##"""
      {"@odata.context":"$metadata#Orders(ID,Customer(Name))/$entity","ID":"1","Customer":{"Name":"A"},
       "Ship":{"@odata.id":"S(1)","Street":"x"},"Items":[{"@odata.etag":"e"}],"Address":{"City":"B"},
       "Tags":["a","b"],"Empty":[],"Bill@odata.navigationLink":"b","Bill":{"Street":"y"}}
      """##
    let entity = try #require(try readPayload(text).entity)
    #expect(entity.navigationLinks.map(\.name) == ["Customer", "Ship", "Items", "Bill"])
    #expect(entity.navigationLink("Customer")?.entity?["Name"] == .string("A"))
    #expect(entity.navigationLink("Ship")?.entity?.id == "S(1)")
    #expect(entity.navigationLink("Items")?.entities?.first?.etag == "e")
    #expect(entity.navigationLink("Bill")?.url == "b")
    #expect(entity["Address"] == .complex(ODataComplexValue(properties: [ODataProperty("City", .string("B"))])))
    #expect(entity["Tags"] == .collection([.string("a"), .string("b")]))
    #expect(entity["Empty"] == .collection([]))
  }

  @Test("Media entities and named streams (§4.6.14, §9)")
  func media() throws {
    let entity = try #require(
      try readPayload(
        ##"""
        {"@odata.context":"#P/$entity","@odata.mediaReadLink":"r","@odata.mediaEditLink":"w",
         "@odata.mediaContentType":"image/png","@odata.mediaEtag":"\"m\"","ID":"1",
         "Photo@odata.mediaReadLink":"pr","Photo@odata.mediaContentType":"image/gif","Photo@odata.mediaEtag":"\"p\""}
        """##
      ).entity)
    #expect(entity.media == ODataMediaLink(readLink: "r", editLink: "w", contentType: "image/png", etag: "\"m\""))
    #expect(entity.streams.map(\.name) == ["Photo"])
    #expect(entity.streams.first?.link.readLink == "pr")
    #expect(entity.streams.first?.link.etag == "\"p\"")
  }

  @Test("Available operations, and one that is not available (§16, §17)")
  func operations() throws {
    let entity = try #require(
      try readPayload(
        ##"{"@odata.context":"#E/$entity","#M.Raise":{"title":"Raise","target":"E(1)/M.Raise"},"#M.Fire":null,"ID":"1"}"##
      ).entity)
    #expect(entity.operations.map(\.name) == ["M.Raise", "M.Fire"])
    #expect(entity.operations[0].title == "Raise")
    #expect(entity.operations[0].target == "E(1)/M.Raise")
    #expect(entity.operations[1].isAvailable == false)
  }

  @Test(
    "One value (§11): by its context, wrapped or not",
    arguments: [
      (##"{"@odata.context":"#C(1)/Name","value":"x"}"##, "Name", nil, ODataValue.string("x")),
      (##"{"@odata.context":"#Edm.String","value":"x"}"##, nil, "Edm.String", .string("x")),
      (##"{"@odata.context":"#Edm.Null","@odata.null":true}"##, nil, "Edm.Null", .null),
      (##"{"value":null}"##, nil, nil, .null),
      (##"{"@odata.context":"#C(1)/Tags","value":["a",null]}"##, "Tags", nil, .collection([.string("a"), .null])),
      (##"{"@odata.context":"#Collection(Edm.String)","value":[]}"##, nil, "Collection(Edm.String)", .collection([])),
      (##"{"value":["a"]}"##, nil, nil, .collection([.string("a")])),
      (##"{"odata.metadata":"http://h/$metadata#Edm.String","value":"x"}"##, nil, "Edm.String", .string("x")),
    ] as [(String, String?, String?, ODataValue)])
  func property(text: String, name: String?, type: String?, value: ODataValue) throws {
    let property = try #require(try readPayload(text).property)
    #expect(property.value == value)
    #expect(property.name == name)
    #expect(property.typeName == type)
  }

  @Test("A complex property is the outermost object (§11)")
  func complexProperty() throws {
    let property = try #require(
      try readPayload(##"{"@odata.context":"#C('A')/Address","@odata.type":"#M.Address","City":"B"}"##).property)
    #expect(property.name == "Address")
    #expect(property.context == "#C('A')/Address")
    #expect(
      property.value == .complex(ODataComplexValue(typeName: "M.Address", properties: [.init("City", .string("B"))])))
  }

  @Test("References (§14)")
  func references() throws {
    let one = try readPayload(##"{"@odata.context":"$metadata#$ref","@odata.id":"C(1)","@my.t":true}"##)
    #expect(one == .reference(ODataReference(id: "C(1)", annotations: [.init(term: "my.t", value: .boolean(true))])))
    let many = try readPayload(
      ##"{"@context":"$metadata#Collection($ref)","@count":2,"value":[{"@id":"C(1)"},{"@id":"C(2)"}],"@nextLink":"n"}"##
    )
    #expect(
      many
        == .references(
          ODataReferenceCollection(
            references: [.init(id: "C(1)"), .init(id: "C(2)")], count: 2, nextLink: "n",
            context: "$metadata#Collection($ref)")))
  }

  @Test(
    "References in an array are a collection, also if the context is that of one",
    arguments: [
      ##"{"@odata.context":"$metadata#$ref","value":[{"@odata.id":"a"},{"@odata.id":"b"}],"@odata.nextLink":"n"}"##,
      ##"{"@odata.nextLink":"n","@odata.context":"$metadata#$ref","value":[{"@odata.id":"a"},{"@odata.id":"b"}]}"##,
    ])
  func referenceList(text: String) throws {
    for options in [PayloadOptions(), PayloadOptions(model: PayloadTypingTests.model)] {
      let payload = try readPayload(text, options: options)
      let expected = ODataReferenceCollection(
        references: [.init(id: "a"), .init(id: "b")], nextLink: "n", context: "$metadata#$ref")
      #expect(payload == .references(expected))
    }
  }

  @Test(
    "Information about an absent property is an annotation, not a property; about a present one it belongs to that property"
  )
  func absentProperty() throws {
    let entity = try #require(
      try readPayload(
        ##"""
        {"@odata.context":"$metadata#Things/$entity","ID":1,"Gone@N.T":2,
         "Any":{"A":1,"A@N.T":3,"Gone@odata.type":"#Int64","@N.T":4},
         "Tags":["x"],"Tags@odata.count":5,"Tags@odata.nextLink":"n",
         "Free":{"B":true,"S@odata.mediaContentType":"a/b","S@odata.mediaReadLink":"u"}}
        """##, options: PayloadOptions(model: PayloadTypingTests.model)
      ).entity)
    #expect(entity.properties.map(\.name) == ["ID", "Any", "Tags", "Free"] && entity.navigationLinks.isEmpty)
    #expect(entity.annotations.map(\.term) == ["Gone@N.T"])
    let note = { (value: ODataDecimal) in ODataAnnotation(term: "N.T", value: .untypedNumber(value)) }
    guard case .complex(let any)? = entity["Any"], case .complex(let free)? = entity["Free"] else {
      Issue.record("no complex values")
      return
    }
    #expect(any.properties == [ODataProperty("A", .untypedNumber(1), annotations: [note(3)])])
    #expect(any.annotations == [ODataAnnotation(term: "Gone@odata.type", value: .string("#Int64")), note(4)])
    #expect(
      entity.properties[2].annotations == [
        ODataAnnotation(term: "odata.count", value: .int64(5)),
        ODataAnnotation(term: "odata.nextLink", value: .string("n")),
      ])
    #expect(free.properties.map(\.name) == ["B"])
    #expect(
      free.annotations == [
        ODataAnnotation(term: "S@odata.mediaReadLink", value: .string("u")),
        ODataAnnotation(term: "S@odata.mediaContentType", value: .string("a/b")),
      ])
  }

  @Test("The service document (§5)")
  func serviceDocument() throws {
    let payload = try readPayload(
      ##"""
      {"@odata.context":"http://h/$metadata","value":[{"name":"Orders","kind":"EntitySet","url":"Orders"},
       {"name":"Details","title":"Order Details","url":"OD"},{"name":"Me","kind":"Singleton","url":"Me"},
       {"name":"Top","kind":"FunctionImport","url":"Top"},{"name":"HR","kind":"ServiceDocument","url":"http://hr"}]}
      """##)
    guard case .serviceDocument(let document) = payload else {
      Issue.record("\(payload)")
      return
    }
    #expect(document.elements.map(\.kind) == [.entitySet, .entitySet, .singleton, .functionImport, .serviceDocument])
    #expect(document.elements[1].title == "Order Details")
    #expect(document.context == "http://h/$metadata")
  }

  @Test("Bindings in a request body (§8.4)")
  func bind() throws {
    let entity = try #require(
      try readPayload(
        ##"{"ID":"1","Manager@odata.bind":"E(1)","Reports@odata.bind":["E(2)","E(3)"],"@odata.id":null}"##
      ).entity)
    #expect(entity.navigationLinks.map(\.bindings) == [["E(1)"], ["E(2)", "E(3)"]])
    #expect(entity.isTransient)
  }

  @Test("V3 light: its own spellings, the count as text")
  func v3Light() throws {
    let collection = try #require(
      try readPayload(
        ##"""
        {"odata.metadata":"http://h/$metadata#Orders","odata.count":"12","value":[{"odata.type":"M.Order",
         "odata.id":"http://h/Orders(1)","odata.editLink":"Orders(1)","odata.etag":"W/\"x\"","ID":"1",
         "Lines@odata.navigationLinkUrl":"Orders(1)/Lines","Lines@odata.associationLinkUrl":"Orders(1)/$links/Lines"}],
         "odata.nextLink":"next"}
        """##
      ).collection)
    #expect(collection.count == 12)
    #expect(collection.nextLink == "next")
    #expect(collection.entities[0].typeName == "M.Order")
    #expect(collection.entities[0].editLink == "Orders(1)")
    #expect(collection.entities[0].navigationLinks[0].associationURL == "Orders(1)/$links/Lines")
  }

  @Test("An entity may have a property 'value'; members of other services next to rows are kept")
  func ambiguous() throws {
    #expect(try readPayload(##"{"id":"a","value":"b"}"##).entity?["value"] == .string("b"))
    #expect(
      try readPayload(##"{"@odata.context":"#P/$entity","value":["b"]}"##).entity?["value"]
        == .collection([.string("b")]))
    let collection = try #require(try readPayload(##"{"value":[{"a":"b"}],"extra":"kept"}"##).collection)
    #expect(collection.annotations == [ODataAnnotation(term: "extra", value: .string("kept"))])
    #expect(try readPayload(##"[{"a":"b"}]"##).collection?.entities.count == 1)
    #expect(try readPayload(##"{"value":[]}"##).collection?.entities.isEmpty == true)
  }
}
