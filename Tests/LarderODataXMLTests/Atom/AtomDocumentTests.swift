import Foundation
import LarderOData
import LarderODataXML
import Testing

@Suite("Atom: other documents, and broken ones", .timeLimit(.minutes(5)))
struct AtomDocumentTests {
  @Test("Service documents of V2 and V4 (RFC 5023 §8; OData Atom Format 4.0 §5)")
  func serviceDocument() throws {
    let payload = try AtomText.read(
      """
      <app:service xmlns:app="http://www.w3.org/2007/app" \(AtomText.fourth) m:context="http://h/s/$metadata"><app:workspace>
      <title>Default</title><app:collection href="Products" m:name="Ps"><title>Products</title></app:collection>
      <m:singleton href="Me" m:name="Me"><title>Me</title></m:singleton><m:function-import href="Top()" m:name="Top"/>
      </app:workspace></app:service>
      """)
    guard case .serviceDocument(let document) = payload else { throw AtomText.Unexpected() }
    #expect(document.context == "http://h/s/$metadata" && document.elements.map(\.name) == ["Ps", "Me", "Top"])
    #expect(document.elements.map(\.kind) == [.entitySet, .singleton, .functionImport])
    #expect(document.elements.map(\.url) == ["http://h/s/Products", "http://h/s/Me", "http://h/s/Top()"])
    #expect(document.elements.map(\.title) == ["Products", nil, nil])
  }

  @Test("Errors of V2, of V4, and SAP's additions ([MS-ODATA] §2.2.8.1.2; OData Atom Format 4.0 §19)")
  func errors() throws {
    let second = try AtomText.read(
      """
      <error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><code>SY/530</code>
      <message xml:lang="en">Gone</message><innererror><transactionid>ABC</transactionid><errordetails><errordetail>
      <code>C1</code><message>first</message><propertyref>Name</propertyref><severity>warning</severity></errordetail>
      </errordetails></innererror></error>
      """)
    guard case .error(let error) = second else { throw AtomText.Unexpected() }
    #expect(error.code == "SY/530" && error.message == "Gone" && error.messageLanguage == "en")
    #expect(error.transactionID == "ABC" && error.details.first?.code == "C1")
    #expect(error.details.first?.target == "Name" && error.details.first?.severity == .warning)
    let fourth = try AtomText.read(
      """
      <m:error xmlns:m="http://docs.oasis-open.org/odata/ns/metadata"><m:code>501</m:code><m:message>No</m:message>
      <m:target>query</m:target><m:details><m:detail><m:code>301</m:code><m:message>$search</m:message></m:detail>
      </m:details></m:error>
      """)
    guard case .error(let error) = fourth else { throw AtomText.Unexpected() }
    #expect(error.target == "query" && error.details == [ODataErrorPayload.Detail(code: "301", message: "$search")])
  }

  @Test("Links, references, single properties and collections of values")
  func values() throws {
    let data = "http://schemas.microsoft.com/ado/2007/08/dataservices"
    let links = try AtomText.read(
      "<links xmlns='\(data)'><uri>http://h/A(1)</uri><uri>http://h/A(2)</uri><next>n</next></links>")
    #expect(
      links
        == .references(
          ODataReferenceCollection(
            references: [ODataReference(id: "http://h/A(1)"), ODataReference(id: "http://h/A(2)")], nextLink: "n")))
    #expect(
      try AtomText.read("<uri xmlns='\(data)'>http://h/A(1)</uri>") == .reference(ODataReference(id: "http://h/A(1)")))
    #expect(
      try AtomText.read("<m:ref xmlns:m='http://docs.oasis-open.org/odata/ns/metadata' id='A(1)'/>")
        == .reference(ODataReference(id: "A(1)")))
    let references = try AtomText.read("<feed \(AtomText.fourth)><m:ref id='A(1)'/><m:ref id='A(2)'/></feed>")
    #expect(
      references
        == .references(
          ODataReferenceCollection(
            references: [ODataReference(id: "http://h/s/A(1)"), ODataReference(id: "http://h/s/A(2)")])))
    guard
      case .property(let property) = try AtomText.read(
        "<Price xmlns='\(data)' \(Self.m) m:type='Edm.Decimal'>2.50</Price>")
    else { throw AtomText.Unexpected() }
    #expect(property.name == "Price" && property.value == .decimal(ODataDecimal("2.50")!))
    guard
      case .property(let list) = try AtomText.read("<f xmlns='\(data)'><element>a</element><element>b</element></f>")
    else { throw AtomText.Unexpected() }
    #expect(list.value == .collection([.string("a"), .string("b")]))
    guard
      case .property(let fourth) = try AtomText.read(
        "<m:value \(AtomText.fourth) m:type='#Collection(Int32)' m:context='http://h/s/$metadata#Collection(Edm.Int32)'><m:element>4</m:element></m:value>"
      )
    else { throw AtomText.Unexpected() }
    #expect(fourth.value == .collection([.int32(4)]) && fourth.typeName == "Collection(Edm.Int32)")
    guard case .property(let null) = try AtomText.read("<P xmlns='\(data)' \(Self.m) m:null='true'/>") else {
      throw AtomText.Unexpected()
    }
    #expect(null.value == .null && null.name == "P")
  }

  @Test(
    "An annotation in a property document belongs to the property, whatever its value is",
    arguments: [
      ("<m:value \(AtomText.fourth) m:type='Int32'>4\(note)</m:value>", ODataValue.int32(4)),
      ("<m:value \(AtomText.fourth) m:null='true'>\(note)</m:value>", .null),
      (
        "<m:value \(AtomText.fourth) m:type='#Collection(Int32)'>\(note)<m:element>4</m:element></m:value>",
        .collection([.int32(4)])
      ),
      ("<d:Price \(AtomText.second)>x\(note)</d:Price>", .string("x")),
    ])
  func annotatedProperty(_ text: String, _ value: ODataValue) throws {
    guard case .property(let property) = try AtomText.read(text) else { throw AtomText.Unexpected() }
    #expect(property.value == value)
    #expect(property.annotations == [ODataAnnotation(term: "N.T", value: .string("n"))])
  }

  private static let note = "<m:annotation term='N.T' string='n'/>"

  private static let m = "xmlns:m='http://schemas.microsoft.com/ado/2007/08/dataservices/metadata'"

  @Test(
    "Other documents are rejected and named",
    arguments: [
      ("", AtomError.Problem.empty), ("<html/>", .notOData(root: "html")),
      ("<x:y xmlns:x='urn:x'/>", .notOData(root: "x:y")),
      ("<!DOCTYPE feed [<!ENTITY a 'b'>]><feed/>", .documentTypeRejected),
      ("<!DOCTYPE html><html/>", .documentTypeRejected),
      ("<feed xmlns='http://www.w3.org/2005/Atom'><entry>", .truncated),
    ])
  func rejected(_ text: String, _ problem: AtomError.Problem) {
    #expect {
      try ODataPayload(atom: Array(text.utf8))
    } throws: { error in
      (error as? AtomError)?.problem == problem && (error as? AtomError)?.description.isEmpty == false
    }
  }

  @Test("100,000 nested elements give a typed error")
  func deep() {
    for piece in ["<d:a>", "<x>"] {
      let text = "<entry \(AtomText.second)><content><m:properties>" + String(repeating: piece, count: 100_000)
      #expect { try ODataPayload(atom: Array(text.utf8)) } throws: {
        ($0 as? AtomError)?.problem == .tooDeep(limit: 128)
      }
    }
  }

  private static let small = """
    <feed \(AtomText.second)><entry><id>a</id><content type="application/xml"><m:properties><d:A m:type="Edm.Int32">1</d:A>
    <d:B><d:C>x</d:C></d:B></m:properties></content></entry></feed>
    """

  @Test(
    "A document truncated at any byte is an error, and random changes never crash the reader",
    arguments: [21, 22] as [UInt64])
  func broken(_ seed: UInt64) {
    print("seed \(seed)")
    let bytes = Array(Self.small.utf8)
    for end in bytes.indices { #expect(throws: AtomError.self) { try ODataPayload(atom: Array(bytes[..<end])) } }
    var generator = SplitMix(state: seed)
    for _ in 0..<1000 {
      var changed = bytes
      for _ in 0..<4 {
        changed[Int.random(in: 0..<changed.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      do { _ = try ODataPayload(atom: changed) } catch { #expect(error.line >= 0 && !error.description.isEmpty) }
    }
  }

  @Test("An error that the handler throws ends the reading and is rethrown unchanged")
  func handlerError() {
    final class Rejecting: AtomTestHandler {
      override func endEntity() throws { throw AtomText.Unexpected() }
    }
    let reader = AtomPayloadReader(handler: Rejecting())
    #expect(throws: AtomText.Unexpected.self) { try reader.read(Array(Self.small.utf8)) }
  }

  @Test("A feed of 20,000 entries is reported row by row")
  func large() throws {
    final class Counting: AtomTestHandler {
      var rows = 0
      override func endEntity() { rows += 1 }
    }
    let handler = Counting()
    let reader = AtomPayloadReader(handler: handler)
    try reader.read(Array("<feed \(AtomText.second)>".utf8))
    let entry = Array(
      "<entry><content type='application/xml'><m:properties><d:A>some text</d:A></m:properties></content></entry>".utf8)
    for number in 1...20_000 {
      try reader.read(entry)
      if number == 10_000 { #expect(handler.rows == 10_000) }
    }
    try reader.read(Array("</feed>".utf8))
    try reader.finish()
    #expect(handler.rows == 20_000)
  }

  private static let payloads = Samples.metadata.deletingLastPathComponent().appending(path: "payloads")

  @Test(
    "Recorded documents of real services are read, as values and as events",
    arguments: Samples.files(in: ["atom", "atom/northwind-odata4j"], of: payloads).filter { $0.pathExtension == "xml" })
  func sample(_ file: URL) throws {
    let bytes = try Samples.bytes(file)
    let payload = try ODataPayload(atom: bytes)
    let entities = try #require(payload.entities)
    print(file.lastPathComponent, entities.count, entities.first?.properties.count ?? 0)
    #expect(!entities.isEmpty && entities.allSatisfy { !$0.properties.isEmpty && $0.typeName != nil })
    #expect(try AtomText.payloadFromEvents(bytes, chunk: 997) == payload)
  }

  @Test(
    "Recorded responses with an XML body are read",
    arguments: Samples.files(in: ["http-recorded/Atom_Data"], of: payloads))
  func recorded(_ file: URL) throws {
    let text = try String(contentsOf: file, encoding: .utf8)
    let start = try #require(text.range(of: "<?xml"))
    let payload = try AtomText.read(String(text[start.lowerBound...]))
    switch payload {
    case .error(let error): #expect(!error.message.isEmpty && error.innerError != nil)
    case .property(let property):
      guard case .collection(let items) = property.value else { throw AtomText.Unexpected() }
      #expect(items.count == 2)
    default: throw AtomText.Unexpected()
    }
  }
}

/// A handler that takes everything and keeps nothing.
class AtomTestHandler: PayloadHandler {
  func beginPayload(_ kind: PayloadKind) throws {}
  func endPayload() throws {}
  func beginEntity(_ name: PayloadName?, role: PayloadEntityRole, typeName: String?) throws {}
  func endEntity() throws {}
  func nullEntity(_ name: PayloadName) throws {}
  func beginCollection(_ name: PayloadName, isDelta: Bool) throws {}
  func endCollection() throws {}
  func beginComplex(_ name: PayloadName?) throws {}
  func endComplex() throws {}
  func beginValues(_ name: PayloadName?) throws {}
  func endValues() throws {}
  func property(_ name: PayloadName, _ scalar: PayloadScalar) throws {}
  func element(_ scalar: PayloadScalar) throws {}
  func value(_ name: PayloadName?, _ value: ODataValue) throws {}
  func control(_ information: ControlInformation, on name: PayloadName?, _ scalar: PayloadScalar) throws {}
  func annotation(_ annotation: ODataAnnotation, on name: PayloadName?) throws {}
  func operation(_ operation: ODataOperation) throws {}
  func reference(_ reference: ODataReference) throws {}
  func link(_ link: ODataDeltaLink, isDeleted: Bool) throws {}
  func serviceElement(_ element: ODataServiceDocument.Element) throws {}
  func error(_ error: ODataErrorPayload) throws {}
}
