// Fragments of context URLs: checks that the model has the names in them (Protocol 4.01 §10).
extension Binding {
  /// Throws if a name is not in the model. After a step without a declared type, any name is allowed.
  func check(_ fragment: ODataContextFragment) throws(ODataBindingError) {
    var type: ODataBoundType?
    if let name = fragment.collectionOf, name != "$ref" {
      type = try declaredType(name, at: fragment.path.position)
    }
    for (place, segment) in fragment.path.segments.enumerated() {
      if place == 0, case .name(let name) = segment.kind {
        guard let root = index.instance(of: name) else {
          throw unknown(
            name, what: "entity set or singleton", place: "in the model", among: index.roots.keys, at: segment.position)
        }
        type = root.type
      } else {
        type = try typeOfStep(segment, on: type)
      }
    }
    try check(fragment.selectList ?? [], on: type)
  }

  private func check(_ list: [ODataSelectListItem], on type: ODataBoundType?) throws(ODataBindingError) {
    for item in list {
      var last = type
      for segment in item.path.segments { last = try typeOfStep(segment, on: last) }
      if let nested = item.nested { try check(nested, on: last) }
    }
  }

  /// The type that a step leads to; nil if the model does not declare it.
  private func typeOfStep(_ segment: ODataPathSegment, on type: ODataBoundType?) throws(ODataBindingError)
    -> ODataBoundType?
  {
    switch segment.kind {
    case .name(let name):
      guard let type else { return nil }
      guard let structure = type.structure else {
        if case .abstract = type.item { return nil }
        if type.item.isOpen { return nil }
        throw unknownMember(name, Instance(type), at: segment.position)
      }
      if let reference = structure.property(name)?.type ?? structure.navigationProperty(name)?.type {
        return index.type(of: reference, isNullable: true)
      }
      guard structure.isOpen else { throw unknownMember(name, Instance(type), at: segment.position) }
      return nil
    case .qualifiedName(let name):
      return try index.overloads(name).isEmpty ? declaredType(name, at: segment.position) : nil
    case .annotation, .star, .allOperations: return nil
    default: return type
    }
  }

  private func declaredType(_ name: String, at position: SourcePosition) throws(ODataBindingError) -> ODataBoundType {
    let type = index.type(of: EdmTypeReference(name), isNullable: true)
    guard case .undeclared = type.item else { return type }
    if let item = index.type(name) { return ODataBoundType(item) }
    throw unknown(name, what: "type", place: "in the model", among: index.types.keys, at: position)
  }
}
