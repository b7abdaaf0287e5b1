/// Writes the methods that call actions and functions.
enum OperationWriter {
  /// The methods of entities and entity sets, in extensions of the typed stores' types.
  static func write(_ operations: [OperationPlan], access: GeneratorOptions.Access) -> String {
    var text = SwiftText(access)
    var bindings: [OperationPlan.Binding] = []
    for operation in operations where !bindings.contains(operation.binding) { bindings.append(operation.binding) }
    for (place, binding) in bindings.enumerated() {
      let head: String
      switch binding {
      case .entity(let type): head = "extension ODataEntityReference where Entity == \(type)"
      case .entities(let type): head = "extension ODataEntitySet where Entity == \(type)"
      case .service: continue
      }
      if place > 0 { text.line("") }
      text.block(head) { text in
        for (place, operation) in operations.filter({ $0.binding == binding }).enumerated() {
          if place > 0 { text.line("") }
          write(operation, "self.odataCall(\(SwiftText.literal(operation.serviceName)))", &text)
        }
      }
    }
    return text.text
  }

  /// One method; `call` is the expression that names the operation.
  static func write(_ plan: OperationPlan, _ call: String, _ text: inout SwiftText) {
    let kind: String
    let method: String
    switch plan.form {
    case .function: (kind, method) = ("function", plan.isStream ? "mediaFunction" : "function")
    case .action: (kind, method) = ("action", plan.isStream ? "mediaAction" : "action")
    case .queryFunction(let isPost): (kind, method) = ("function import", isPost ? "postedFunction" : "queryFunction")
    }
    text.document(plan.documentation, else: "Calls the \(kind) `\(plan.serviceName)`.")
    text.deprecate(plan.deprecation)
    let parameters = plan.parameters.map { parameter in
      let name = SwiftIdentifier.declared(parameter.name)
      return "\(name): \(parameter.type)\(parameter.isOptional ? "? = nil" : "")"
    }
    let result = plan.result.map { " -> \($0)\(plan.isResultOptional ? "?" : "")" } ?? ""
    if plan.result != nil, case .action = plan.form { text.line("@discardableResult") }
    text.declareBlock(
      "func \(SwiftIdentifier.declared(plan.name))(\(parameters.joined(separator: ", "))) async throws\(result)"
    ) { text in
      let arguments = plan.parameters.map { parameter in
        let entity = parameter.entityType.map { ", of: \(SwiftText.literal($0))" } ?? ""
        return "\(SwiftText.literal(parameter.serviceName)), \(SwiftIdentifier.declared(parameter.name))\(entity)"
      }
      if case .action = plan.form {
        text.line("\(arguments.isEmpty ? "let" : "var") odataList = ODataPropertyList()")
        for (parameter, argument) in zip(plan.parameters, arguments) {
          text.line("odataList.\(parameter.isOptional ? "setIfGiven" : "set")(\(argument))")
        }
      } else {
        let given = zip(plan.parameters, arguments).filter { !$0.0.isOmittable }.map { "(\($0.1))" }
        let isComplete = given.count == arguments.count
        text.list("\(isComplete ? "let" : "var") odataList: ODataCall.Arguments = [", given, "]")
        for (parameter, argument) in zip(plan.parameters, arguments) where parameter.isOmittable {
          text.line("if let \(SwiftIdentifier.declared(parameter.name)) { odataList.append((\(argument))) }")
        }
      }
      guard let result = plan.result else { return text.line("try await \(call).\(method)(odataList)") }
      let value = "try await \(call).\(method)(\(plan.isStream ? "" : "\(result).self, ")odataList)"
      text.line(plan.isResultOptional ? "return \(value)" : "return try ODataCall.required(\(value.dropFirst(4)))")
    }
  }
}
