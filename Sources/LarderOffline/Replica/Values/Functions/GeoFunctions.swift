import LarderOData
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension ReplicaSQL {
  /// Distances, lengths and intersections of shapes (URL Conventions 4.01 §5.1.1.11).
  static let geo: [SQLFunction] = [
    SQLFunction("larder_geo_distance", argumentCount: 3) { (arguments, result) throws(SQLFunctionError) in
      let space = try GeoSpace(arguments, 2)
      guard case .point(let one?)? = shape(arguments, 0, space), case .point(let other?)? = shape(arguments, 1, space)
      else { return }
      result.real(space.distance(one, other))
    },
    SQLFunction("larder_geo_length", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      let space = try GeoSpace(arguments, 1)
      guard case .lineString(let line)? = shape(arguments, 0, space) else { return }
      result.real(zip(line, line.dropFirst()).reduce(0) { $0 + space.distance($1.0, $1.1) })
    },
    SQLFunction("larder_geo_intersects", argumentCount: 3) { (arguments, result) throws(SQLFunctionError) in
      let space = try GeoSpace(arguments, 2)
      guard let one = shape(arguments, 0, space), let other = shape(arguments, 1, space) else { return }
      switch (one, other) {
      case (.point(let point?), .polygon(let rings)), (.polygon(let rings), .point(let point?)):
        result.boolean(space.contains(rings, point))
      case (.point(nil), .polygon), (.polygon, .point(nil)): result.boolean(false)
      default: break
      }
    },
  ]

  private static func shape(
    _ arguments: borrowing SQLArguments, _ index: Int, _ space: GeoSpace
  ) -> ODataGeo.Shape? {
    guard arguments.storageClass(index) == .text, let node = try? JSONNode(unsafe Array(arguments.utf8(index))),
      case .geo(let geo)? = try? ODataValue(
        json: node, type: space == .geography ? .geography : .geometry, dialect: .v4)
    else { return nil }
    return geo.shape
  }
}

/// The space that coordinates belong to, which determines how distances and intersections are computed.
enum GeoSpace: String {
  case geography, geometry

  init(_ arguments: borrowing SQLArguments, _ index: Int) throws(SQLFunctionError) {
    guard let space = GeoSpace(rawValue: arguments.text(index)) else {
      throw SQLFunctionError("a geo function on '\(arguments.text(index))': use geography or geometry")
    }
    self = space
  }

  /// The mean radius of the earth in metres (IUGG).
  private static let radius = 6_371_008.8

  /// The distance in metres along the great circle, or in the plane's own unit.
  func distance(_ one: ODataGeo.Position, _ other: ODataGeo.Position) -> Double {
    guard self == .geography else { return hypot(one.x - other.x, one.y - other.y) }
    let (latitude, otherLatitude) = (GeoSpace.radians(one.y), GeoSpace.radians(other.y))
    let rise = sin((otherLatitude - latitude) / 2)
    let turn = sin(GeoSpace.radians(other.x - one.x) / 2)
    let chord = rise * rise + cos(latitude) * cos(otherLatitude) * turn * turn
    return 2 * GeoSpace.radius * asin(min(1, chord.squareRoot()))
  }

  private static func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }

  /// Whether a point is in the outer ring and in no hole, or on the border of a ring.
  func contains(_ rings: [[ODataGeo.Position]], _ point: ODataGeo.Position) -> Bool {
    guard !rings.isEmpty else { return false }
    for (index, ring) in rings.enumerated() {
      switch place(of: point, in: ring, isHole: index > 0) {
      case .border: return true
      case .outside where index == 0: return false
      case .inside where index > 0: return false
      default: break
      }
    }
    return true
  }

  private enum Place { case inside, border, outside }

  private func place(of point: ODataGeo.Position, in ring: [ODataGeo.Position], isHole: Bool) -> Place {
    var isInside = false
    var turn = 0.0
    for (from, to) in zip(ring, ring.dropFirst() + ring.prefix(1)) {
      // The positions of both ends relative to the point's own meridian or column.
      let one = across(from.x - point.x)
      let step = self == .geography ? across(to.x - from.x) : to.x - from.x
      let other = one + step
      turn += step
      if (from.x, from.y) == (point.x, point.y) { return .border }
      if one == 0, other == 0 {
        if min(from.y, to.y) <= point.y, point.y <= max(from.y, to.y) { return .border }
        continue
      }
      guard let height = crossing(from, to: to, one: one, other: other) else { continue }
      if abs(height - point.y) <= 1e-12 * max(1, abs(point.y)) { return .border }
      // Each edge includes its lower end and excludes its upper end, so that a corner counts once.
      if (one <= 0) != (other <= 0), height > point.y { isInside.toggle() }
    }
    // The count starts at the north pole, and an outer ring that runs eastwards around it contains it; a hole runs the
    // other way.
    if self == .geography, abs(turn) > 180, (turn > 0) != isHole { isInside.toggle() }
    return isInside ? .inside : .outside
  }

  /// A difference of longitudes, by the shorter way around.
  private func across(_ degrees: Double) -> Double {
    guard self == .geography else { return degrees }
    let rest = degrees.truncatingRemainder(dividingBy: 360)
    return rest > 180 ? rest - 360 : rest <= -180 ? rest + 360 : rest
  }

  /// The height at which an edge crosses the point's meridian or column; nil if it does not reach it.
  private func crossing(
    _ from: ODataGeo.Position, to: ODataGeo.Position, one: Double, other: Double
  ) -> Double? {
    guard min(one, other) <= 0, max(one, other) >= 0, one != other else { return nil }
    guard self == .geography else { return from.y + (to.y - from.y) * (-one / (other - one)) }
    let (start, end) = (GeoSpace.radians(one), GeoSpace.radians(other))
    let rise = tan(GeoSpace.radians(from.y)) * sin(end) - tan(GeoSpace.radians(to.y)) * sin(start)
    return atan(rise / sin(end - start)) * 180 / .pi
  }
}
