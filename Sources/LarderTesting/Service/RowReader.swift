import LarderOData

/// An entity as a client sends it, checked against the model.
struct RowContent {
  var structure: EdmStructure
  /// The structural properties that are given.
  var values: [String: JSONNode] = [:]
  /// The types that the content gives for undeclared properties.
  var types: [String: EdmTypeReference] = [:]
  /// Related entities to create, by navigation property.
  var children: [(navigation: EdmNavigationProperty, entities: [JSONNode])] = []
  /// URLs of related entities that exist, by navigation property.
  var bindings: [Binding] = []

  struct Binding {
    var navigation: EdmNavigationProperty
    var urls: [String]
    /// Whether the property leads to no other entities afterwards.
    var isWhole: Bool
  }
}

/// Checks what clients write against the model.
struct RowReader {
  let model: TestModel
  let clock: LarderTestClock
  /// The number of the change.
  let number: Int

  /// The content of an entity of a type, or of one derived from it.
  func entity(_ node: JSONNode, of declared: EdmStructure) throws(ServiceFault) -> RowContent {
    guard let members = node.members else { throw ServiceFault(400, "The content must be a JSON object.") }
    let structure = try type(node, declared)
    guard !structure.isAbstract else { throw ServiceFault(400, "The type \(structure.name) is abstract.") }
    var content = RowContent(structure: structure)
    content.types = try types(of: members, structure)
    for member in members {
      if let at = member.name.firstIndex(of: "@") {
        try annotation(
          member, named: member.name[..<at], behind: member.name[member.name.index(after: at)...], &content)
      } else if let navigation = structure.navigationProperty(member.name) {
        try self.navigation(navigation, member.value, &content)
      } else {
        content.values[member.name] = try property(member, of: structure, content.types[member.name])
      }
    }
    return content
  }

  private func type(_ node: JSONNode, _ declared: EdmStructure) throws(ServiceFault) -> EdmStructure {
    guard let text = (node["@odata.type"] ?? node["@type"])?.string else { return declared }
    let name = String(text[(text.lastIndex(of: "#").map { text.index(after: $0) } ?? text.startIndex)...])
    guard let structure = model.model.structure(name), model.model.isType(name, derivedFrom: declared.name) else {
      throw ServiceFault(400, "'\(name)' is not a type of \(declared.name).")
    }
    return structure
  }

  private func annotation(
    _ member: JSONNode.Member, named name: Substring, behind annotation: Substring, _ content: inout RowContent
  ) throws(ServiceFault) {
    switch annotation {
    case "odata.bind", "bind":
      guard let navigation = content.structure.navigationProperty(String(name)) else {
        throw unknown(String(name), content.structure)
      }
      if member.value == .null { return try self.navigation(navigation, member.value, &content) }
      let urls = member.value.items ?? [member.value]
      content.bindings.append(
        .init(navigation: navigation, urls: urls.compactMap(\.string), isWhole: !navigation.isCollection))
      guard urls.allSatisfy({ $0.string != nil }) else {
        throw ServiceFault(400, "'\(member.name)' must be a URL, or an array of them.")
      }
    case "odata.delta", "delta": throw .notSupported("'\(member.name)'")
    default: break
    }
  }

  private func navigation(
    _ navigation: EdmNavigationProperty, _ node: JSONNode, _ content: inout RowContent
  ) throws(ServiceFault) {
    if node == .null {
      guard !navigation.isCollection, navigation.isNullable else {
        throw ServiceFault(400, "'\(navigation.name)' must not be null.")
      }
      return content.bindings.append(.init(navigation: navigation, urls: [], isWhole: true))
    }
    guard let entities = navigation.isCollection ? node.items : [node] else {
      throw ServiceFault(400, "'\(navigation.name)' must be an array.")
    }
    let urls = entities.compactMap { entity in (entity["@odata.id"] ?? entity["@id"])?.string }
    guard urls.isEmpty || urls.count == entities.count else {
      throw .notSupported("references among the new entities of '\(navigation.name)'")
    }
    if !urls.isEmpty || entities.isEmpty {
      return content.bindings.append(.init(navigation: navigation, urls: urls, isWhole: true))
    }
    content.children.append((navigation, entities))
  }

  // MARK: Properties

  private func unknown(_ name: String, _ structure: EdmStructure) -> ServiceFault {
    ServiceFault(400, "\(structure.name) has no property '\(name)'.")
  }

  /// The types of undeclared properties (JSON Format 4.01 §4.6.3).
  private func types(
    of members: [JSONNode.Member], _ structure: EdmStructure
  ) throws(ServiceFault) -> [String: EdmTypeReference] {
    guard structure.isOpen else { return [:] }
    var types: [String: EdmTypeReference] = [:]
    for member in members {
      let parts = member.name.split(separator: "@", omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, ["odata.type", "type"].contains(parts[1]),
        structure.property(String(parts[0])) == nil, let text = member.value.string
      else { continue }
      let type = EdmTypeReference(
        String(text[(text.firstIndex(of: "#").map { text.index(after: $0) } ?? text.startIndex)...]))
      if let name = type.name, model.model.structure(name) == nil, model.model.enumType(name) == nil,
        model.model.typeDefinition(name) == nil
      {
        throw ServiceFault(400, "'\(member.name)': there is no type '\(text)'.")
      }
      types[String(parts[0])] = type
    }
    return types
  }

  /// - Parameter type: the type that the content gives.
  private func property(
    _ member: JSONNode.Member, of structure: EdmStructure, _ type: EdmTypeReference? = nil
  ) throws(ServiceFault) -> JSONNode {
    guard let property = structure.property(member.name) ?? type.map({ EdmProperty(name: member.name, type: $0) })
    else {
      guard structure.isOpen else { throw unknown(member.name, structure) }
      return member.value
    }
    guard property.type.isCollection else { return try value(member.value, of: property) }
    guard let items = member.value.items else { throw ServiceFault(400, "'\(property.name)' must be an array.") }
    return .array(try items.map { item throws(ServiceFault) in try value(item, of: property) })
  }

  func value(_ node: JSONNode, of property: EdmProperty) throws(ServiceFault) -> JSONNode {
    if node == .null {
      guard property.isNullable else { throw ServiceFault(400, "'\(property.name)' must not be null.") }
      return node
    }
    if case .abstract = property.type.item { return node }
    if let name = property.type.name, let declared = model.model.structure(name) {
      guard let members = node.members else { throw ServiceFault(400, "'\(property.name)' must be an object.") }
      let structure = try type(node, declared)
      return .object(
        try members.map { member throws(ServiceFault) in
          if member.name.contains("@") { return member }
          return JSONNode.Member(member.name, try self.property(member, of: structure))
        })
    }
    guard property.type.primitive != .stream else { throw .notSupported("the stream '\(property.name)' in content") }
    let value = try model.value(node, of: property)
    try check(value, property)
    if case .geo = value { return node }
    // Equal values have equal texts, so that keys can be compared.
    guard let text = try? value.json(.v4(ieee754Compatible: false)), let canonical = try? JSONNode(Array(text.utf8))
    else {
      return node
    }
    return canonical
  }

  // MARK: Whole rows

  /// Adds the properties that a new entity or complex value lacks, with their defaults.
  func complete(_ values: [String: JSONNode], _ structure: EdmStructure, at place: String) throws(ServiceFault)
    -> [String: JSONNode]
  {
    var values = values
    for property in structure.properties where property.type.primitive != .stream {
      if let value = values[property.name] {
        values[property.name] = try completed(value, property, at: place)
      } else if property.type.isCollection {
        values[property.name] = .array([])
      } else if let text = property.defaultValue {
        values[property.name] = try value(defaultNode(text, property), of: property)
      } else if property.isNullable {
        values[property.name] = .null
      } else if let computed = try computed(property, of: structure) {
        values[property.name] = computed
      } else {
        throw ServiceFault(400, "\(place) has no value for '\(property.name)', which must not be null.")
      }
    }
    return values
  }

  private func completed(_ value: JSONNode, _ property: EdmProperty, at place: String) throws(ServiceFault) -> JSONNode
  {
    guard let name = property.type.name, let declared = model.model.structure(name) else { return value }
    if let items = value.items {
      return .array(try items.map { item throws(ServiceFault) in try completed(item, declared, at: place) })
    }
    return value == .null ? value : try completed(value, declared, at: place)
  }

  private func completed(_ value: JSONNode, _ declared: EdmStructure, at place: String) throws(ServiceFault) -> JSONNode
  {
    guard let members = value.members else { return value }
    let structure = try type(value, declared)
    let values = Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    let complete = try complete(values, structure, at: place)
    let names = Set(members.map(\.name))
    let missing = structure.properties.map(\.name).filter { !names.contains($0) }
    let given = members.map { JSONNode.Member($0.name, complete[$0.name] ?? $0.value) }
    return .object(given + missing.compactMap { name in complete[name].map { JSONNode.Member(name, $0) } })
  }

  private func defaultNode(_ text: String, _ property: EdmProperty) -> JSONNode {
    switch model.model.underlying(property.type).type.primitive {
    case .boolean: .boolean(text == "true" || text == "1")
    case .byte, .sbyte, .int16, .int32, .int64, .decimal, .double, .single: .number(text)
    default: .string(text)
    }
  }

  /// A value after a change: a complex value keeps the properties that the change leaves out (Protocol 4.0 §11.4.3).
  func merged(_ former: JSONNode?, with value: JSONNode) -> JSONNode {
    guard let old = former?.members, let new = value.members else { return value }
    var members = old
    for member in new {
      if let index = members.firstIndex(where: { $0.name == member.name }) {
        members[index].value = merged(members[index].value, with: member.value)
      } else {
        members.append(member)
      }
    }
    return .object(members)
  }
}

extension JSONNode {
  /// The URLs of the entities that an entity, and those inside it, are linked to.
  var references: [String] {
    if let items { return items.flatMap(\.references) }
    return (members ?? []).flatMap { member in
      guard JSONNode.isBinding(member.name) else { return member.value.references }
      return (member.value.items ?? [member.value]).compactMap(\.string)
    }
  }

  /// Whether a member has the URLs of entities.
  static func isBinding(_ name: String) -> Bool { name.hasSuffix("@odata.bind") || name.hasSuffix("@bind") }
}
