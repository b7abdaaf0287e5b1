internal import LarderOData

/// A shape in the subset of GML that OData uses (OData Atom Format 4.0 §7.3; [OData Spatial] V3).
struct GMLShape {
  /// `Point`, `LineString`, `Polygon`, `MultiPoint`, `MultiCurve`, `MultiSurface`, `MultiGeometry`, and rings.
  let kind: String
  /// The reference system's URI; its last step is the code.
  var reference: String?
  /// The coordinates as written, in GML's order, which for geography is latitude first.
  var positions: [[Double]] = []
  var members: [GMLShape] = []

  /// The EPSG code; nil if the shape names none.
  var srid: Int? { reference?.split(separator: "/").last.flatMap { Int($0) } }
}

/// Reads an element of GML.
final class GMLFrame: AtomFrame {
  private var shape: GMLShape
  private let deliver: (GMLShape) throws -> Void

  init(_ element: XMLElement, base: String?, deliver: @escaping (GMLShape) throws -> Void) {
    shape = GMLShape(kind: element.name.local)
    shape.reference = element.attributes.first { $0.name.local == "srsName" }?.value
    self.deliver = deliver
    super.init(element, base: base)
  }

  override func child(_ element: XMLElement, _ reading: AtomReading) -> AtomFrame {
    let dimension = element.attributes.first { $0.name.local == "srsDimension" }.flatMap { Int($0.value) } ?? 2
    switch element.name.local {
    case "pos":
      return TextAtomFrame(element, base: base) { text in
        let numbers = try GMLFrame.numbers(text)
        if !numbers.isEmpty { self.shape.positions.append(numbers) }
      }
    case "posList":
      return TextAtomFrame(element, base: base) { text in
        let numbers = try GMLFrame.numbers(text)
        guard (2...4).contains(dimension), numbers.count % dimension == 0 else {
          throw AtomValueFailure(reason: "gml:posList has \(numbers.count) numbers for \(dimension) dimensions")
        }
        for start in stride(from: 0, to: numbers.count, by: dimension) {
          self.shape.positions.append(Array(numbers[start..<start + dimension]))
        }
      }
    case "exterior", "interior", "pointMember", "pointMembers", "curveMember", "curveMembers", "surfaceMember",
      "surfaceMembers", "geometryMember", "geometryMembers":
      return BracketAtomFrame(element, base: base) { element, frame, _ in
        GMLFrame(element, base: frame.base) { self.shape.members.append($0) }
      }
    default:
      return SkippedAtomFrame(element, base: base)
    }
  }

  override func end(_ reading: AtomReading) throws { try deliver(shape) }

  private static func numbers(_ text: String) throws -> [Double] {
    try text.split(whereSeparator: \.isWhitespace).map { part in
      guard let number = Double(part) else { throw AtomValueFailure(reason: "\(part) is not a coordinate") }
      return number
    }
  }
}
