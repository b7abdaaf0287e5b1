internal import LarderOData

/// `EntityContainer` and its children (CSDL XML 4.01 §13; [MC-CSDL] §2.1.14 to §2.1.20).
enum CSDLContainerGrammar {
  static func container(
    _ element: inout CSDLElement, _ namespace: String, _ reading: CSDLReading,
    deliver: @escaping (EdmEntityContainer) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
    var container = EdmEntityContainer(namespace: namespace, name: name)
    container.extends = element.take("Extends")?.trimmed
    let isDefault = element.takeMetadata("IsDefaultEntityContainer") ?? element.take("IsDefaultEntityContainer")
    container.isDefault = isDefault.flatMap { element.bool($0, "IsDefaultEntityContainer", reading) } ?? false
    container.foreignAttributes = element.rest(reading)
    return ElementFrame("EntityContainer", name, container, grammar: child, deliver: deliver)
  }

  private static func child(
    _ element: inout CSDLElement, _ frame: ElementFrame<EdmEntityContainer>, _ reading: CSDLReading
  ) -> CSDLFrame? {
    switch element.name {
    case "EntitySet": return entitySet(&element, reading) { frame.element.entitySets.append($0) }
    case "Singleton": return singleton(&element, reading) { frame.element.singletons.append($0) }
    case "FunctionImport": return functionImport(&element, reading) { frame.element.functionImports.append($0) }
    case "ActionImport": return actionImport(&element, reading) { frame.element.actionImports.append($0) }
    case "AssociationSet":
      return CSDLAssociationGrammar.associationSet(&element, reading) { frame.element.associationSets.append($0) }
    default: return nil
    }
  }

  private static func entitySet(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmEntitySet) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading), let type = element.takeRequired("EntityType", reading)
    else { return SkippedFrame(element.name) }
    var set = EdmEntitySet(name: name, entityType: type.trimmed)
    set.includeInServiceDocument = element.takeBool("IncludeInServiceDocument", reading)
    set.foreignAttributes = element.rest(reading)
    return ElementFrame("EntitySet", name, set) { element, frame, reading in
      binding(&element, reading) { frame.element.navigationPropertyBindings.append($0) }
    } deliver: {
      deliver($0)
    }
  }

  private static func singleton(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmSingleton) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading), let type = element.takeRequired("Type", reading)
    else { return SkippedFrame(element.name) }
    var singleton = EdmSingleton(name: name, type: type.trimmed)
    singleton.nullable = element.takeBool("Nullable", reading)
    singleton.foreignAttributes = element.rest(reading)
    return ElementFrame("Singleton", name, singleton) { element, frame, reading in
      binding(&element, reading) { frame.element.navigationPropertyBindings.append($0) }
    } deliver: {
      deliver($0)
    }
  }

  private static func binding(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: (EdmNavigationPropertyBinding) -> Void
  ) -> CSDLFrame? {
    guard element.name == "NavigationPropertyBinding" else { return nil }
    guard let path = element.takeRequired("Path", reading), let target = element.takeRequired("Target", reading)
    else { return SkippedFrame(element.name) }
    deliver(EdmNavigationPropertyBinding(path: path, target: target))
    _ = element.rest(reading)
    return BracketFrame(element.name)
  }

  private static func functionImport(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmFunctionImport) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
    var item = EdmFunctionImport(name: name)
    item.function = element.take("Function")?.trimmed
    item.entitySet = element.take("EntitySet")
    item.entitySetPath = element.take("EntitySetPath")
    item.includeInServiceDocument = element.takeBool("IncludeInServiceDocument", reading)
    item.httpMethod = element.takeMetadata("HttpMethod")
    item.isBindable = element.takeBool("IsBindable", reading)
    item.isSideEffecting = element.takeBool("IsSideEffecting", reading)
    item.isComposable = element.takeBool("IsComposable", reading)
    if let type = element.takeType("ReturnType") { item.returnType = EdmReturnType(type: type) }
    item.foreignAttributes = element.rest(reading)
    return ElementFrame("FunctionImport", name, item) { element, frame, reading in
      switch element.name {
      case "Parameter":
        return CSDLOperationGrammar.parameter(&element, reading) { frame.element.parameters.append($0) }
      case "ReturnType":
        frame.element.entitySet = element.take("EntitySet") ?? frame.element.entitySet
        return CSDLOperationGrammar.returnType(&element, reading) { frame.element.returnType = $0 }
      default: return nil
      }
    } deliver: {
      deliver($0)
    }
  }

  private static func actionImport(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmActionImport) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading), let action = element.takeRequired("Action", reading)
    else { return SkippedFrame(element.name) }
    var item = EdmActionImport(name: name, action: action.trimmed)
    item.entitySet = element.take("EntitySet")
    item.foreignAttributes = element.rest(reading)
    return ElementFrame("ActionImport", name, item, deliver: deliver)
  }
}
