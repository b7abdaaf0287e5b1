// Operations and the entity container (CSDL JSON 4.01 §12 and §13).
extension CSDLJSONReading {
  /// Reads an overload of an action or function.
  mutating func readOperation(_ name: String, _ value: JSONNode, at path: String, into schema: inout EdmSchema) {
    guard var object = object(value, at: path) else { return }
    switch object.string("$Kind", &self) {
    case "Function":
      var function = EdmFunction(namespace: schema.namespace, name: name)
      function.isBound = object.bool("$IsBound", &self) ?? false
      function.isComposable = object.bool("$IsComposable", &self) ?? false
      function.entitySetPath = object.string("$EntitySetPath", &self)
      function.parameters = parameters(&object)
      function.returnType = returnType(&object)
      function.annotations = object.annotations
      function.foreignAttributes = object.rest(&self)
      schema.functions.append(function)
    case "Action":
      var action = EdmAction(namespace: schema.namespace, name: name)
      action.isBound = object.bool("$IsBound", &self) ?? false
      action.entitySetPath = object.string("$EntitySetPath", &self)
      action.parameters = parameters(&object)
      action.returnType = returnType(&object)
      action.annotations = object.annotations
      action.foreignAttributes = object.rest(&self)
      schema.actions.append(action)
    case nil: report(.missingAttribute, "an overload of \(name) has no $Kind; it was ignored", at: path)
    case let kind?: report(.unknownElement, "$Kind \(kind) is not an operation; it was ignored", at: path)
    }
  }

  private mutating func parameters(_ operation: inout CSDLJSONObject) -> [EdmParameter] {
    var parameters: [EdmParameter] = []
    let path = operation.path + "/$Parameter"
    for item in operation.items("$Parameter", &self) {
      guard var object = object(item, at: path) else { continue }
      guard let name = object.string("$Name", &self) else {
        report(.missingAttribute, "a parameter has no $Name; it was left out", at: path)
        continue
      }
      var parameter = EdmParameter(name: name, type: object.type(&self))
      parameter.nullable = object.bool("$Nullable", &self) ?? false
      parameter.facets = object.facets(of: parameter.type, &self)
      parameter.annotations = object.annotations
      parameter.foreignAttributes = object.rest(&self)
      parameters.append(parameter)
    }
    return parameters
  }

  private mutating func returnType(_ operation: inout CSDLJSONObject) -> EdmReturnType? {
    guard let value = operation.take("$ReturnType"), var object = object(value, at: operation.path + "/$ReturnType")
    else { return nil }
    var result = EdmReturnType(type: object.type(&self))
    result.nullable = object.bool("$Nullable", &self) ?? false
    result.facets = object.facets(of: result.type, &self)
    result.annotations = object.annotations
    result.foreignAttributes = object.rest(&self)
    return result
  }

  mutating func container(_ name: String, _ content: CSDLJSONObject, in namespace: String) -> EdmEntityContainer {
    var object = content
    var container = EdmEntityContainer(namespace: namespace, name: name)
    container.extends = object.string("$Extends", &self)
    container.annotations = object.annotations
    container.foreignAttributes = object.rest(&self)
    for child in object.children {
      guard let content = self.object(child.value, at: object.path + "/" + child.name) else { continue }
      member(child, content, into: &container)
    }
    return container
  }

  /// Reads a member of the container. Its control members determine its kind: `$Action`, `$Function`, `$Collection`, or
  /// only `$Type` (§13).
  private mutating func member(
    _ child: CSDLJSONObject.Child, _ content: CSDLJSONObject, into container: inout EdmEntityContainer
  ) {
    var object = content
    let kind = object.string("$Kind", &self)
    let annotations = object.annotations + child.annotations
    if let action = object.string("$Action", &self) {
      check(kind, is: "ActionImport", object)
      var item = EdmActionImport(name: child.name, action: action)
      item.entitySet = object.string("$EntitySet", &self)
      item.annotations = annotations
      item.foreignAttributes = object.rest(&self)
      return container.actionImports.append(item)
    }
    if let function = object.string("$Function", &self) {
      check(kind, is: "FunctionImport", object)
      var item = EdmFunctionImport(name: child.name)
      item.function = function
      item.entitySet = object.string("$EntitySet", &self)
      item.includeInServiceDocument = object.bool("$IncludeInServiceDocument", &self)
      item.annotations = annotations
      item.foreignAttributes = object.rest(&self)
      return container.functionImports.append(item)
    }
    guard let type = object.string("$Type", &self) else {
      report(.missingAttribute, "\(child.name) has no $Type; it was ignored", at: object.path)
      return
    }
    let bindings = bindings(&object)
    let collection = object.bool("$Collection", &self)
    let isSet = collection ?? (kind == "EntitySet")
    if isSet, collection == nil {
      report(
        .missingAttribute, "$Kind is EntitySet without $Collection; it was read as an entity set", at: object.path)
    }
    check(kind, is: isSet ? "EntitySet" : "Singleton", object)
    if isSet {
      var set = EdmEntitySet(name: child.name, entityType: type)
      set.includeInServiceDocument = object.bool("$IncludeInServiceDocument", &self)
      set.navigationPropertyBindings = bindings
      set.annotations = annotations
      set.foreignAttributes = object.rest(&self)
      container.entitySets.append(set)
    } else {
      var singleton = EdmSingleton(name: child.name, type: type)
      singleton.nullable = object.bool("$Nullable", &self)
      singleton.navigationPropertyBindings = bindings
      singleton.annotations = annotations
      singleton.foreignAttributes = object.rest(&self)
      container.singletons.append(singleton)
    }
  }

  /// Reports a `$Kind`, which is not needed here, if it contradicts the other members.
  private mutating func check(_ kind: String?, is actualKind: String, _ object: CSDLJSONObject) {
    guard let kind, kind != actualKind else { return }
    report(
      .invalidValue, "$Kind is \(kind), but the other members are those of \(actualKind): it was read as \(actualKind)",
      at: object.path)
  }

  private mutating func bindings(_ object: inout CSDLJSONObject) -> [EdmNavigationPropertyBinding] {
    var bindings: [EdmNavigationPropertyBinding] = []
    for binding in object.members("$NavigationPropertyBinding", &self) {
      guard let target = binding.value.string else {
        report(.invalidValue, "the binding of \(binding.name) has no target; it was left out", at: object.path)
        continue
      }
      bindings.append(EdmNavigationPropertyBinding(path: binding.name, target: target))
    }
    return bindings
  }
}
