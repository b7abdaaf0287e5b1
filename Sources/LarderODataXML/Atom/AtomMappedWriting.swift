internal import LarderOData

/// Writes the properties of an entity that the model maps to the entry itself ([MS-ODATA] §2.2.3.7.2.1).
struct AtomMappedWriting {
  private var syndication: [String: String] = [:]
  private var custom: [(mapping: EdmFeedMapping, text: String)] = []
  private var omitted: Set<String> = []

  init(_ entity: ODataEntity, _ structure: EdmStructure?) {
    for mapping in structure?.feedMappings ?? [] {
      let steps = mapping.sourcePath.split(separator: "/").map(String.init)
      guard let text = AtomMappedWriting.text(steps[...], in: entity.properties) else { continue }
      if mapping.targetPath.hasPrefix("Syndication") {
        syndication[mapping.targetPath] = text
      } else {
        guard !mapping.targetPath.contains("@") else { continue }
        custom.append((mapping, text))
      }
      if !mapping.keepsInContent, steps.count == 1, let name = steps.first { omitted.insert(name) }
    }
  }

  /// True for a property that the content must not repeat.
  func isOmitted(_ property: String) -> Bool { omitted.contains(property) }

  /// Writes the elements of RFC 4287; `title`, `updated` and `author` are required there.
  func write(updated: String, _ xml: inout XMLText) throws(AtomWritingError) {
    try xml.element("title", syndication["SyndicationTitle"] ?? "")
    if let summary = syndication["SyndicationSummary"] { try xml.element("summary", summary) }
    if let rights = syndication["SyndicationRights"] { try xml.element("rights", rights) }
    if let published = syndication["SyndicationPublished"] { try xml.element("published", published) }
    try xml.element("updated", syndication["SyndicationUpdated"] ?? updated)
    try person("author", "SyndicationAuthor", isRequired: true, &xml)
    try person("contributor", "SyndicationContributor", isRequired: false, &xml)
  }

  private func person(
    _ element: String, _ prefix: String, isRequired: Bool, _ xml: inout XMLText
  ) throws(AtomWritingError) {
    let name = syndication[prefix + "Name"]
    let email = syndication[prefix + "Email"]
    let uri = syndication[prefix + "Uri"]
    guard isRequired || name != nil || email != nil || uri != nil else { return }
    try xml.begin(element)
    try xml.element("name", name ?? "")
    if let uri { try xml.element("uri", uri) }
    if let email { try xml.element("email", email) }
    xml.end()
  }

  /// Writes elements in the service's own namespaces.
  func writeCustom(_ xml: inout XMLText) throws(AtomWritingError) {
    for (mapping, text) in custom {
      let steps = mapping.targetPath.split(separator: "/").map(String.init)
      guard let last = steps.last, steps.allSatisfy(XMLText.isName) else {
        throw AtomWritingError(reason: "\(mapping.targetPath) is not a path of elements")
      }
      let prefix = mapping.namespacePrefix.flatMap { XMLText.isName($0) ? $0 : nil } ?? "fc"
      for step in steps.dropLast() { try xml.begin("\(prefix):\(step)", ["xmlns:\(prefix)": mapping.namespaceURI]) }
      try xml.element("\(prefix):\(last)", text, ["xmlns:\(prefix)": mapping.namespaceURI])
      for _ in steps.dropLast() { xml.end() }
    }
  }

  private static func text(_ path: ArraySlice<String>, in properties: [ODataProperty]) -> String? {
    guard let step = path.first, let value = properties.first(where: { $0.name == step })?.value else { return nil }
    if path.count == 1 { return try? AtomWriter.text(value) }
    guard case .complex(let complex) = value else { return nil }
    return text(path.dropFirst(), in: complex.properties)
  }
}

/// Writes geography and geometry as GML.
enum GMLWriting {
  private static let namespace = "http://www.opengis.net/gml"

  static func write(_ geo: ODataGeo, _ xml: inout XMLText) throws(AtomWritingError) {
    let srid = geo.srid ?? (geo.space == .geography ? 4326 : 0)
    try write(geo.shape, geo.space, reference: "http://www.opengis.net/def/crs/EPSG/0/\(srid)", depth: 0, &xml)
  }

  private static func write(
    _ shape: ODataGeo.Shape, _ space: ODataGeo.Space, reference: String?, depth: Int, _ xml: inout XMLText
  ) throws(AtomWritingError) {
    guard depth < ODataGeo.maximumDepth else {
      throw AtomWritingError(reason: "shapes are nested more than \(ODataGeo.maximumDepth) deep")
    }
    func begin(_ name: String, _ xml: inout XMLText) throws(AtomWritingError) {
      try xml.begin(
        "gml:" + name, ["xmlns:gml": reference == nil ? nil : namespace, "gml:srsName": reference])
    }
    switch shape {
    case .point(let position):
      try begin("Point", &xml)
      if let position { try xml.element("gml:pos", text(position, space)) }
    case .lineString(let line):
      try begin("LineString", &xml)
      try positions(line, space, &xml)
    case .polygon(let rings):
      try begin("Polygon", &xml)
      for (number, ring) in rings.enumerated() {
        try xml.begin(number == 0 ? "gml:exterior" : "gml:interior")
        try xml.begin("gml:LinearRing")
        try positions(ring, space, &xml)
        xml.end()
        xml.end()
      }
    case .multiPoint(let points):
      try begin("MultiPoint", &xml)
      try members("gml:pointMembers", shapes: points.map { .point($0) }, space: space, depth: depth, &xml)
    case .multiLineString(let lines):
      try begin("MultiCurve", &xml)
      try members("gml:curveMembers", shapes: lines.map { .lineString($0) }, space: space, depth: depth, &xml)
    case .multiPolygon(let polygons):
      try begin("MultiSurface", &xml)
      try members("gml:surfaceMembers", shapes: polygons.map { .polygon($0) }, space: space, depth: depth, &xml)
    case .collection(let shapes):
      try begin("MultiGeometry", &xml)
      try members("gml:geometryMembers", shapes: shapes, space: space, depth: depth, &xml)
    }
    xml.end()
  }

  private static func members(
    _ name: String, shapes: [ODataGeo.Shape], space: ODataGeo.Space, depth: Int, _ xml: inout XMLText
  ) throws(AtomWritingError) {
    guard !shapes.isEmpty else { return }
    try xml.begin(name)
    for shape in shapes { try write(shape, space, reference: nil, depth: depth + 1, &xml) }
    xml.end()
  }

  private static func positions(
    _ line: [ODataGeo.Position], _ space: ODataGeo.Space, _ xml: inout XMLText
  ) throws(AtomWritingError) {
    for position in line { try xml.element("gml:pos", text(position, space)) }
  }

  private static func text(_ position: ODataGeo.Position, _ space: ODataGeo.Space) -> String {
    var numbers = space == .geography ? [position.y, position.x] : [position.x, position.y]
    if let z = position.z {
      numbers.append(z)
      if let m = position.m { numbers.append(m) }
    }
    return numbers.map(\.description).joined(separator: " ")
  }
}
