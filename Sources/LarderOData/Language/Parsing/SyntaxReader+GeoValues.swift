// Geography and geometry values in the form of the grammar (ABNF section 7, `geographyPoint` and its neighbours).
extension SyntaxReader {
  /// The kinds of shapes.
  enum GeoShape: String, CaseIterable {
    case point = "Point"
    case lineString = "LineString"
    case polygon = "Polygon"
    case multiPoint = "MultiPoint"
    case multiLineString = "MultiLineString"
    case multiPolygon = "MultiPolygon"
    case collection = "Collection"

    /// The word before the parenthesis.
    var word: StaticString {
      switch self {
      case .point: "Point"
      case .lineString: "LineString"
      case .polygon: "Polygon"
      case .multiPoint: "MultiPoint"
      case .multiLineString: "MultiLineString"
      case .multiPolygon: "MultiPolygon"
      case .collection: "GeometryCollection"
      }
    }
  }

  /// `geography'SRID=0;Point(1 2)'`
  mutating func geoLiteral(_ shape: GeoShape, isGeography: Bool) throws(ODataSyntaxError) -> ODataValue {
    let prefix: StaticString = isGeography ? "geography" : "geometry"
    guard hasWord(prefix, at: index, anyCase: true) else { throw unexpected("\(prefix)") }
    index += prefix.utf8CodeUnitCount
    return try singleQuoted { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      try reader.fullGeoLiteral([shape], isGeography: isGeography)
    }
  }

  /// Reads `SRID=0;Point(1 2)` with one of the shapes.
  mutating func fullGeoLiteral(_ shapes: [GeoShape], isGeography: Bool) throws(ODataSyntaxError) -> ODataValue {
    let start = index
    try scanSRID()
    let shape = try scanShape(shapes)
    let name = (isGeography ? "Geography" : "Geometry") + shape.rawValue
    guard let type = EdmPrimitiveType(rawValue: name) else { throw unexpected("a shape") }
    do { return try ODataValue(text: string(start..<index), type: type) } catch {
      throw self.error(.invalidLiteral("\(error)"), at: start)
    }
  }

  /// `sridLiteral`
  mutating func scanSRID() throws(ODataSyntaxError) {
    guard hasWord("SRID", at: index, anyCase: true) else { throw unexpected("SRID") }
    index += 4
    try demand(UInt8(ascii: "="))
    let start = index
    while peek &- 0x30 < 10, !isAtEnd, index - start < 5 { index += 1 }
    guard index > start else { throw unexpected("a digit") }
    try demand(UInt8(ascii: ";"))
  }

  /// Reads `geoLiteral` with one of the shapes.
  @discardableResult
  mutating func scanShape(_ shapes: [GeoShape]) throws(ODataSyntaxError) -> GeoShape {
    for shape in shapes where hasWord(shape.word, at: index, anyCase: true) {
      index += shape.word.utf8CodeUnitCount
      switch shape {
      case .point: try scanPoint()
      case .lineString: try scanLine()
      case .polygon: try scanPolygon()
      case .multiPoint:
        try scanParts(isOptional: true) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
          try reader.scanPoint()
        }
      case .multiLineString:
        try scanParts(isOptional: true) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanLine()
        }
      case .multiPolygon:
        try scanParts(isOptional: true) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
          try reader.scanPolygon()
        }
      case .collection:
        try nested { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
          try reader.scanParts { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
            try reader.scanShape(GeoShape.allCases)
          }
        }
      }
      return shape
    }
    throw error(.unexpected(expected: shapes.map { "\($0.word)" }))
  }

  private mutating func scanParts(
    isOptional: Bool = false, _ scan: (inout SyntaxReader) throws(ODataSyntaxError) -> Void
  ) throws(ODataSyntaxError) {
    try demand(UInt8(ascii: "("))
    if isOptional, take(UInt8(ascii: ")")) { return }
    repeat { try scan(&self) } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: ")")) else { throw unexpected("','", "')'") }
  }

  /// `pointData`
  mutating func scanPoint() throws(ODataSyntaxError) {
    try demand(UInt8(ascii: "("))
    try scanPosition()
    try demand(UInt8(ascii: ")"))
  }

  /// Reads `lineStringData`: two positions or more.
  mutating func scanLine() throws(ODataSyntaxError) {
    try demand(UInt8(ascii: "("))
    try scanPosition()
    try demand(UInt8(ascii: ","))
    repeat { try scanPosition() } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: ")")) else { throw unexpected("','", "')'") }
  }

  /// `polygonData`
  mutating func scanPolygon() throws(ODataSyntaxError) {
    try scanParts { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanRing() }
  }

  /// `ringLiteral`
  mutating func scanRing() throws(ODataSyntaxError) {
    try scanParts { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.scanPosition() }
  }

  /// Reads `positionLiteral`: two to four numbers.
  mutating func scanPosition() throws(ODataSyntaxError) {
    try scanDecimal()
    guard take(0x20) else { throw unexpected("a space and a number") }
    try scanDecimal()
    for _ in 0..<2 where take(0x20) { try scanDecimal() }
  }
}
