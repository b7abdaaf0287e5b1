internal import LarderOData

/// Converts text in XML to a value of a type ([MS-ODATA] §2.2.2 and §2.2.6.2.4; OData Atom Format 4.0 §7.1).
enum AtomScalar {
  /// - Parameter type: the payload's or the declared type; nil is text.
  static func value(_ text: String, _ type: EdmTypeReference?, _ types: AtomTypes) throws -> ODataValue {
    switch types.shape(type) {
    case .enumeration: return .enumeration(text.trimmed)
    case .complex: throw AtomValueFailure(reason: "found text instead of a complex value")
    case .primitive(let primitive): return try value(text, primitive)
    case .unknown:
      // The type is not in the model: an enumeration or a type definition, of which only the text is known.
      return type?.name == nil ? .string(text) : .enumeration(text.trimmed)
    }
  }

  /// Strings are taken as they are. For other values, surrounding white space is ignored, and an element without text
  /// is null.
  static func value(_ text: String, _ type: EdmPrimitiveType) throws -> ODataValue {
    if type == .string || type == .stream { return .string(text) }
    var content = text.trimmed
    if content.isEmpty { return type == .binary ? .binary([]) : .null }
    switch (type, content) {
    case (.boolean, "1"): return .boolean(true)
    case (.boolean, "0"): return .boolean(false)
    // Some services write a time zone, which V2's type does not have.
    case (.dateTime, _) where content.hasSuffix("Z"): content.removeLast()
    default: break
    }
    do { return try ODataValue(text: content, type: type) } catch { throw AtomValueFailure(reason: "\(error)") }
  }

  // MARK: Geography and geometry

  static func geo(_ shape: GMLShape, _ type: EdmTypeReference?) throws -> ODataValue {
    let space = type?.primitive?.geoSpace ?? .geography
    return .geo(ODataGeo(space, srid: shape.srid, shape: try convert(shape, space)))
  }

  private static func convert(_ shape: GMLShape, _ space: ODataGeo.Space) throws -> ODataGeo.Shape {
    switch shape.kind {
    case "Point": return .point(try shape.positions.first.map { try position($0, space) })
    case "LineString", "LinearRing", "Curve": return .lineString(try line(shape, space))
    case "Polygon": return .polygon(try shape.members.map { try line($0, space) })
    case "MultiPoint":
      return .multiPoint(
        try shape.members.map { member in try member.positions.first.map { try position($0, space) } })
    case "MultiCurve", "MultiLineString": return .multiLineString(try shape.members.map { try line($0, space) })
    case "MultiSurface", "MultiPolygon":
      return .multiPolygon(
        try shape.members.map { polygon in try polygon.members.map { try line($0, space) } })
    case "MultiGeometry", "GeometryCollection":
      return .collection(try shape.members.map { try convert($0, space) })
    default: throw AtomValueFailure(reason: "gml:\(shape.kind) is not a shape of OData")
    }
  }

  private static func line(_ shape: GMLShape, _ space: ODataGeo.Space) throws -> [ODataGeo.Position] {
    try shape.positions.map { try position($0, space) }
  }

  /// GML writes the latitude first for geography.
  private static func position(_ numbers: [Double], _ space: ODataGeo.Space) throws -> ODataGeo.Position {
    guard (2...4).contains(numbers.count) else {
      throw AtomValueFailure(reason: "a position has \(numbers.count) numbers")
    }
    let isGeography = space == .geography
    return ODataGeo.Position(
      x: numbers[isGeography ? 1 : 0], y: numbers[isGeography ? 0 : 1], z: numbers.count > 2 ? numbers[2] : nil,
      m: numbers.count > 3 ? numbers[3] : nil)
  }
}
