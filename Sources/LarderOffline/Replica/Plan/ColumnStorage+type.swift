import LarderOData

extension ColumnStorage {
  /// How values of a type stand in a column; nil for an entity or complex type, whose parts have columns of their own.
  ///
  /// `type` has no type definitions left in it (see `EdmModel.underlying`).
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
        // Declared in a document that was not read: JSON keeps whatever comes.
        self = .json
      }
    }
  }

  /// How values of a primitive type stand in a column.
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

  /// Whether two equal values are equal in SQL, so that a column of it can tell which entities belong together.
  var isComparable: Bool {
    switch self {
    case .geo, .json, .complex, .dynamic, .stream: false
    case .boolean, .integer, .real, .decimal, .string, .guid, .date, .dateTimeOffset, .dateTime, .timeOfDay,
      .duration, .binary, .enumeration:
      true
    }
  }
}
