import Testing

@testable import LarderOData

@Suite("Geography and geometry", .timeLimit(.minutes(5)))
struct GeoTests {
  /// Well-known text as it is printed, its GeoJSON, and its type.
  static let shapes: [(String, String, EdmPrimitiveType)] = [
    ("SRID=4326;Point(142.1 64.1)", #"{"type":"Point","coordinates":[142.1,64.1],CRS}"#, .geographyPoint),
    ("SRID=4326;Point(1.0 2.0 3.0 4.0)", #"{"type":"Point","coordinates":[1.0,2.0,3.0,4.0],CRS}"#, .geographyPoint),
    ("SRID=4326;Point(1.0 2.0 NULL 4.0)", #"{"type":"Point","coordinates":[1.0,2.0,null,4.0],CRS}"#, .geometryPoint),
    ("SRID=4326;Point EMPTY", #"{"type":"Point","coordinates":[],CRS}"#, .geometryPoint),
    (
      "SRID=4326;LineString(142.1 64.1,3.14 2.78)",
      #"{"type":"LineString","coordinates":[[142.1,64.1],[3.14,2.78]],CRS}"#, .geographyLineString
    ),
    (
      "SRID=4326;Polygon((1.0 1.0,2.0 2.0,3.0 3.0,1.0 1.0))",
      #"{"type":"Polygon","coordinates":[[[1.0,1.0],[2.0,2.0],[3.0,3.0],[1.0,1.0]]],CRS}"#, .geometryPolygon
    ),
    ("SRID=4326;MultiPoint()", #"{"type":"MultiPoint","coordinates":[],CRS}"#, .geographyMultiPoint),
    (
      "SRID=4326;MultiPoint((142.1 64.1),(1.0 2.0))",
      #"{"type":"MultiPoint","coordinates":[[142.1,64.1],[1.0,2.0]],CRS}"#, .geometryMultiPoint
    ),
    (
      "SRID=4326;MultiLineString((1.0 2.0,3.0 4.0),(5.0 6.0,7.0 8.0))",
      #"{"type":"MultiLineString","coordinates":[[[1.0,2.0],[3.0,4.0]],[[5.0,6.0],[7.0,8.0]]],CRS}"#,
      .geographyMultiLineString
    ),
    (
      "SRID=4326;MultiPolygon(((1.0 1.0,1.0 1.0)))",
      #"{"type":"MultiPolygon","coordinates":[[[[1.0,1.0],[1.0,1.0]]]],CRS}"#, .geometryMultiPolygon
    ),
    (
      "SRID=4326;GeometryCollection(LineString(142.1 64.1,3.14 2.78),Point(1.0 2.0))",
      #"{"type":"GeometryCollection","geometries":[{"type":"LineString","coordinates":[[142.1,64.1],[3.14,2.78]]},{"type":"Point","coordinates":[1.0,2.0]}],CRS}"#,
      .geographyCollection
    ),
  ]
  static let crs = #""crs":{"type":"name","properties":{"name":"EPSG:4326"}}"#

  @Test(
    "Shapes are converted to and from text and GeoJSON (ABNF fullPointLiteral; JSON Format §7.1)", arguments: shapes)
  func inBothDirections(_ text: String, _ template: String, _ type: EdmPrimitiveType) throws {
    let space = try #require(type.geoSpace)
    let geo = try ODataGeo(wellKnownText: text, space: space)
    #expect(geo.wellKnownText == text)
    #expect(geo.type == type && geo.srid == 4326)
    let json = template.replacing("CRS", with: GeoTests.crs)
    #expect(try ODataValue.geo(geo).json(.v4(ieee754Compatible: false)) == json)
    let node = try JSONNode(Array(json.utf8))
    #expect(try ODataValue(json: node, type: type, dialect: .v4) == .geo(geo))
    let abstract: EdmPrimitiveType = space == .geography ? .geography : .geometry
    #expect(try ODataValue(json: node, type: abstract, dialect: .v4) == .geo(geo))
    let literal = try ODataValue.geo(geo).literal(dialect: .v4)
    #expect(literal == "\(space.rawValue)'\(text)'")
    #expect(try ODataValue(literal: literal, type: type, dialect: .v4) == .geo(geo))
    #expect(try ODataValue(literal: literal, dialect: .v2) == .geo(geo))
  }

  @Test(
    "Text of other tools is read",
    arguments: [
      ("POINT (1 2)", "Point(1.0 2.0)"), ("point z (1 2 3)", "Point(1.0 2.0 3.0)"),
      ("POINT M(1 2 3)", "Point(1.0 2.0 NULL 3.0)"),
      ("POINT ZM (1 2 3 4)", "Point(1.0 2.0 3.0 4.0)"), ("MULTIPOINT(1 2, 3 4)", "MultiPoint((1.0 2.0),(3.0 4.0))"),
      ("LINESTRING EMPTY", "LineString EMPTY"), ("GEOMETRYCOLLECTION EMPTY", "GeometryCollection()"),
      ("Point(-1e2 +2.5)", "Point(-100.0 2.5)"), ("MultiPoint(EMPTY,(1 2))", "MultiPoint(EMPTY,(1.0 2.0))"),
    ])
  func otherTools(_ text: String, _ printed: String) throws {
    #expect(try ODataGeo(wellKnownText: text, space: .geometry).wellKnownText == printed)
  }

  @Test(
    "Invalid shapes are rejected",
    arguments: [
      "", "SRID=;Point(1 2)", "SRID=4326Point(1 2)", "Point", "Point(", "Point(1)", "Point(1 2 3 4 5)", "Point(1 2",
      "Point(1 2),",
      "Point(a b)", "Circle(1 2)", "Point(1 2,3 4)", "LineString(1 2,)", "Polygon(1 2)", "SRID=99999999;Point(1 2)",
      "Point(0x1 2)",
    ])
  func rejects(_ text: String) {
    #expect(throws: ODataValueError.self) { try ODataGeo(wellKnownText: text, space: .geometry) }
  }

  @Test("A collection nested 100,000 deep is an error, in text and JSON")
  func nesting() {
    let text = String(repeating: "GeometryCollection(", count: 100_000)
    let error = #expect(throws: ODataValueError.self) { try ODataGeo(wellKnownText: text, space: .geometry) }
    #expect(error?.problem == .tooDeep(limit: ODataGeo.maximumDepth))
    let json =
      String(repeating: #"{"type":"GeometryCollection","geometries":["#, count: 50) + "null"
      + String(repeating: "]}", count: 50)
    #expect(throws: ODataValueError.self) {
      try ODataValue(json: JSONNode(Array(json.utf8)), type: .geometry, dialect: .v4)
    }
  }

  @Test(
    "GeoJSON of another type or form is an error with this reason",
    arguments: [
      #"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#, #"{"type":"Point"}"#, #"{"coordinates":[1,2]}"#,
      #"{"type":"Point","coordinates":[1]}"#, #"{"type":"Point","coordinates":["1",2]}"#,
      #"{"type":"Point","coordinates":[1e999,2]}"#,
      #"{"type":"Point","coordinates":[1,2],"crs":{"type":"link"}}"#, #"{"type":"Point","coordinates":{}}"#, "[1,2]",
      "5", "\"x\"",
    ])
  func wrongGeoJSON(_ json: String) throws {
    let node = try JSONNode(Array(json.utf8))
    #expect(throws: ODataValueError.self) { try ODataValue(json: node, type: .geographyPoint, dialect: .v4) }
  }
}
