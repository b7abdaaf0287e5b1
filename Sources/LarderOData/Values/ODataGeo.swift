/// A value of one of the 16 geography and geometry types: a shape, the space it lies in, and its reference system.
public struct ODataGeo: Sendable, Hashable {
  /// What the coordinates measure.
  public enum Space: String, Sendable, Hashable {
    /// Degrees on the round earth.
    case geography
    /// Lengths on a plane.
    case geometry
  }

  /// A position: longitude and latitude, or x and y; with height and measure where given.
  public struct Position: Sendable, Hashable {
    /// Longitude, or x.
    public var x: Double
    /// Latitude, or y.
    public var y: Double
    /// Height.
    public var z: Double?
    /// Measure along a line.
    public var m: Double?

    /// Joins coordinates.
    public init(x: Double, y: Double, z: Double? = nil, m: Double? = nil) {
      self.x = x
      self.y = y
      self.z = z
      self.m = m
    }
  }

  /// The seven shapes. An array without elements is the empty shape of its kind.
  public indirect enum Shape: Sendable, Hashable {
    /// One position; nil for the empty point.
    case point(Position?)
    /// Positions joined by a line.
    case lineString([Position])
    /// Rings: the outer one, then holes; the first and last position of a ring are equal.
    case polygon([[Position]])
    /// Several points.
    case multiPoint([Position?])
    /// Several lines.
    case multiLineString([[Position]])
    /// Several polygons.
    case multiPolygon([[[Position]]])
    /// A mixture.
    case collection([Shape])
  }

  /// What the coordinates measure.
  public var space: Space
  /// The spatial reference system by its EPSG number; nil where the value does not say (the property's facet does).
  public var srid: Int?
  /// The shape.
  public var shape: Shape

  /// How deep collections may nest in what is read.
  public static let maximumDepth = 32

  /// Joins space, reference system and shape.
  public init(_ space: Space, srid: Int? = nil, shape: Shape) {
    self.space = space
    self.srid = srid
    self.shape = shape
  }

  /// The value's own type, never one of the two abstract ones.
  public var type: EdmPrimitiveType {
    let isGeography = space == .geography
    return switch shape {
    case .point: isGeography ? .geographyPoint : .geometryPoint
    case .lineString: isGeography ? .geographyLineString : .geometryLineString
    case .polygon: isGeography ? .geographyPolygon : .geometryPolygon
    case .multiPoint: isGeography ? .geographyMultiPoint : .geometryMultiPoint
    case .multiLineString: isGeography ? .geographyMultiLineString : .geometryMultiLineString
    case .multiPolygon: isGeography ? .geographyMultiPolygon : .geometryMultiPolygon
    case .collection: isGeography ? .geographyCollection : .geometryCollection
    }
  }
}

extension EdmPrimitiveType {
  /// The space of a geo type, abstract ones included; nil for the others.
  public var geoSpace: ODataGeo.Space? {
    if rawValue.hasPrefix("Geography") { return .geography }
    return rawValue.hasPrefix("Geometry") ? .geometry : nil
  }

  /// True for the type itself and where this is the abstract type above it.
  func accepts(_ geo: ODataGeo) -> Bool {
    self == geo.type || self == .geography && geo.space == .geography || self == .geometry && geo.space == .geometry
  }
}
