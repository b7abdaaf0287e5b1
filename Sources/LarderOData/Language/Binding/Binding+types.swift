// Type functions (URL Conventions 4.01 §5.1.1.10).
extension Binding {
  /// Binds the name of a type as an operand.
  func type(_ name: ODataTypeName) throws(ODataBindingError) -> ODataBoundType {
    let item: ODataBoundType.Item
    if let declared = index.type(name.name) {
      item = declared
    } else {
      // Only before V4 may primitive types be written without their namespace.
      let isQualified = name.name.utf8.contains(UInt8(ascii: "."))
      switch EdmTypeReference(name.name) {
      case .primitive(let type) where isQualified || dialect == .v2: item = .primitive(type)
      case .abstract(.untyped): item = .untyped
      case .abstract(let type): item = .abstract(type)
      default:
        let primitives = EdmPrimitiveType.allCases.map(\.qualifiedName)
        throw unknown(
          name.name, what: "type", place: "in the model", among: Array(index.types.keys) + primitives, at: name.position
        )
      }
    }
    return ODataBoundType(item, isCollection: name.isCollection)
  }

  func cast(
    _ operand: ODataExpression?, _ name: ODataTypeName, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    let type = try type(name)
    var bound: ODataBoundExpression?
    if let operand { bound = try bind(operand) }
    guard let from = bound?.type ?? current?.type else { throw noInstance(at: position) }
    guard isCastable(from, to: type) else {
      throw error(.wrongOperands("cast", left: "\(from)", right: "\(type)"), at: position)
    }
    return ODataBoundExpression(.cast(bound, type), type.nullable(), at: position)
  }

  func isof(
    _ operand: ODataExpression?, _ name: ODataTypeName, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    let type = try type(name)
    var bound: ODataBoundExpression?
    if let operand { bound = try bind(operand) } else if current == nil { throw noInstance(at: position) }
    return ODataBoundExpression(.isof(bound, type), .boolean, at: position)
  }

  private func noInstance(at position: SourcePosition) -> ODataBindingError {
    error(.wrongType(expected: "an instance to evaluate the expression on", found: "none"), at: position)
  }

  /// Whether a cast can ever have a value; if not, the expression is an error.
  private func isCastable(_ from: ODataBoundType, to type: ODataBoundType) -> Bool {
    guard from.item != .null else { return true }
    guard from.isCollection == type.isCollection || from.item.isOpen || type.item.isOpen else { return false }
    if from.item.isOpen || type.item.isOpen { return true }
    if from.item.isStructured || type.item.isStructured {
      guard let one = from.structure, let other = type.structure else {
        return from.item.isStructured && type.item.isStructured
      }
      return one.derives(from: other) || other.derives(from: one)
    }
    switch (from.item, type.item) {
    case (.enumeration(let one), .enumeration(let other)): return one == other
    case (.enumeration, _): return type.item.primitive.map { $0 == .string || $0.isInteger } ?? false
    case (_, .enumeration): return from.item.primitive.map { $0 == .string || $0.isInteger } ?? false
    default:
      guard let one = from.item.primitive, let other = type.item.primitive else { return false }
      return isCastable(one, to: other)
    }
  }

  private func isCastable(_ from: EdmPrimitiveType, to type: EdmPrimitiveType) -> Bool {
    if from == type || from == .string || type == .string { return from != .stream && type != .stream }
    if from.isNumeric, type.isNumeric { return true }
    if from.isTimestamp { return type.isTimestamp || type == .date || type == .timeOfDay }
    if from == .date { return type.isTimestamp }
    if from.isDuration { return type.isDuration }
    guard let one = from.geoSpace, let other = type.geoSpace, one == other else { return false }
    return from == .geography || from == .geometry || type == .geography || type == .geometry
  }
}
