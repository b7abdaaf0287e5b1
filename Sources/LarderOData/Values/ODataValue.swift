/// A value of any Edm type in payloads and literals. Two values are equal if type and value are equal.
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
  /// A number without a declared type (untyped or open property): its digits are kept.
  case untypedNumber(ODataDecimal)
}

/// A property: a value with its name and annotations.
public struct ODataProperty: Sendable, Hashable {
  /// The property's name.
  public var name: String
  /// Its value.
  public var value: ODataValue
  /// Annotations on the property (`Name@Org.OData.…`), in their order.
  public var annotations: [ODataAnnotation]

  /// Creates a property.
  public init(_ name: String, _ value: ODataValue, annotations: [ODataAnnotation] = []) {
    self.name = name
    self.value = value
    self.annotations = annotations
  }
}

/// A complex value: properties in their order.
public struct ODataComplexValue: Sendable, Hashable {
  /// The qualified type name, if the payload contains it (for derived types it always does).
  public var typeName: String?
  /// The properties in their order.
  public var properties: [ODataProperty]
  /// Instance annotations on the value.
  public var annotations: [ODataAnnotation]

  /// Creates a complex value.
  public init(
    typeName: String? = nil, properties: [ODataProperty] = [], annotations: [ODataAnnotation] = []
  ) {
    self.typeName = typeName
    self.properties = properties
    self.annotations = annotations
  }

  /// The value of a property; nil if there is none with that name. Searches linearly.
  public subscript(name: String) -> ODataValue? { properties.first { $0.name == name }?.value }
}

/// An instance annotation: a term and a value.
public struct ODataAnnotation: Sendable, Hashable {
  /// The term, qualified, with `#qualifier` if it has one; without the leading `@`.
  public var term: String
  /// The value.
  public var value: ODataValue

  /// Creates an annotation.
  public init(term: String, value: ODataValue) {
    self.term = term
    self.value = value
  }
}
