// Look-ups. Names are qualified by namespace or by alias; each costs one or two dictionary accesses.
extension EdmModel {
  /// The namespace-qualified form of a name that may be qualified by an alias.
  package func resolve(_ name: String) -> String { index.names.resolve(name) }

  /// The entity type with a qualified name.
  public func entityType(_ name: String) -> EdmEntityType? {
    guard case .entityType(let schema, let place)? = index.declaration(name) else { return nil }
    return schemas[schema].entityTypes[place]
  }

  /// The complex type with a qualified name.
  public func complexType(_ name: String) -> EdmComplexType? {
    guard case .complexType(let schema, let place)? = index.declaration(name) else { return nil }
    return schemas[schema].complexTypes[place]
  }

  /// The enumeration type with a qualified name.
  public func enumType(_ name: String) -> EdmEnumType? {
    guard case .enumType(let schema, let place)? = index.declaration(name) else { return nil }
    return schemas[schema].enumTypes[place]
  }

  /// The type definition with a qualified name.
  package func typeDefinition(_ name: String) -> EdmTypeDefinition? {
    guard case .typeDefinition(let schema, let place)? = index.declaration(name) else { return nil }
    return schemas[schema].typeDefinitions[place]
  }

  /// The entity container with a qualified name.
  public func container(_ name: String) -> EdmEntityContainer? {
    guard case .container(let schema, let place)? = index.declaration(name) else { return nil }
    return schemas[schema].containers[place]
  }

  /// The term with a qualified name.
  package func term(_ name: String) -> EdmTerm? {
    index.terms[resolve(name)].map { schemas[$0.schema].terms[$0.place] }
  }

  /// V1 to V3: the association with a qualified name.
  package func association(_ name: String) -> EdmAssociation? {
    index.associations[resolve(name)].map { schemas[$0.schema].associations[$0.place] }
  }

  /// All overloads of a function, in the document's order.
  public func functions(_ name: String) -> [EdmFunction] {
    (index.functions[resolve(name)] ?? []).map { schemas[$0.schema].functions[$0.place] }
  }

  /// All overloads of an action, in the document's order.
  public func actions(_ name: String) -> [EdmAction] {
    (index.actions[resolve(name)] ?? []).map { schemas[$0.schema].actions[$0.place] }
  }

  /// An entity or complex type with all inherited members, optimized for looking up properties by name.
  package func structure(_ name: String) -> EdmStructure? {
    index.structures[name] ?? index.structures[resolve(name)]
  }

  /// The container of unqualified URLs: V4's only one; in V1 to V3 the one marked as default, else the first.
  public var defaultContainer: EdmEntityContainer? {
    index.defaultContainer.map { schemas[$0.schema].containers[$0.place] }
  }

  /// The entity set with a name, as in URLs: `Set` in the default container (or those it extends), or `Container.Set`.
  public func entitySet(_ name: String) -> EdmEntitySet? { index.entitySets[name] }

  /// The singleton with a name.
  public func singleton(_ name: String) -> EdmSingleton? { index.singletons[name] }

  /// The function import with a name.
  public func functionImport(_ name: String) -> EdmFunctionImport? { index.functionImports[name] }

  /// The action import with a name.
  public func actionImport(_ name: String) -> EdmActionImport? { index.actionImports[name] }

  /// The type of an entity set's or a singleton's entities.
  public func entityType(of setOrSingleton: String) -> EdmEntityType? {
    if let set = entitySet(setOrSingleton) { return entityType(set.entityType) }
    return singleton(setOrSingleton).flatMap { entityType($0.type) }
  }
}

// Queries about types.
extension EdmModel {
  /// All properties of a type, inherited ones first.
  public func properties(of type: String) -> [EdmProperty] { structure(type)?.properties ?? [] }

  /// All navigation properties of a type, inherited ones first.
  public func navigationProperties(of type: String) -> [EdmNavigationProperty] {
    structure(type)?.navigationProperties ?? []
  }

  /// The key of an entity type, declared or inherited; empty if it has none.
  public func key(of type: String) -> [EdmPropertyRef] { structure(type)?.key ?? [] }

  /// Whether a type equals another, or derives from it.
  public func isType(_ type: String, derivedFrom base: String) -> Bool {
    let baseName = resolve(base)
    var structure = structure(type)
    while let current = structure {
      if current.name == baseName { return true }
      structure = current.base
    }
    return resolve(type) == baseName
  }

  /// Replaces a type definition by its underlying primitive type, and returns the definition's facets.
  public func underlying(_ type: EdmTypeReference) -> (type: EdmTypeReference, facets: EdmFacets) {
    guard let name = type.name, let definition = typeDefinition(name) else { return (type, EdmFacets()) }
    let primitive = EdmTypeReference.primitive(definition.underlyingType)
    return (type.isCollection ? .collection(primitive) : primitive, definition.facets)
  }

  /// The set or singleton that a navigation property leads to from an entity set; nil if the model does not declare it.
  ///
  /// `path` is the path of the navigation property, as in bindings (CSDL 4.01 §13.4.1).
  public func target(of path: String, from entitySet: String) -> String? {
    let bindings =
      self.entitySet(entitySet)?.navigationPropertyBindings ?? singleton(entitySet)?.navigationPropertyBindings
    return bindings?.first { $0.path == path }?.target
  }

  /// The annotations on an element, first those inside it, then those written separately.
  ///
  /// `target` has the form of CSDL (§14.2.1): `NS.Type`, `NS.Type/Property`, `NS.Container/Set`, `NS.Enum/Member`.
  public func annotations(target: String) -> [EdmAnnotation] {
    let target = index.names.resolve(target: target)
    return inlineAnnotations(target) + (index.annotations[target] ?? [])
  }

  /// The annotation of a term on an element, inside it or written separately.
  public func annotation(_ term: String, qualifier: String? = nil, target: String) -> EdmAnnotation? {
    let term = resolve(term)
    return annotations(target: target).first { $0.term == term && $0.qualifier == qualifier }
  }

  /// Whether a term without a value, or with `true`, applies to an element.
  package func isTagged(_ term: String, target: String) -> Bool {
    guard let annotation = annotation(term, target: target) else { return false }
    return annotation.value.map { $0.bool == true } ?? true
  }

  private func inlineAnnotations(_ target: String) -> [EdmAnnotation] {
    let steps = target.split(separator: "/", omittingEmptySubsequences: false)
    guard let first = steps.first, steps.count <= 2 else { return [] }
    let name = String(first)
    guard steps.count == 2 else { return declaredAnnotations(name) }
    let member = String(steps[1])
    if let structure = structure(name) {
      return structure.property(member)?.annotations ?? structure.navigationProperty(member)?.annotations ?? []
    }
    if let type = enumType(name) { return type.member(member)?.annotations ?? [] }
    guard let container = container(name) else { return [] }
    return container.entitySets.first { $0.name == member }?.annotations
      ?? container.singletons.first { $0.name == member }?.annotations
      ?? container.functionImports.first { $0.name == member }?.annotations
      ?? container.actionImports.first { $0.name == member }?.annotations ?? []
  }

  private func declaredAnnotations(_ name: String) -> [EdmAnnotation] {
    switch index.declaration(name) {
    case .entityType(let schema, let place): return schemas[schema].entityTypes[place].annotations
    case .complexType(let schema, let place): return schemas[schema].complexTypes[place].annotations
    case .enumType(let schema, let place): return schemas[schema].enumTypes[place].annotations
    case .typeDefinition(let schema, let place): return schemas[schema].typeDefinitions[place].annotations
    case .container(let schema, let place): return schemas[schema].containers[place].annotations
    case nil: break
    }
    if let term = term(name) { return term.annotations }
    if let schema = schemas.first(where: { $0.namespace == name || $0.alias == name }) { return schema.annotations }
    return functions(name).flatMap(\.annotations) + actions(name).flatMap(\.annotations)
  }
}
