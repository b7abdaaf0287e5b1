package import LarderOData

/// Writes Atom requests for services that do not accept JSON: entries, properties, references ([MS-ODATA] §2.2.6.2;
/// OData Atom Format 4.0).
///
/// Every value that is not a string is written with its type. Without a model, that is the value's own type.
package struct AtomWriter {
  /// The version, which determines vocabulary and spelling: V1 to V3, or V4.
  package let version: ODataVersion
  private let model: EdmModel?
  private let updated: String

  /// Creates a writer for a service.
  ///
  /// - `updated`: the timestamp in `atom:updated`, which RFC 4287 requires and OData services ignore.
  package init(version: ODataVersion, model: EdmModel? = nil, updated: String = "1970-01-01T00:00:00Z") {
    self.version = version
    self.model = model
    self.updated = updated
  }

  /// Returns the body of a request that creates or changes an entity. Inline entities are created with it; bindings are
  /// written as links.
  ///
  /// - `type`: the entity's qualified type, if the entity itself does not name it.
  package func entry(_ entity: ODataEntity, type: String? = nil) throws(AtomWritingError) -> [UInt8] {
    var xml = XMLText()
    try write(entity, type: type, isRoot: true, depth: 0, &xml)
    return xml.bytes
  }

  /// Returns the body of a request that sets one property.
  package func property(_ property: ODataProperty) throws(AtomWritingError) -> [UInt8] {
    var xml = XMLText()
    try write(property, type: nil, isRoot: true, depth: 0, &xml)
    return xml.bytes
  }

  /// Returns the body of a request that links an entity: V2's `uri`, V4's `m:ref`.
  package func reference(_ url: String) throws(AtomWritingError) -> [UInt8] {
    var xml = XMLText()
    if isV4 {
      try xml.empty("m:ref", ["xmlns:m": metadata, "id": url])
    } else {
      try xml.element("uri", url, ["xmlns": data])
    }
    return xml.bytes
  }

  private static let depthBound = 100
  var isV4: Bool { version >= .v4 }
  private var data: String { isV4 ? "http://docs.oasis-open.org/odata/ns/data" : AtomNamespace.data }
  private var metadata: String { isV4 ? "http://docs.oasis-open.org/odata/ns/metadata" : AtomNamespace.metadata }
  private var scheme: String { isV4 ? "http://docs.oasis-open.org/odata/ns/scheme" : AtomNamespace.scheme }
  private var related: String { isV4 ? "http://docs.oasis-open.org/odata/ns/related/" : AtomNamespace.related }

  // MARK: Entries

  private func write(
    _ entity: ODataEntity, type: String?, isRoot: Bool, depth: Int, _ xml: inout XMLText
  ) throws(AtomWritingError) {
    guard depth < AtomWriter.depthBound else {
      throw AtomWritingError(reason: "entities are nested more than \(AtomWriter.depthBound) deep")
    }
    let type = entity.typeName ?? type
    let structure = type.flatMap { model?.structure($0) }
    try xml.begin(
      "entry",
      isRoot ? ["xmlns": AtomNamespace.atom, "xmlns:d": data, "xmlns:m": metadata, "m:etag": entity.etag] : [:])
    if let type { try xml.empty("category", ["term": isV4 ? "#" + type : type, "scheme": scheme]) }
    try xml.element("id", entity.id ?? "")
    let mapped = AtomMappedWriting(entity, structure)
    try mapped.write(updated: updated, &xml)
    for link in entity.navigationLinks { try write(link, structure, depth: depth, &xml) }
    try mapped.writeCustom(&xml)
    let isMedia = structure?.hasStream ?? (entity.media != nil)
    if isMedia {
      try xml.empty("content")
    } else {
      try xml.begin("content", ["type": "application/xml"])
    }
    try xml.begin("m:properties")
    for property in entity.properties where !mapped.isOmitted(property.name) {
      let declared = structure?.property(property.name)?.type
      try write(property, type: declared, isRoot: false, depth: depth + 1, &xml)
    }
    xml.end()
    if !isMedia { xml.end() }
    xml.end()
  }

  private func write(
    _ link: ODataNavigationLink, _ structure: EdmStructure?, depth: Int, _ xml: inout XMLText
  ) throws(AtomWritingError) {
    let navigation = structure?.navigationProperty(link.name)
    let target = navigation?.type.name
    var isCollection = navigation?.isCollection ?? (link.bindings.count > 1)
    let rel = related + link.name
    func mediaType(_ isFeed: Bool) -> String { "application/atom+xml;type=" + (isFeed ? "feed" : "entry") }
    for binding in link.bindings {
      try xml.empty("link", ["rel": rel, "type": mediaType(isCollection), "title": link.name, "href": binding])
    }
    switch link.content {
    case nil, .null?: break
    case .delta?: throw AtomWritingError(reason: "\(link.name) has inline changes; send it as JSON of V4.01")
    case .entity(let entity)?:
      isCollection = false
      try xml.begin("link", ["rel": rel, "type": mediaType(false), "title": link.name, "href": link.url])
      try xml.begin("m:inline")
      try write(entity, type: target, isRoot: false, depth: depth + 1, &xml)
      xml.end()
      xml.end()
    case .collection(let collection)?:
      try xml.begin("link", ["rel": rel, "type": mediaType(true), "title": link.name, "href": link.url])
      try xml.begin("m:inline")
      try xml.begin("feed")
      for entity in collection.entities { try write(entity, type: target, isRoot: false, depth: depth + 1, &xml) }
      xml.end()
      xml.end()
      xml.end()
    }
  }

  // MARK: Properties

  private func write(
    _ property: ODataProperty, type: EdmTypeReference?, isRoot: Bool, depth: Int, _ xml: inout XMLText
  ) throws(AtomWritingError) {
    guard XMLText.isName(property.name) else {
      throw AtomWritingError(reason: "\(property.name) cannot be the name of an element")
    }
    let name = isRoot && isV4 ? "m:value" : "d:" + property.name
    try write(property.value, as: name, type: type ?? namedType(property), isRoot: isRoot, depth: depth, &xml)
  }

  /// Returns the type that the payload named for a property and that the value itself does not show.
  private func namedType(_ property: ODataProperty) -> EdmTypeReference? {
    for annotation in property.annotations where annotation.term == "odata.type" {
      if case .string(let text) = annotation.value { return EdmTypeReference(text) }
    }
    return nil
  }

  private func write(
    _ value: ODataValue, as name: String, type: EdmTypeReference?, isRoot: Bool, depth: Int, _ xml: inout XMLText
  ) throws(AtomWritingError) {
    guard depth < AtomWriter.depthBound else {
      throw AtomWritingError(reason: "values are nested more than \(AtomWriter.depthBound) deep")
    }
    let dataNamespace = isRoot ? data : nil
    let metadataNamespace = isRoot ? metadata : nil
    switch value {
    case .null:
      try xml.empty(name, ["xmlns:d": dataNamespace, "xmlns:m": metadataNamespace, "m:null": "true"])
    case .complex(let complex):
      let typeName = complex.typeName ?? type?.name
      try xml.begin(
        name,
        ["xmlns:d": dataNamespace, "xmlns:m": metadataNamespace, "m:type": typeName.map { isV4 ? "#" + $0 : $0 }])
      let structure = typeName.flatMap { model?.structure($0) }
      for member in complex.properties {
        try write(
          member, type: structure?.property(member.name)?.type, isRoot: false, depth: depth + 1, &xml)
      }
      xml.end()
    case .collection(let items):
      let itemType = type?.item ?? items.lazy.compactMap { self.type(of: $0) }.first
      try xml.begin(
        name,
        [
          "xmlns:d": dataNamespace, "xmlns:m": metadataNamespace,
          "m:type": itemType.map { spell(.collection($0)) },
        ])
      for item in items {
        try write(item, as: isV4 ? "m:element" : "d:element", type: itemType, isRoot: false, depth: depth + 1, &xml)
      }
      xml.end()
    case .geo(let geo):
      try xml.begin(
        name,
        ["xmlns:d": dataNamespace, "xmlns:m": metadataNamespace, "m:type": spell(.primitive(geo.type))])
      try GMLWriting.write(geo, &xml)
      xml.end()
    default:
      let spelled = scalarType(value, type).map { spell($0) }
      try xml.element(
        name, try AtomWriter.text(value),
        ["xmlns:d": dataNamespace, "xmlns:m": metadataNamespace, "m:type": spelled])
    }
  }

  /// The lexical form of a value; V1 to V3 and XML write base64 with its standard alphabet.
  static func text(_ value: ODataValue) throws(AtomWritingError) -> String {
    do { return try value.text(isBase64URL: false) } catch { throw AtomWritingError(reason: "\(error)") }
  }

  /// The type to write: the declared one if there is one, else the value's own; none for strings.
  private func scalarType(_ value: ODataValue, _ declared: EdmTypeReference?) -> EdmTypeReference? {
    let type: EdmTypeReference?
    switch (declared?.item, value) {
    case (.primitive(let primitive)?, _): type = .primitive(primitive)
    case (.named(let name)?, _):
      if let definition = model?.typeDefinition(name) {
        type = .primitive(definition.underlyingType)
      } else {
        type = .named(name)
      }
    default: type = self.type(of: value)
    }
    return type == .primitive(.string) ? nil : type
  }

  private func type(of value: ODataValue) -> EdmTypeReference? {
    switch value {
    case .complex(let complex): complex.typeName.map { .named($0) }
    case .untypedNumber: .primitive(.decimal)
    // `Edm.Duration` was added in V4; before, the type of these values was `Edm.Time`.
    case .duration: .primitive(isV4 ? .duration : .time)
    default: value.type.map { .primitive($0) }
    }
  }

  /// V4 omits `Edm.` and marks other types with `#`.
  private func spell(_ type: EdmTypeReference) -> String {
    guard isV4 else { return type.description }
    switch type {
    case .collection(.primitive(let item)): return "#Collection(\(item.rawValue))"
    case .primitive(let primitive): return primitive.rawValue
    default: return "#" + type.description
    }
  }
}
