// Collects the names under the service root.
extension BindingIndexBuilder {
  mutating func declareRoots() {
    var sources: [String: BindingIndex.RootChild] = [:]
    for (name, set) in model.index.entitySets {
      let key = set.name + "|" + set.entityType
      if sources[key] == nil, let type = model.structure(set.entityType) {
        let bindings = BindingPathNode.make(set.navigationPropertyBindings)
        sources[key] = child(ODataNavigationSource(set, type: type, bindings: bindings))
      }
      if let source = sources[key] { roots[name] = source }
    }
    for (name, singleton) in model.index.singletons where roots[name] == nil {
      guard let type = model.structure(singleton.type) else { continue }
      let bindings = BindingPathNode.make(singleton.navigationPropertyBindings)
      roots[name] = child(ODataNavigationSource(singleton, type: type, bindings: bindings))
    }
    let overloads = overloadsOfImports()
    for (name, item) in model.index.functionImports where roots[name] == nil {
      let offered =
        item.function.map { function in (operations[function] ?? []).filter { $0.bindingType == nil && $0.isFunction } }
        ?? overloads[item.name] ?? []
      roots[name] = .imported(
        ODataDeclaredImport(name: item.name, isFunction: true, operations: offered, entitySet: item.entitySet))
    }
    for (name, item) in model.index.actionImports where roots[name] == nil {
      let offered = (operations[item.action] ?? []).filter { $0.bindingType == nil && !$0.isFunction }
      roots[name] = .imported(
        ODataDeclaredImport(name: item.name, isFunction: false, operations: offered, entitySet: item.entitySet))
    }
  }

  private func child(_ source: ODataNavigationSource) -> BindingIndex.RootChild {
    let isNullable = source.singleton?.nullable ?? false
    let type = ODataBoundType(.structure(source.type), isCollection: source.entitySet != nil, isNullable: isNullable)
    let entities = Binding.Instance(
      kept: type, source: ODataBoundSource(source: source, containment: []), bindings: source.bindings)
    return .source(source, entities)
  }

  /// Collects the function imports of V1 to V3, which have signatures of their own; the overloads of each name are
  /// grouped. V3's imports that can be called on their first parameter are also operations.
  private mutating func overloadsOfImports() -> [String: [ODataDeclaredOperation]] {
    var overloads: [String: [ODataDeclaredOperation]] = [:]
    for container in model.schemas.flatMap(\.containers) {
      for item in container.functionImports where item.function == nil {
        let unbound = operation(
          .functionImport(item), name: item.name, isBound: false, item.parameters, item.returnType)
        overloads[item.name, default: []].append(unbound)
        guard item.isBindable == true else { continue }
        let bound = operation(.functionImport(item), name: item.name, isBound: true, item.parameters, item.returnType)
        for spelling in [item.name, container.name + "." + item.name, container.qualifiedName + "." + item.name] {
          operations[spelling, default: []].append(bound)
        }
      }
    }
    return overloads
  }
}
