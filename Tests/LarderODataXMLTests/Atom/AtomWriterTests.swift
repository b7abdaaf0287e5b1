import LarderOData
import LarderODataXML
import Testing

@Suite("Atom: writing", .timeLimit(.minutes(5)))
struct AtomWriterTests {
  private static func values(_ version: ODataVersion) throws -> [ODataProperty] {
    var values = [
      ODataProperty("S", .string("a<b>&\"c\"\r\n\td")), ODataProperty("N", .null), ODataProperty("I", .int32(-1)),
      ODataProperty("L", .int64(.max)), ODataProperty("D", try ODataValue(text: "1.10", type: .decimal)),
      ODataProperty("B", .binary([251, 255, 0])), ODataProperty("T", .boolean(true)),
      ODataProperty("X", .double(-.infinity)), ODataProperty("G", .guid(ODataGuid(high: 1, low: 2))),
      ODataProperty("M", try ODataValue(text: "2020-02-29T01:02:03.004+01:00", type: .dateTimeOffset)),
      ODataProperty("P", try ODataValue(text: "P1DT2H", type: .duration)),
      ODataProperty("C", .complex(ODataComplexValue(typeName: "NS.C", properties: [ODataProperty("s", .string("x"))]))),
      ODataProperty("K", .collection([.int32(1), .int32(2)])), ODataProperty("Z", .collection([.string("a")])),
      ODataProperty(
        "O",
        .geo(
          ODataGeo(
            .geography, srid: 4326, shape: .polygon([[.init(x: 1, y: 2), .init(x: 3, y: 4), .init(x: 1, y: 2)]])))),
      ODataProperty("Q", .geo(ODataGeo(.geometry, srid: 0, shape: .multiPoint([.init(x: 1, y: 2), nil])))),
    ]
    if version < .v4 {
      values.append(ODataProperty("U", try ODataValue(text: "2001-02-03T04:05:06", type: .dateTime)))
    } else {
      values.append(ODataProperty("U", try ODataValue(text: "04:05:06.7", type: .timeOfDay)))
    }
    return values
  }

  @Test("Written documents read back unchanged", arguments: [ODataVersion.v2, .v3, .v4, .v401])
  func roundTrip(_ version: ODataVersion) throws {
    var entity = ODataEntity(typeName: "NS.E", id: "http://h/s/E(1)", properties: try Self.values(version))
    entity.etag = "W/\"7\""
    var inner = ODataEntity(typeName: "NS.F", id: "http://h/s/F(1)", properties: [ODataProperty("a", .int16(1))])
    inner.navigationLinks = [
      ODataNavigationLink(name: "Deep", content: .collection(ODataEntityCollection(entities: [inner])))
    ]
    entity.navigationLinks = [
      ODataNavigationLink(name: "One", content: .entity(inner)),
      ODataNavigationLink(name: "Many", content: .collection(ODataEntityCollection(entities: [inner, inner]))),
    ]
    let bytes = try AtomWriter(version: version).entry(entity)
    #expect(try AtomText.entity(String(decoding: bytes, as: UTF8.self)) == entity)
  }

  @Test("Bindings are links; the type comes from the caller ([MS-ODATA] §2.2.6.2.9)")
  func bindings() throws {
    var entity = ODataEntity(properties: [ODataProperty("a", .string("x"))])
    var link = ODataNavigationLink(name: "Customer")
    link.bindings = ["Customers('1')"]
    entity.navigationLinks = [link]
    let text = String(decoding: try AtomWriter(version: .v2).entry(entity, type: "NS.E"), as: UTF8.self)
    #expect(
      text.contains(
        "<link rel=\"\(AtomText.related)Customer\" type=\"application/atom+xml;type=entry\" title=\"Customer\" href=\"Customers('1')\"/>"
      ))
    #expect(
      text.contains("<category term=\"NS.E\" scheme=\"http://schemas.microsoft.com/ado/2007/08/dataservices/scheme\"/>")
    )
    #expect(text.contains("<d:a>x</d:a>"))
  }

  @Test("Mapped properties are written to the elements that the model names, and read back")
  func feedMappings() throws {
    let model = try CSDLText.read(
      CSDLText.v2(
        """
        <EntityType Name="P"><Property Name="Name" Type="Edm.String" m:FC_TargetPath="SyndicationTitle"
        m:FC_KeepInContent="false"/><Property Name="Rank" Type="Edm.Int16" m:FC_TargetPath="x/rank" m:FC_NsUri="urn:x"
        m:FC_NsPrefix="q" m:FC_KeepInContent="false"/><Property Name="Time" Type="Edm.Time"/></EntityType>
        """))
    let entity = ODataEntity(
      typeName: "NS.P",
      properties: [
        ODataProperty("Time", try ODataValue(text: "PT5S", type: .duration)), ODataProperty("Name", .string("B&B")),
        ODataProperty("Rank", .int16(4)),
      ])
    let text = String(decoding: try AtomWriter(version: .v2, model: model).entry(entity), as: UTF8.self)
    #expect(text.contains("<title>B&amp;B</title>") && !text.contains("<d:Name"))
    #expect(text.contains("<q:x xmlns:q=\"urn:x\"><q:rank") && text.contains("m:type=\"Edm.Time\""))
    #expect(try AtomText.entity(text, model: model) == entity)
  }

  @Test("Single properties and references")
  func small() throws {
    for version in [ODataVersion.v2, .v4] {
      let writer = AtomWriter(version: version)
      let property = try writer.property(ODataProperty("Price", try ODataValue(text: "2.5", type: .decimal)))
      guard case .property(let read) = try AtomText.read(String(decoding: property, as: UTF8.self)) else {
        throw AtomText.Unexpected()
      }
      #expect(try read.value == ODataValue(text: "2.5", type: .decimal))
      let reference = try writer.reference("http://h/A(1)?a=1&b=2")
      #expect(
        try AtomText.read(String(decoding: reference, as: UTF8.self))
          == .reference(ODataReference(id: "http://h/A(1)?a=1&b=2")))
    }
  }

  @Test(
    "Values that XML cannot represent are rejected",
    arguments: [ODataProperty("a", .string("\u{1}")), ODataProperty("a b", .int32(1)), ODataProperty("<x", .null)])
  func rejected(_ property: ODataProperty) {
    #expect(throws: AtomWritingError.self) { try AtomWriter(version: .v3).entry(ODataEntity(properties: [property])) }
  }

  @Test("Values nested too deep are rejected")
  func deep() {
    var value = ODataValue.int32(1)
    for _ in 0..<200 { value = .complex(ODataComplexValue(properties: [ODataProperty("a", value)])) }
    #expect(throws: AtomWritingError.self) { try AtomWriter(version: .v3).property(ODataProperty("a", value)) }
  }
}
