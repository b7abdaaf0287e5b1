internal import LarderOData

// Actions, functions and their imports. Those with parameters or results without a Swift form are omitted.
extension Planner {
  /// Plans the operations that are bound to entities or to entity sets.
  mutating func boundOperations() -> [OperationPlan] {
    var plans: [OperationPlan] = []
    for schema in model.schemas {
      for function in schema.functions where function.isBound {
        plans += operation(
          function.name, function.qualifiedName, .function, function.parameters, function.returnType, function)
      }
      for action in schema.actions where action.isBound {
        plans += operation(action.name, action.qualifiedName, .action, action.parameters, action.returnType, action)
      }
    }
    return plans
  }

  /// Plans the imports of a container.
  mutating func imports(of container: EdmEntityContainer) -> [OperationPlan] {
    var plans: [OperationPlan] = []
    for item in container.functionImports {
      guard let name = item.function else {
        let form = OperationPlan.Form.queryFunction(isPost: item.httpMethod?.uppercased() == "POST")
        plans += operation(
          item.name, item.name, form, item.parameters, item.returnType, item, isImport: true)
        continue
      }
      for schema in model.schemas {
        for function in schema.functions where function.qualifiedName == model.resolve(name) && !function.isBound {
          plans += operation(
            item.name, item.name, .function, function.parameters, function.returnType, function, isImport: true)
        }
      }
    }
    for item in container.actionImports {
      for schema in model.schemas {
        for action in schema.actions where action.qualifiedName == model.resolve(item.action) && !action.isBound {
          plans += operation(
            item.name, item.name, .action, action.parameters, action.returnType, action, isImport: true)
        }
      }
    }
    return plans
  }

  /// Plans one operation; empty if it is omitted.
  private mutating func operation(
    _ name: String, _ serviceName: String, _ form: OperationPlan.Form, _ parameters: [EdmParameter],
    _ returnType: EdmReturnType?, _ element: some EdmAnnotatable, isImport: Bool = false
  ) -> [OperationPlan] {
    var parameters = parameters[...]
    var binding = OperationPlan.Binding.service
    if !isImport {
      guard let first = parameters.popFirst(), case .value(let type, .entity) = types.form(first.type) else {
        omit(.operation, serviceName)
        return []
      }
      binding = first.type.isCollection ? .entities(type) : .entity(type)
    }
    var table = NameTable()
    var plan = OperationPlan(
      name: Planner.operationName(name), serviceName: serviceName, binding: binding, form: form,
      documentation: annotations.documentation(of: element, target: serviceName), parameters: [], result: nil,
      isResultOptional: false)
    for parameter in parameters {
      guard case .value(let type, let kind) = types.form(parameter.type), accepts(form, kind, parameter.type) else {
        omit(.operation, serviceName)
        return []
      }
      plan.parameters.append(
        (
          table.take(NameTable.parameter(parameter.name)), parameter.name,
          parameter.type.isCollection ? "[\(type)]" : type, parameter.isNullable && !parameter.type.isCollection
        ))
    }
    if let returnType {
      guard case .value(let type, let kind) = types.form(returnType.type), kind != .stream else {
        omit(.operation, serviceName)
        return []
      }
      plan.result = returnType.type.isCollection ? "[\(type)]" : type
      plan.isResultOptional = !returnType.type.isCollection && returnType.isNullable
    }
    return [plan]
  }

  /// Whether an operation can be called with a parameter: URLs have room for primitive values alone.
  private func accepts(_ form: OperationPlan.Form, _ kind: MemberPlan.Kind, _ type: EdmTypeReference) -> Bool {
    if case .action = form { return kind == .primitive || kind == .complex }
    return kind == .primitive && !type.isCollection
  }

  /// The name of a method. A name of the typed stores' own gets a suffix.
  private static func operationName(_ name: String) -> String {
    let member = SwiftIdentifier.member(SwiftIdentifier.type(name))
    return SwiftKeywords.methods.contains(member) ? member + "Operation" : member
  }
}
