internal import LarderOData

/// The Swift types of a model's values.
struct SwiftTypes {
  let model: EdmModel
  let names: TypeNames
  /// Qualified names of the types that are generated.
  let generated: Set<String>

  /// The Swift form of a value's type.
  enum Form {
    case value(String, MemberPlan.Kind)
    case omitted(Omission.Reason)
    /// The type is left out.
    case excluded
  }

  func form(_ type: EdmTypeReference) -> Form {
    switch type.item {
    case .primitive(let primitive): SwiftTypes.form(primitive)
    case .abstract, .collection: .omitted(.abstractType)
    case .named(let name): form(named: model.resolve(name))
    }
  }

  private func form(named name: String) -> Form {
    guard let swiftName = names[name] else { return .omitted(.unknownType) }
    guard generated.contains(name) else { return .excluded }
    if let structure = model.structure(name) { return .value(swiftName, structure.isEntityType ? .entity : .complex) }
    guard let definition = model.typeDefinition(name) else { return .value(swiftName, .primitive) }
    guard case .value(_, .primitive) = SwiftTypes.form(definition.underlyingType) else {
      return SwiftTypes.form(definition.underlyingType)
    }
    return .value(swiftName, .primitive)
  }

  /// The Swift form of a primitive type.
  static func form(_ type: EdmPrimitiveType) -> Form {
    switch type {
    case .binary: .value("Data", .primitive)
    case .boolean: .value("Bool", .primitive)
    case .byte: .value("UInt8", .primitive)
    case .date: .value("ODataDate", .primitive)
    case .dateTime: .value("ODataDateTime", .primitive)
    case .dateTimeOffset: .value("ODataDateTimeOffset", .primitive)
    case .decimal: .value("ODataDecimal", .primitive)
    case .double: .value("Double", .primitive)
    case .duration, .time: .value("ODataDuration", .primitive)
    case .guid: .value("UUID", .primitive)
    case .int16: .value("Int16", .primitive)
    case .int32: .value("Int32", .primitive)
    case .int64: .value("Int64", .primitive)
    case .sbyte: .value("Int8", .primitive)
    case .single: .value("Float", .primitive)
    case .stream: .value("String", .stream)
    case .string: .value("String", .primitive)
    case .timeOfDay: .value("ODataTimeOfDay", .primitive)
    case .geography, .geographyPoint, .geographyLineString, .geographyPolygon, .geographyMultiPoint,
      .geographyMultiLineString, .geographyMultiPolygon, .geographyCollection, .geometry, .geometryPoint,
      .geometryLineString, .geometryPolygon, .geometryMultiPoint, .geometryMultiLineString, .geometryMultiPolygon,
      .geometryCollection:
      .value("ODataGeo", .primitive)
    }
  }
}
