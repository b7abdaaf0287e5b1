/// A value of any Edm type, as payloads and literals carry it. Equal means the same value of the same type.
public enum ODataValue: Sendable, Hashable {
  /// No value.
  case null
  /// `Edm.Boolean`.
  case boolean(Bool)
  /// `Edm.Byte`.
  case byte(UInt8)
  /// `Edm.SByte`.
  case sbyte(Int8)
  /// `Edm.Int16`.
  case int16(Int16)
  /// `Edm.Int32`.
  case int32(Int32)
  /// `Edm.Int64`.
  case int64(Int64)
  /// `Edm.Single`.
  case single(Float)
  /// `Edm.Double`.
  case double(Double)
  /// `Edm.Decimal`.
  case decimal(ODataDecimal)
  /// `Edm.String`.
  case string(String)
  /// `Edm.Guid`.
  case guid(ODataGuid)
  /// `Edm.Binary`.
  case binary([UInt8])
  /// `Edm.Date`.
  case date(ODataDate)
  /// `Edm.TimeOfDay`.
  case timeOfDay(ODataTimeOfDay)
  /// `Edm.DateTimeOffset`.
  case dateTimeOffset(ODataDateTimeOffset)
  /// `Edm.DateTime` (V1 to V3).
  case dateTime(ODataDateTime)
  /// `Edm.Duration`, and `Edm.Time` of V1 to V3.
  case duration(ODataDuration)
  /// A member of an enumeration, or several of one with flags: names or numbers joined by commas, as written.
  case enumeration(String)
  /// A geography or geometry value.
  indirect case geo(ODataGeo)
  /// A complex value.
  indirect case complex(ODataComplexValue)
  /// A collection of values.
  case collection([ODataValue])
  /// A number of no declared type (untyped or open property): its digits are kept.
  case untypedNumber(ODataDecimal)
}

/// A value with its name, and what the payload says about it.
public struct ODataProperty: Sendable, Hashable {
  /// The property's name.
  public var name: String
  /// Its value.
  public var value: ODataValue
  /// Annotations on the property (`Name@Org.OData.…`), in their order.
  public var annotations: [ODataAnnotation]

  /// Joins a name and a value.
  public init(_ name: String, _ value: ODataValue, annotations: [ODataAnnotation] = []) {
    self.name = name
    self.value = value
    self.annotations = annotations
  }
}

/// A complex value: properties in their order.
public struct ODataComplexValue: Sendable, Hashable {
  /// The qualified type name where the payload says it (derived types always do).
  public var typeName: String?
  /// The properties in their order.
  public var properties: [ODataProperty]
  /// Instance annotations on the value.
  public var annotations: [ODataAnnotation]

  /// Makes a complex value.
  public init(
    typeName: String? = nil, properties: [ODataProperty] = [], annotations: [ODataAnnotation] = []
  ) {
    self.typeName = typeName
    self.properties = properties
    self.annotations = annotations
  }

  /// The value of a property; nil where there is none of that name. Walks the properties.
  public subscript(name: String) -> ODataValue? { properties.first { $0.name == name }?.value }
}

/// An instance annotation: a term and a value.
public struct ODataAnnotation: Sendable, Hashable {
  /// The term, qualified, with `#qualifier` where it has one; without the leading `@`.
  public var term: String
  /// The value.
  public var value: ODataValue

  /// Joins a term and a value.
  public init(term: String, value: ODataValue) {
    self.term = term
    self.value = value
  }
}
