/// The primitive types of all versions, by their name without `Edm.` (CSDL 4.01 §3.3; V2 CSDL; V3 spatial).
public enum EdmPrimitiveType: String, Sendable, CaseIterable, Hashable {
  /// Bytes.
  case binary = "Binary"
  /// True or false.
  case boolean = "Boolean"
  /// Unsigned 8 bits.
  case byte = "Byte"
  /// A date without a time zone (V4).
  case date = "Date"
  /// A timestamp without a time zone (V1 to V3).
  case dateTime = "DateTime"
  /// A timestamp with an offset.
  case dateTimeOffset = "DateTimeOffset"
  /// A decimal number, exact.
  case decimal = "Decimal"
  /// IEEE 754 binary64.
  case double = "Double"
  /// A signed duration, from days to fractions of a second (V4).
  case duration = "Duration"
  /// 128 bits.
  case guid = "Guid"
  /// Signed 16 bits.
  case int16 = "Int16"
  /// Signed 32 bits.
  case int32 = "Int32"
  /// Signed 64 bits.
  case int64 = "Int64"
  /// Signed 8 bits.
  case sbyte = "SByte"
  /// IEEE 754 binary32.
  case single = "Single"
  /// A stream, represented by its URL (V3, V4).
  case stream = "Stream"
  /// UTF-8 text.
  case string = "String"
  /// A time of day, written as a duration (V1 to V3).
  case time = "Time"
  /// A time of day (V4).
  case timeOfDay = "TimeOfDay"
  /// Abstract: any geography value.
  case geography = "Geography"
  /// A point in geographic coordinates.
  case geographyPoint = "GeographyPoint"
  /// A line in geographic coordinates.
  case geographyLineString = "GeographyLineString"
  /// A polygon in geographic coordinates.
  case geographyPolygon = "GeographyPolygon"
  /// Points in geographic coordinates.
  case geographyMultiPoint = "GeographyMultiPoint"
  /// Lines in geographic coordinates.
  case geographyMultiLineString = "GeographyMultiLineString"
  /// Polygons in geographic coordinates.
  case geographyMultiPolygon = "GeographyMultiPolygon"
  /// A collection of shapes in geographic coordinates.
  case geographyCollection = "GeographyCollection"
  /// Abstract: any geometry value.
  case geometry = "Geometry"
  /// A point on a plane.
  case geometryPoint = "GeometryPoint"
  /// A line on a plane.
  case geometryLineString = "GeometryLineString"
  /// A polygon on a plane.
  case geometryPolygon = "GeometryPolygon"
  /// Points on a plane.
  case geometryMultiPoint = "GeometryMultiPoint"
  /// Lines on a plane.
  case geometryMultiLineString = "GeometryMultiLineString"
  /// Polygons on a plane.
  case geometryMultiPolygon = "GeometryMultiPolygon"
  /// A collection of shapes on a plane.
  case geometryCollection = "GeometryCollection"

  /// The name with its namespace, `Edm.Int32`.
  public var qualifiedName: String { "Edm." + rawValue }

  /// Parses `Edm.Int32`; nil for other names.
  public init?(qualifiedName: String) {
    guard qualifiedName.hasPrefix("Edm."), let type = EdmPrimitiveType(rawValue: String(qualifiedName.dropFirst(4)))
    else { return nil }
    self = type
  }
}
