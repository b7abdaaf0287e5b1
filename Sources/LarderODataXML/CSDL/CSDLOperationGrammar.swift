internal import LarderOData

/// `Function`, `Action` and their signatures (CSDL XML 4.01 §12; V3's model functions).
enum CSDLOperationGrammar {
  static func function(
    _ element: inout CSDLElement, _ namespace: String, _ reading: CSDLReading,
    deliver: @escaping (EdmFunction) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
    var function = EdmFunction(namespace: namespace, name: name)
    function.isBound = element.takeBool("IsBound", reading) ?? false
    function.isComposable = element.takeBool("IsComposable", reading) ?? false
    function.entitySetPath = element.take("EntitySetPath")
    if let type = element.takeType("ReturnType") { function.returnType = EdmReturnType(type: type) }
    function.foreignAttributes = element.rest(reading)
    return ElementFrame("Function", name, function) { element, frame, reading in
      switch element.name {
      case "Parameter": return parameter(&element, reading) { frame.element.parameters.append($0) }
      case "ReturnType": return returnType(&element, reading) { frame.element.returnType = $0 }
      default: return nil
      }
    } deliver: {
      deliver($0)
    }
  }

  static func action(
    _ element: inout CSDLElement, _ namespace: String, _ reading: CSDLReading, deliver: @escaping (EdmAction) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
    var action = EdmAction(namespace: namespace, name: name)
    action.isBound = element.takeBool("IsBound", reading) ?? false
    action.entitySetPath = element.take("EntitySetPath")
    // Drafts of V4 had the return type as an attribute.
    if let type = element.takeType("ReturnType") { action.returnType = EdmReturnType(type: type) }
    action.foreignAttributes = element.rest(reading)
    return ElementFrame("Action", name, action) { element, frame, reading in
      switch element.name {
      case "Parameter": return parameter(&element, reading) { frame.element.parameters.append($0) }
      case "ReturnType": return returnType(&element, reading) { frame.element.returnType = $0 }
      default: return nil
      }
    } deliver: {
      deliver($0)
    }
  }

  static func parameter(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmParameter) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
    let type = element.takeType()
    var parameter = EdmParameter(name: name, type: type ?? .abstract(.untyped))
    parameter.nullable = element.takeBool("Nullable", reading)
    parameter.facets = element.takeFacets(reading)
    parameter.mode = element.take("Mode")
    parameter.foreignAttributes = element.rest(reading)
    let start = element
    return ElementFrame("Parameter", name, parameter) { element, frame, reading in
      CSDLTypeElement.frame(&element, reading) { $0.apply(to: &frame.element) }
    } deliver: { parameter in
      if type == nil, parameter.type.item == .abstract(.untyped) {
        reading.report(.missingAttribute, "\(name) has no Type; it is treated as Edm.Untyped", at: start)
      }
      deliver(parameter)
    }
  }

  static func returnType(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmReturnType) -> Void
  ) -> CSDLFrame {
    let type = element.takeType()
    var result = EdmReturnType(type: type ?? .abstract(.untyped))
    result.nullable = element.takeBool("Nullable", reading)
    result.facets = element.takeFacets(reading)
    result.foreignAttributes = element.rest(reading)
    let start = element
    return ElementFrame("ReturnType", nil, result) { element, frame, reading in
      CSDLTypeElement.frame(&element, reading) { $0.apply(to: &frame.element) }
    } deliver: { result in
      if type == nil, result.type.item == .abstract(.untyped) {
        reading.report(.missingAttribute, "ReturnType has no Type; it is treated as Edm.Untyped", at: start)
      }
      deliver(result)
    }
  }
}
