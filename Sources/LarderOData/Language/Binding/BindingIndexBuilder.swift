/// Builds the look-up tables of a binder, in the order of their dependencies: types, members, operations, the root.
struct BindingIndexBuilder {
  static let defaultNamespaceTerm = "Org.OData.Core.V1.DefaultNamespace"
  static let optionalParameterTerm = "Org.OData.Core.V1.OptionalParameter"

  let model: EdmModel
  let defaultNamespaces: Set<String>
  var types: [String: ODataBoundType.Item] = [:]
  var tables: [ObjectIdentifier: StructureTable] = [:]
  var roots: [String: BindingIndex.RootChild] = [:]
  var operations: [String: [ODataDeclaredOperation]] = [:]
  var namespaces: [String: String] = [:]

  init(_ model: EdmModel, defaultNamespaces: [String]) {
    self.model = model
    var defaults = Set(defaultNamespaces.map { model.resolve($0 + ".x").dropLast(2) }.map(String.init))
    for schema in model.schemas {
      guard
        let annotation = model.annotation(BindingIndexBuilder.defaultNamespaceTerm, target: schema.namespace),
        annotation.value?.bool ?? true
      else { continue }
      defaults.insert(schema.namespace)
    }
    self.defaultNamespaces = defaults
  }

  mutating func build() {
    declareTypes()
    for schema in model.schemas {
      for type in schema.entityTypes { buildTables(type.qualifiedName) }
      for type in schema.complexTypes { buildTables(type.qualifiedName) }
    }
    declareOperations()
    declareRoots()
  }

  static func item(
    of reference: EdmTypeReference, in types: [String: ODataBoundType.Item]
  ) -> ODataBoundType.Item {
    switch reference.item {
    case .primitive(let type): .primitive(type)
    case .abstract(.untyped): .untyped
    case .abstract(let type): .abstract(type)
    case .named(let name): types[name] ?? .undeclared(name)
    case .collection(let item): .undeclared(item.description)
    }
  }

  private func type(of reference: EdmTypeReference, isNullable: Bool) -> ODataBoundType {
    ODataBoundType(
      BindingIndexBuilder.item(of: reference, in: types), isCollection: reference.isCollection, isNullable: isNullable)
  }

  // MARK: Types

  private mutating func declareTypes() {
    for schema in model.schemas {
      namespaces[schema.namespace] = schema.namespace
      if let alias = schema.alias { namespaces[alias] = schema.namespace }
      for type in schema.enumTypes { declare(type.name, in: schema, .enumeration(ODataDeclaredEnum(type))) }
      for type in schema.typeDefinitions {
        declare(type.name, in: schema, .definition(ODataDeclaredTypeDefinition(type)))
      }
      for type in schema.entityTypes { declareStructure(type.name, type.qualifiedName, in: schema) }
      for type in schema.complexTypes { declareStructure(type.name, type.qualifiedName, in: schema) }
    }
  }

  private mutating func declareStructure(_ name: String, _ qualifiedName: String, in schema: EdmSchema) {
    guard let structure = model.structure(qualifiedName) else { return }
    declare(name, in: schema, .structure(structure))
  }

  private mutating func declare(_ name: String, in schema: EdmSchema, _ item: ODataBoundType.Item) {
    for spelling in spellings(of: name, in: schema) where types[spelling] == nil { types[spelling] = item }
  }

  private func spellings(of name: String, in schema: EdmSchema) -> [String] {
    var spellings = [EdmSchema.qualify(name, in: schema.namespace)]
    if let alias = schema.alias { spellings.append(alias + "." + name) }
    if defaultNamespaces.contains(schema.namespace) { spellings.append(name) }
    return spellings
  }

  // MARK: Members

  private mutating func buildTables(_ name: String) {
    guard let structure = model.structure(name) else { return }
    var base: StructureTable?
    for step in structure.chain {
      if let table = tables[ObjectIdentifier(step)] {
        base = table
        continue
      }
      var members: [String: BindingIndex.Member] = [:]
      for property in step.ownNavigationProperties {
        // A navigation property may be null unless the document says otherwise.
        let type = type(of: property.type, isNullable: !property.isCollection && property.isNullable)
        members[property.name] = .navigation(ODataDeclaredNavigation(property, type: type, in: step))
      }
      for property in step.ownProperties {
        let type = type(of: property.type, isNullable: property.isNullable)
        members[property.name] = .property(ODataDeclaredProperty(property, type: type, in: step))
      }
      let key = base.map { $0.structure.key == step.key } == true ? base?.key : nil
      let table = StructureTable(step, base: base, members: members, key: key ?? keyParts(of: step, members, base))
      tables[ObjectIdentifier(step)] = table
      base = table
    }
  }

  private func keyParts(
    of structure: EdmStructure, _ members: [String: BindingIndex.Member], _ base: StructureTable?
  ) -> [ODataDeclaredKeyPart] {
    structure.key.compactMap { reference in
      var path: [ODataDeclaredProperty] = []
      var owner: EdmStructure? = structure
      for step in reference.path.split(separator: "/") {
        guard let current = owner,
          let property = property(String(step), of: current, structure: structure, members: members, base: base)
        else {
          return nil
        }
        path.append(property)
        owner = property.type.structure
      }
      guard let property = path.last else { return nil }
      return ODataDeclaredKeyPart(name: reference.name, path: path, property: property)
    }
  }

  private func property(
    _ name: String, of type: EdmStructure, structure: EdmStructure, members: [String: BindingIndex.Member],
    base: StructureTable?
  ) -> ODataDeclaredProperty? {
    if type == structure {
      if case .property(let property)? = members[name] { return property }
      var table = base
      while let current = table {
        if case .property(let property)? = current.members[name] { return property }
        table = current.base
      }
      return nil
    }
    // The complex type of a step in a key may not have its table yet.
    guard let property = type.property(name) else { return nil }
    let declaring = type.chain.last { step in step.ownProperties.contains { $0.name == name } } ?? type
    return ODataDeclaredProperty(
      property, type: self.type(of: property.type, isNullable: property.isNullable), in: declaring)
  }

  // MARK: Operations

  private mutating func declareOperations() {
    for schema in model.schemas {
      for function in schema.functions {
        declare(
          .function(function), named: function.name, in: schema, isBound: function.isBound,
          parameters: function.parameters,
          result: function.returnType)
      }
      for action in schema.actions {
        declare(
          .action(action), named: action.name, in: schema, isBound: action.isBound, parameters: action.parameters,
          result: action.returnType)
      }
    }
  }

  private mutating func declare(
    _ declaration: ODataDeclaredOperation.Declaration, named name: String, in schema: EdmSchema, isBound: Bool,
    parameters: [EdmParameter], result: EdmReturnType?
  ) {
    let operation = operation(
      declaration, name: EdmSchema.qualify(name, in: schema.namespace), isBound: isBound, parameters, result)
    for spelling in spellings(of: name, in: schema) { operations[spelling, default: []].append(operation) }
  }

  func operation(
    _ declaration: ODataDeclaredOperation.Declaration, name: String, isBound: Bool, _ parameters: [EdmParameter],
    _ result: EdmReturnType?
  ) -> ODataDeclaredOperation {
    let others = isBound ? parameters.dropFirst() : parameters[...]
    let declared = others.filter { $0.mode != "Out" }.map { parameter in
      ODataDeclaredOperation.Parameter(
        parameter: parameter, type: type(of: parameter.type, isNullable: parameter.isNullable),
        isOptional: parameter.annotation(BindingIndexBuilder.optionalParameterTerm) != nil)
    }
    return ODataDeclaredOperation(
      declaration, name: name,
      bindingType: isBound ? parameters.first.map { type(of: $0.type, isNullable: false) } : nil,
      parameters: declared, result: result.map { type(of: $0.type, isNullable: $0.isNullable) })
  }
}
