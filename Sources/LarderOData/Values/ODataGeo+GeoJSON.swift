// GeoJSON (RFC 7946, and the 2008 form with `crs`, which OData JSON Format §7.1 uses).
extension ODataGeo {
  /// Reads a GeoJSON object; its members may be in any order.
  package init(geoJSON node: JSONNode, type: EdmPrimitiveType) throws(ODataValueError.Problem) {
    guard let space = type.geoSpace else { throw .wrongKind("a GeoJSON object") }
    self.init(space, srid: try ODataGeo.srid(node), shape: try ODataGeo.shape(node, depth: 0))
    guard type.accepts(self) else { throw .wrongKind("the GeoJSON of \(self.type.qualifiedName)") }
  }

  private static func srid(_ node: JSONNode) throws(ODataValueError.Problem) -> Int? {
    guard let crs = node["crs"], crs != .null else { return nil }
    // `EPSG:4326`, and the URN form urn:ogc:def:crs:EPSG::4326.
    guard let name = crs["properties"]?["name"]?.string, let last = name.split(separator: ":").last,
      let number = Int(last), (0...999_999).contains(number)
    else {
      if crs["properties"]?["name"]?.string?.hasSuffix("CRS84") == true { return 4326 }
      throw .notSupported("a crs other than a name such as EPSG:4326")
    }
    return number
  }

  private static func shape(_ node: JSONNode, depth: Int) throws(ODataValueError.Problem) -> Shape {
    guard depth < maximumDepth else { throw .tooDeep(limit: maximumDepth) }
    guard let kind = node["type"]?.string else { throw .malformed }
    if kind == "GeometryCollection" {
      guard let members = node["geometries"]?.items else { throw .malformed }
      var shapes: [Shape] = []
      for member in members { shapes.append(try shape(member, depth: depth + 1)) }
      return .collection(shapes)
    }
    guard let coordinates = node["coordinates"] else { throw .malformed }
    switch kind {
    case "Point": return .point(coordinates.items?.isEmpty == true ? nil : try position(coordinates))
    case "LineString": return .lineString(try list(coordinates, position))
    case "Polygon": return .polygon(try list(coordinates, line))
    case "MultiPoint":
      return .multiPoint(
        try list(coordinates) { item throws(ODataValueError.Problem) in
          item.items?.isEmpty == true ? nil : try position(item)
        })
    case "MultiLineString": return .multiLineString(try list(coordinates, line))
    case "MultiPolygon":
      return .multiPolygon(
        try list(coordinates) { item throws(ODataValueError.Problem) in try list(item, line) })
    default: throw .malformed
    }
  }

  private static func list<Element>(
    _ node: JSONNode, _ read: (JSONNode) throws(ODataValueError.Problem) -> Element
  ) throws(ODataValueError.Problem) -> [Element] {
    guard let items = node.items else { throw .malformed }
    var elements: [Element] = []
    elements.reserveCapacity(items.count)
    for item in items { elements.append(try read(item)) }
    return elements
  }

  private static func line(_ node: JSONNode) throws(ODataValueError.Problem) -> [Position] {
    try list(node, position)
  }

  private static func position(_ node: JSONNode) throws(ODataValueError.Problem) -> Position {
    guard let items = node.items, (2...4).contains(items.count), let x = try number(items[0]),
      let y = try number(items[1])
    else { throw .malformed }
    return Position(
      x: x, y: y, z: items.count > 2 ? try number(items[2]) : nil, m: items.count > 3 ? try number(items[3]) : nil)
  }

  /// Reads a coordinate; nil for null, which represents a missing height before a measure.
  private static func number(_ node: JSONNode) throws(ODataValueError.Problem) -> Double? {
    switch node {
    case .null: return nil
    case .number(let text):
      guard let value = Double(text), value.isFinite else { throw .outOfRange }
      return value
    default: throw .malformed
    }
  }

  /// The GeoJSON object, with `crs` if the reference system is known.
  package func geoJSON() throws(ODataValueError) -> JSONNode {
    var members = try ODataGeo.members(shape, type: type, depth: 0)
    if let srid {
      let name = JSONNode.object([.init("name", .string("EPSG:\(srid)"))])
      members.append(.init("crs", .object([.init("type", .string("name")), .init("properties", name)])))
    }
    return .object(members)
  }

  private static func members(
    _ shape: Shape, type: EdmPrimitiveType, depth: Int
  ) throws(ODataValueError) -> [JSONNode.Member] {
    guard depth < maximumDepth else { throw ODataValueError(.tooDeep(limit: maximumDepth), type: type, text: "") }
    var kind = shape.name
    let content: JSONNode
    switch shape {
    case .point(let point): content = try point.map { p throws(ODataValueError) in try json(p, type) } ?? .array([])
    case .lineString(let line): content = try json(line, type)
    case .polygon(let lines), .multiLineString(let lines): content = try json(lines, type)
    case .multiPoint(let points):
      var items: [JSONNode] = []
      for point in points {
        items.append(try point.map { p throws(ODataValueError) in try json(p, type) } ?? .array([]))
      }
      content = .array(items)
    case .multiPolygon(let polygons):
      var items: [JSONNode] = []
      for polygon in polygons { items.append(try json(polygon, type)) }
      content = .array(items)
    case .collection(let shapes):
      kind = "GeometryCollection"
      var items: [JSONNode] = []
      for shape in shapes { items.append(.object(try members(shape, type: type, depth: depth + 1))) }
      return [.init("type", .string(kind)), .init("geometries", .array(items))]
    }
    return [.init("type", .string(kind)), .init("coordinates", content)]
  }

  private static func json(_ lines: [[Position]], _ type: EdmPrimitiveType) throws(ODataValueError) -> JSONNode {
    var items: [JSONNode] = []
    for line in lines { items.append(try json(line, type)) }
    return .array(items)
  }

  private static func json(_ line: [Position], _ type: EdmPrimitiveType) throws(ODataValueError) -> JSONNode {
    var items: [JSONNode] = []
    for position in line { items.append(try json(position, type)) }
    return .array(items)
  }

  private static func json(_ position: Position, _ type: EdmPrimitiveType) throws(ODataValueError) -> JSONNode {
    var numbers: [Double?] = [position.x, position.y]
    if position.z != nil || position.m != nil { numbers.append(position.z) }
    if let measure = position.m { numbers.append(measure) }
    var items: [JSONNode] = []
    for number in numbers {
      guard number?.isFinite != false else {
        throw ODataValueError(
          .notSupported("a coordinate that is not a number cannot be written as JSON"), type: type, text: "")
      }
      items.append(number.map { .number($0.description) } ?? .null)
    }
    return .array(items)
  }
}

extension ODataGeo.Shape {
  /// The shape's name in GeoJSON and in literals.
  var name: String {
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
