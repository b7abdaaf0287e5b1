/// A value of one of the 16 geography and geometry types: a shape, its coordinate space, and its reference system.
public struct ODataGeo: Sendable, Hashable {
  /// The kinds of coordinates.
  public enum Space: String, Sendable, Hashable {
    /// Geographic coordinates in degrees.
    case geography
    /// Planar coordinates.
    case geometry
  }

  /// A position: longitude and latitude, or x and y; optionally with height and measure.
  public struct Position: Sendable, Hashable {
    /// Longitude, or x.
    public var x: Double
    /// Latitude, or y.
    public var y: Double
    /// Height.
    public var z: Double?
    /// Measure along a line.
    public var m: Double?

    /// Creates a position.
    public init(x: Double, y: Double, z: Double? = nil, m: Double? = nil) {
      self.x = x
      self.y = y
      self.z = z
      self.m = m
    }
  }

  /// The seven shapes. A shape with an empty array is empty.
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
    /// A collection of shapes.
    case collection([Shape])
  }

  /// The kind of coordinates.
  public var space: Space
  /// The EPSG code of the spatial reference system; nil if the value has none (then the property's facet applies).
  public var srid: Int?
  /// The shape.
  public var shape: Shape

  /// The depth to which collections may nest when read.
  package static let maximumDepth = 32

  /// Creates a value.
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
  /// The coordinate space of a geo type, including the abstract ones; nil for other types.
  package var geoSpace: ODataGeo.Space? {
    if rawValue.hasPrefix("Geography") { return .geography }
    return rawValue.hasPrefix("Geometry") ? .geometry : nil
  }

  /// Whether a value belongs to this type or, if it is abstract, to one of its types.
  func accepts(_ geo: ODataGeo) -> Bool {
    self == geo.type || self == .geography && geo.space == .geography || self == .geometry && geo.space == .geometry
  }
}
