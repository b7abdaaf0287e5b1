// Keys (URL Conventions 4.01 §4.3), as segments and ordinals too.
extension Binding {
  /// Binds `(…)` after a collection of entities.
  func bindKey(
    _ arguments: [ODataArgument], _ walk: inout Walk, at position: SourcePosition
  ) throws(ODataBindingError) {
    guard let instance = walk.instance, instance.type.isCollection, let structure = instance.type.structure,
      structure.isEntityType
    else { throw misplaced("a key", walk, "only a collection of entities has keys", at: position) }
    // V2 writes `Customers()` for the collection.
    if arguments.isEmpty, dialect == .v2 { return }
    let parts = index.key(of: structure)
    var given: [ODataBoundKeyPart] = []
    var missing = parts
    if arguments.count == 1, let value = arguments.first, value.name == nil {
      missing = parts.count == 1 ? parts : unconstrained(parts, walk)
      guard missing.count == 1, let part = missing.first else { throw wrongKey(structure, arguments, at: position) }
      given.append(try keyPart(part, value.value, at: position))
      missing = []
    }
    for argument in arguments where argument.name != nil {
      guard let place = missing.firstIndex(where: { $0.name == argument.name || $0.property.name == argument.name })
      else { throw wrongKey(structure, arguments, at: position) }
      given.append(try keyPart(missing.remove(at: place), argument.value, at: position))
    }
    guard !given.isEmpty, given.count == arguments.count else { throw wrongKey(structure, arguments, at: position) }
    try append(key: given, of: structure, parts: parts, &walk, instance: instance, arguments: arguments, at: position)
  }

  /// Appends a key, in the order of the type's key, with the parts that follow from referential constraints.
  private func append(
    key given: [ODataBoundKeyPart], of structure: EdmStructure, parts: [ODataDeclaredKeyPart], _ walk: inout Walk,
    instance: Instance, arguments: [ODataArgument], at position: SourcePosition
  ) throws(ODataBindingError) {
    var key: [ODataBoundKeyPart] = []
    for part in parts {
      if let givenPart = given.first(where: { $0.part === part }) {
        key.append(givenPart)
      } else if let origin = origin(of: part, walk) {
        key.append(ODataBoundKeyPart(part: part, value: origin.value, isImplied: true))
      } else {
        throw wrongKey(structure, arguments, at: position)
      }
    }
    var next = instance.single
    next.type.isNullable = walk.place == .expression
    walk.append(.key(key), next, at: position)
  }

  private func keyPart(
    _ part: ODataDeclaredKeyPart, _ value: ODataExpression, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundKeyPart {
    let bound = try fit(try bind(value), to: part.property.type, of: "'\(part.name)'", at: position)
    guard !bound.isNull else {
      throw error(.wrongType(expected: "\(part.property.type) for '\(part.name)'", found: "null"), at: position)
    }
    return ODataBoundKeyPart(part: part, value: bound)
  }

  private func wrongKey(
    _ structure: EdmStructure, _ arguments: [ODataArgument], at position: SourcePosition
  ) -> ODataBindingError {
    error(
      .wrongKey(
        type: structure.name, expected: index.key(of: structure).map(\.name),
        found: arguments.map { $0.name ?? "a value" }),
      at: position)
  }

  /// The key parts that no referential constraint ties to the entity before.
  private func unconstrained(_ parts: [ODataDeclaredKeyPart], _ walk: Walk) -> [ODataDeclaredKeyPart] {
    parts.filter { origin(of: $0, walk) == nil }
  }

  /// The origin of a key part that the URL omits (§4.3.2): the path came through a navigation property, the constraint
  /// of its partner says that the part repeats a property of the entity before, and that entity's key may contain the
  /// value.
  private func origin(of part: ODataDeclaredKeyPart, _ walk: Walk) -> KeyPartOrigin? {
    var place = walk.path.segments.count - 1
    while place >= 0, case .cast = walk.path.segments[place].kind { place -= 1 }
    guard place >= 0, case .navigation(let navigation) = walk.path.segments[place].kind,
      let partner = navigation.property.partner, let target = navigation.type.structure,
      case .navigation(let back)? = self.member(partner, of: target),
      let constraint = back.property.referentialConstraints.first(where: { $0.property == part.property.name })
    else { return nil }
    guard place > 0, case .key(let parts) = walk.path.segments[place - 1].kind else { return KeyPartOrigin() }
    return KeyPartOrigin(value: parts.first { $0.part.property.name == constraint.referencedProperty }?.value)
  }

  /// A property of the entity before that a key part repeats, with its value if the entity's key contains it.
  private struct KeyPartOrigin {
    var value: ODataBoundExpression?
  }

  // MARK: Segments other than names

  /// Binds a key as a segment (§4.3.3), or the position in an ordered collection (§4.11).
  func bindTextSegment(_ text: String, _ walk: inout Walk, at position: SourcePosition) throws(ODataBindingError) {
    guard let instance = walk.instance, instance.type.isCollection, walk.place == .resource else {
      throw misplaced("'\(text)'", walk, "", at: position)
    }
    if let structure = instance.type.structure, structure.isEntityType, options.isKeyAsSegment {
      return try keySegment(text, of: structure, &walk, instance: instance, at: position)
    }
    guard let ordinal = Int(text) else {
      throw misplaced("'\(text)'", walk, "expected a position in the collection", at: position)
    }
    walk.append(.ordinal(ordinal), instance.single, at: position)
  }

  private func keySegment(
    _ text: String, of structure: EdmStructure, _ walk: inout Walk, instance: Instance, at position: SourcePosition
  ) throws(ODataBindingError) {
    let parts = index.key(of: structure)
    let openParts = parts.count == 1 ? parts : unconstrained(parts, walk)
    guard openParts.count == 1, let part = openParts.first else {
      throw error(
        .wrongKey(type: structure.name, expected: parts.map(\.name), found: ["'\(text)'"]), at: position)
    }
    let value: ODataBoundExpression
    switch part.property.type.item {
    case .enumeration:
      let members = ODataBoundExpression(.literal(.string(text)), .primitive(.string), at: position)
      value = try convert(members, to: part.property.type.item)
    default:
      guard let type = part.property.type.item.primitive else {
        throw error(.notSupported("a key of type \(part.property.type) cannot be a segment"), at: position)
      }
      do {
        let literal = try ODataValue(text: text, type: type)
        value = ODataBoundExpression(.literal(literal), ODataBoundType(part.property.type.item), at: position)
      } catch {
        throw self.error(.invalidLiteral("\(error)"), at: position)
      }
    }
    try append(
      key: [ODataBoundKeyPart(part: part, value: value)], of: structure, parts: parts, &walk, instance: instance,
      arguments: [], at: position)
  }
}
