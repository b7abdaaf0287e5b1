import LarderOData
import LarderService

// Changes that are expected to take little time, judged by the request alone.
extension ODataSingleRequest {
  /// Whether it changes one entity or link, with little content and few references to others.
  var isShort: Bool {
    switch operation {
    case .create, .update, .createLink, .updateLink, .deleteLink: break
    // The number of entities that a deletion also deletes is not known in advance.
    default: return false
    }
    switch body {
    case .none, .reference: return true
    case .properties(let properties): return properties.weight <= ODataSingleRequest.fewBytes
    case .entity(let entity):
      return entity.navigationLinks.allSatisfy { $0.content == nil }
        && entity.properties.weight + entity.navigationLinks.weight <= ODataSingleRequest.fewBytes
    case .bytes(let bytes, _): return bytes.count <= ODataSingleRequest.fewBytes
    case .stream: return false
    }
  }

  fileprivate static let fewBytes = 64 << 10
}

extension [ODataNavigationLink] {
  /// A referenced entity is looked up, which takes as long as processing a kilobyte.
  fileprivate var weight: Int {
    reduce(0) { $0 + $1.name.utf8.count + $1.bindings.reduce(0) { $0 + 1024 + $1.utf8.count } }
  }
}

extension [ODataProperty] {
  /// The approximate size of the values and their names in bytes.
  fileprivate var weight: Int { reduce(0) { $0 + $1.name.utf8.count + $1.value.weight } }
}

extension ODataValue {
  fileprivate var weight: Int {
    switch self {
    case .string(let text), .enumeration(let text): text.utf8.count
    case .binary(let bytes): bytes.count
    case .collection(let items): items.reduce(0) { $0 + $1.weight }
    case .complex(let complex): complex.properties.weight
    case .geo(let geo): geo.shape.weight
    default: 16
    }
  }
}

extension ODataGeo.Shape {
  /// Positions have at most four numbers.
  fileprivate var weight: Int {
    switch self {
    case .point: 32
    case .lineString(let line): 32 * line.count
    case .multiPoint(let points): 32 * points.count
    case .polygon(let lines), .multiLineString(let lines): lines.reduce(32) { $0 + 32 + 32 * $1.count }
    case .multiPolygon(let polygons):
      polygons.reduce(32) { $0 + $1.reduce(32) { $0 + 32 + 32 * $1.count } }
    case .collection(let shapes): shapes.reduce(32) { $0 + $1.weight }
    }
  }
}
