/// A decoder that knows the declared type of its value.
package protocol ODataTypedDecoder: Decoder {
  /// The declared primitive type; nil for other types, and if there is none.
  var primitiveType: EdmPrimitiveType? { get }
}

extension ODataGeo: Codable {
  /// Decodes GeoJSON: as a geometry value if it is declared or annotated as one, else as a geography value.
  public init(from decoder: any Decoder) throws {
    let node = try decoder.geoNode(depth: 0)
    let isAnnotated = node[Self.annotation]?.string?.hasPrefix("#Geometry") == true
    let declared = (decoder as? any ODataTypedDecoder)?.primitiveType?.geoSpace
    let space = declared ?? (isAnnotated ? .geometry : .geography)
    do throws(ODataValueError.Problem) {
      try self.init(geoJSON: node, type: space == .geometry ? .geometry : .geography)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "The object is not GeoJSON of a \(space) value"))
    }
  }

  /// Encodes the value as GeoJSON, with a type annotation if it is a geometry value.
  public func encode(to encoder: any Encoder) throws {
    var node = try geoJSON()
    if space == .geometry, case .object(let members) = node {
      node = .object([.init(Self.annotation, .string("#" + type.rawValue))] + members)
    }
    try EncodedNode(node: node).encode(to: encoder)
  }

  private static let annotation = "@odata.type"
}

/// A name of an object's member.
private struct GeoMemberKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension Decoder {
  /// Any JSON without booleans, which GeoJSON does not have.
  fileprivate func geoNode(depth: Int) throws -> JSONNode {
    guard depth <= JSONNode.maximumDepth else {
      throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "The value is nested too deep"))
    }
    if let object = try? container(keyedBy: GeoMemberKey.self) {
      return .object(
        try object.allKeys.map { key in
          .init(key.stringValue, try object.superDecoder(forKey: key).geoNode(depth: depth + 1))
        })
    }
    if var array = try? unkeyedContainer() {
      var items: [JSONNode] = []
      while !array.isAtEnd { items.append(try array.superDecoder().geoNode(depth: depth + 1)) }
      return .array(items)
    }
    let value = try singleValueContainer()
    if value.decodeNil() { return .null }
    if let text = try? value.decode(String.self) { return .string(text) }
    return .number(String(try value.decode(Double.self)))
  }
}

private struct EncodedNode: Encodable {
  let node: JSONNode

  func encode(to encoder: any Encoder) throws {
    switch node {
    case .object(let members):
      var container = encoder.container(keyedBy: GeoMemberKey.self)
      for member in members {
        try container.encode(EncodedNode(node: member.value), forKey: GeoMemberKey(stringValue: member.name))
      }
    case .array(let items):
      var container = encoder.unkeyedContainer()
      for item in items { try container.encode(EncodedNode(node: item)) }
    default:
      var container = encoder.singleValueContainer()
      switch node {
      case .boolean(let flag): try container.encode(flag)
      case .string(let text): try container.encode(text)
      case .number(let digits): try container.encode(Double(digits))
      default: try container.encodeNil()
      }
    }
  }
}
