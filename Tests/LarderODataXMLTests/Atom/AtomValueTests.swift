import LarderOData
import LarderODataXML
import Testing

@Suite("Atom: values", .timeLimit(.minutes(5)))
struct AtomValueTests {
  @Test(
    "Primitive values of V2 and V3 ([MS-ODATA] §2.2.2, §2.2.6.2.4)",
    arguments: [
      ("", "plain", ODataValue.string("plain")), ("", "", .string("")), ("", " kept ", .string(" kept ")),
      ("m:type='Edm.String'", "&lt;a&gt;", .string("<a>")), ("m:type='Edm.Int32'", " -7 ", .int32(-7)),
      ("m:type='Edm.Int64'", "9007199254740993", .int64(9_007_199_254_740_993)),
      ("m:type='Edm.Boolean'", "true", .boolean(true)), ("m:type='Edm.Boolean'", "1", .boolean(true)),
      ("m:type='Edm.Byte'", "255", .byte(255)), ("m:type='Edm.SByte'", "-128", .sbyte(-128)),
      (
        "m:type='Edm.Decimal'", "79228162514264337593543950335.5",
        .decimal(ODataDecimal("79228162514264337593543950335.5")!)
      ),
      ("m:type='Edm.Double'", "INF", .double(.infinity)), ("m:type='Edm.Single'", "1.5", .single(1.5)),
      (
        "m:type='Edm.Guid'", "21EC2020-3AEA-1069-A2DD-08002B30309D",
        .guid(ODataGuid("21ec2020-3aea-1069-a2dd-08002b30309d")!)
      ),
      ("m:type='Edm.Binary'", "AQI+/w==", .binary([1, 2, 62, 255])), ("m:type='Edm.Binary'", "", .binary([])),
      ("m:type='Edm.DateTime'", "2006-08-04T00:00:00", .dateTime(ODataDateTime("2006-08-04T00:00:00")!)),
      ("m:type='Edm.DateTime'", "2006-08-04T00:00:00Z", .dateTime(ODataDateTime("2006-08-04T00:00:00")!)),
      (
        "m:type='Edm.DateTimeOffset'", "2002-10-10T12:00:00-05:00",
        .dateTimeOffset(ODataDateTimeOffset("2002-10-10T12:00:00-05:00")!)
      ),
      ("m:type='Edm.Time'", "PT1H2M", .duration(ODataDuration("PT1H2M")!)),
      ("m:null='true'", "", .null), ("m:type='Edm.Int32' m:null='true'", "", .null), ("m:type='Edm.Int32'", "", .null),
    ])
  func primitive(_ attributes: String, _ text: String, _ expected: ODataValue) throws {
    #expect(try AtomText.entity(AtomText.entry("<d:P \(attributes)>\(text)</d:P>"))["P"] == expected)
  }

  @Test(
    "V4 names primitive types without Edm. (OData Atom Format 4.0 §7.1)",
    arguments: [
      ("Int32", "5", ODataValue.int32(5)), ("Date", "2014-04-09", .date(ODataDate("2014-04-09")!)),
      ("TimeOfDay", "01:02:03", .timeOfDay(ODataTimeOfDay("01:02:03")!)),
      ("Duration", "PT1S", .duration(ODataDuration("PT1S")!)),
      ("#NS.Color", "Red", .enumeration("Red")),
    ])
  func fourth(_ type: String, _ text: String, _ expected: ODataValue) throws {
    let entry = AtomText.entry("<d:P m:type='\(type)'>\(text)</d:P>", namespaces: AtomText.fourth)
    #expect(try AtomText.entity(entry)["P"] == expected)
  }

  @Test("A value that does not fit its type is an error with its position")
  func invalid() throws {
    let entry = AtomText.entry("<d:P m:type='Edm.Int32'>\n12x</d:P>")
    #expect {
      try ODataPayload(atom: Array(entry.utf8))
    } throws: { error in
      guard let error = error as? AtomError, case .invalidValue(let reason) = error.problem else { return false }
      return error.path == "entry/content/m:properties/d:P" && error.line == 1 && reason.contains("12x")
    }
  }

  @Test("Complex values and collections, nested ([MS-ODATA] §2.2.6.2.5; V3; V4)")
  func structured() throws {
    let entity = try AtomText.entity(
      AtomText.entry(
        """
        <d:A m:type="NS.Address"><d:City>X</d:City><d:Geo m:type="NS.Geo"><d:N m:type="Edm.Int32">1</d:N></d:Geo></d:A>
        <d:Tags m:type="Collection(Edm.String)"><d:element>a</d:element><d:element m:null="true"/></d:Tags>
        <d:Lines m:type="Collection(NS.Line)"><d:element><d:L>1</d:L></d:element><d:element m:type="NS.Long"/></d:Lines>
        <d:None m:type="Collection(Edm.Int32)"/><d:Empty m:type="NS.Address"/>
        """))
    let geo = ODataComplexValue(typeName: "NS.Geo", properties: [ODataProperty("N", .int32(1))])
    #expect(
      entity["A"]
        == .complex(
          ODataComplexValue(
            typeName: "NS.Address",
            properties: [ODataProperty("City", .string("X")), ODataProperty("Geo", .complex(geo))])))
    #expect(entity["Tags"] == .collection([.string("a"), .null]))
    #expect(
      entity["Lines"]
        == .collection([
          .complex(ODataComplexValue(properties: [ODataProperty("L", .string("1"))])),
          .complex(ODataComplexValue(typeName: "NS.Long")),
        ]))
    #expect(entity["None"] == .collection([]) && entity["Empty"] == .complex(ODataComplexValue(typeName: "NS.Address")))
  }

  @Test("The model gives types that the payload omits, and the payload's own type takes precedence")
  func typedByModel() throws {
    let model = try CSDLText.read(
      CSDLText.v4(
        """
        <EnumType Name="Color"><Member Name="Red"/></EnumType>
        <TypeDefinition Name="Weight" UnderlyingType="Edm.Decimal"/>
        <ComplexType Name="Address"><Property Name="No" Type="Edm.Int16"/></ComplexType>
        <EntityType Name="E"><Property Name="I" Type="Edm.Int32"/><Property Name="C" Type="NS.Color"/>
          <Property Name="W" Type="NS.Weight"/><Property Name="A" Type="NS.Address"/>
          <Property Name="L" Type="Collection(Edm.Int64)"/></EntityType>
        <EntityContainer Name="X"><EntitySet Name="Es" EntityType="NS.E"/></EntityContainer>
        """))
    let properties = """
      <d:I>5</d:I><d:C>Red</d:C><d:W>1.50</d:W><d:A><d:No>3</d:No></d:A><d:L><m:element>1</m:element></d:L>
      """
    let byType = try AtomText.entity(
      AtomText.entry(properties, namespaces: AtomText.fourth), model: model, type: "NS.E")
    let context = AtomText.fourth + " m:context='http://h/s/$metadata#Es/$entity'"
    let byContext = try AtomText.entity(AtomText.entry(properties, namespaces: context), model: model)
    for entity in [byType, byContext] {
      #expect(entity["I"] == .int32(5) && entity["C"] == .enumeration("Red"))
      #expect(entity["W"] == .decimal(ODataDecimal("1.50")!) && entity["L"] == .collection([.int64(1)]))
      #expect(entity["A"] == .complex(ODataComplexValue(properties: [ODataProperty("No", .int16(3))])))
    }
    let entry = AtomText.entry("<d:I m:type='Edm.String'>5</d:I>")
    #expect(try AtomText.entity(entry, model: model, type: "NS.E")["I"] == .string("5"))
  }

  @Test("GML: latitude comes first in geography, x in geometry")
  func gml() throws {
    let entity = try AtomText.entity(
      AtomText.entry(
        """
        <d:P m:type="Edm.GeographyPoint"><g:Point xmlns:g="http://www.opengis.net/gml" g:srsName="http://www.opengis.net/def/crs/EPSG/0/4326"><g:pos>51.5 178.9 7</g:pos></g:Point></d:P>
        <d:L m:type="Edm.GeometryLineString"><g:LineString xmlns:g="http://www.opengis.net/gml"><g:posList>1 2 3 4</g:posList></g:LineString></d:L>
        <d:S m:type="Edm.GeometryPolygon"><g:Polygon xmlns:g="http://www.opengis.net/gml"><g:exterior><g:LinearRing><g:pos>0 0</g:pos><g:pos>1 0</g:pos><g:pos>0 0</g:pos></g:LinearRing></g:exterior></g:Polygon></d:S>
        <d:M m:type="Edm.GeometryCollection"><g:MultiGeometry xmlns:g="http://www.opengis.net/gml"><g:geometryMembers><g:Point><g:pos>1 2</g:pos></g:Point></g:geometryMembers></g:MultiGeometry></d:M>
        """))
    typealias Position = ODataGeo.Position
    #expect(
      entity["P"] == .geo(ODataGeo(.geography, srid: 4326, shape: .point(Position(x: 178.9, y: 51.5, z: 7)))))
    #expect(
      entity["L"] == .geo(ODataGeo(.geometry, shape: .lineString([Position(x: 1, y: 2), Position(x: 3, y: 4)]))))
    let ring = [Position(x: 0, y: 0), Position(x: 1, y: 0), Position(x: 0, y: 0)]
    #expect(entity["S"] == .geo(ODataGeo(.geometry, shape: .polygon([ring]))))
    #expect(entity["M"] == .geo(ODataGeo(.geometry, shape: .collection([.point(Position(x: 1, y: 2))]))))
  }
}
