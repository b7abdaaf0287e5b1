package import LarderOData

// Properties that an open type does not declare, exact.
extension NodeDecoder: ODataDynamicDecoder {
  package func dynamicProperties(besides isDeclared: (String) -> Bool) throws -> [ODataProperty] {
    guard case .object(let members) = node else { return [] }
    var structure: EdmStructure?
    if case .structure(let declared) = type { structure = declared }
    if let name = ValueType.annotation(of: "", in: members) { structure = model?.structure(name) ?? structure }
    return try members.compactMap { member in
      let name = member.name
      guard !name.contains("@"), !isDeclared(name), structure?.property(name) == nil,
        structure?.navigationProperty(name) == nil
      else { return nil }
      let type = ValueType(ofUndeclared: name, in: members, model)
      return ODataProperty(name, try inner(member.value, type, MemberKey(name)).exactValue())
    }
  }

  /// The value with its exact type.
  private func exactValue() throws -> ODataValue {
    switch (node, type) {
    case (.array(let items), _):
      var item = ValueType.untyped
      if case .collection(let inner) = type { item = inner }
      return .collection(
        try items.enumerated().map { try inner($0.element, item, ItemKey(intValue: $0.offset)).exactValue() })
    case (.object, .primitive): return try scalarValue()
    case (.object(let members), _):
      let properties = try members.filter { !$0.name.contains("@") }.map { member in
        let type = ValueType(of: member.name, in: members, type, model)
        return ODataProperty(member.name, try inner(member.value, type, MemberKey(member.name)).exactValue())
      }
      let name = ValueType.annotation(of: "", in: members)
      return .complex(ODataComplexValue(typeName: name, properties: properties))
    case (.string(let name), .enumeration), (.number(let name), .enumeration): return .enumeration(name)
    default: return try scalarValue()
    }
  }

  private func scalarValue() throws -> ODataValue {
    do { return try ODataValue(json: node, type: primitiveType, dialect: .v4) } catch {
      throw scalar.mismatch(ODataValue.self)
    }
  }
}
