import LarderOData

extension ColumnStorage {
  /// Returns how values of a type are stored in a column. Nil for an entity or complex type, whose parts have columns
  /// of their own.
  ///
  /// `type` contains no type definitions (see `EdmModel.underlying`).
  init?(_ type: EdmTypeReference, model: EdmModel) {
    switch type {
    case .collection, .abstract: self = .json
    case .primitive(let primitive): self.init(primitive)
    case .named(let name):
      if model.enumType(name) != nil {
        self = .enumeration
      } else if model.structure(name) != nil {
        return nil
      } else {
        // The type is declared in a document that was not read. JSON stores any value.
        self = .json
      }
    }
  }

  /// Returns how values of a primitive type are stored in a column.
  init(_ primitive: EdmPrimitiveType) {
    switch primitive {
    case .boolean: self = .boolean
    case .byte, .sbyte, .int16, .int32, .int64: self = .integer
    case .double, .single: self = .real
    case .decimal: self = .decimal
    case .string: self = .string
    case .guid: self = .guid
    case .date: self = .date
    case .dateTimeOffset: self = .dateTimeOffset
    case .dateTime: self = .dateTime
    case .timeOfDay: self = .timeOfDay
    case .duration, .time: self = .duration
    case .binary: self = .binary
    case .stream: self = .stream
    case .geography, .geographyPoint, .geographyLineString, .geographyPolygon, .geographyMultiPoint,
      .geographyMultiLineString, .geographyMultiPolygon, .geographyCollection, .geometry, .geometryPoint,
      .geometryLineString, .geometryPolygon, .geometryMultiPoint, .geometryMultiLineString, .geometryMultiPolygon,
      .geometryCollection:
      self = .geo
    }
  }

  /// Whether equal values are equal in SQL, so that a column can identify or join entities.
  var isComparable: Bool {
    switch self {
    case .geo, .json, .complex, .dynamic, .stream: false
    case .boolean, .integer, .real, .decimal, .string, .guid, .date, .dateTimeOffset, .dateTime, .timeOfDay,
      .duration, .binary, .enumeration:
      true
    }
  }
}
