internal import LarderOData

/// An action, a function or an import as the model declares it.
private struct Operation {
  let name: String
  /// The namespace; empty for an import.
  let namespace: String
  /// The name in URLs.
  let path: String
  /// Nil for a method of HTTP by which Larder does not call function imports.
  let form: OperationPlan.Form?
  /// The parameters that a call gives: without that for what the operation is bound to.
  let parameters: [EdmParameter]
  let returnType: EdmReturnType?
  let element: any EdmAnnotatable
  /// The import of the operation, if it is one of V4.
  let imported: Import?
  /// The targets of annotations that are written separately, as CSDL 4.01 §14.2.1 has them, without spaces: the import,
  /// the overload, and all overloads.
  let targets: [String]

  /// An import of V4.
  typealias Import = (name: String, element: any EdmAnnotatable, target: String)

  init(_ function: EdmFunction, importedAs imported: Import? = nil) {
    name = imported?.name ?? function.name
    namespace = imported == nil ? function.namespace : ""
    path = imported?.name ?? function.qualifiedName
    form = .function
    parameters = Array(function.parameters.dropFirst(function.isBound ? 1 : 0))
    returnType = function.returnType
    (element, self.imported) = (function, imported)
    targets =
      [imported?.target].compactMap(\.self) + [
        Operation.target(function.qualifiedName, function.parameters[...]), function.qualifiedName,
      ]
  }

  init(_ action: EdmAction, importedAs imported: Import? = nil) {
    name = imported?.name ?? action.name
    namespace = imported == nil ? action.namespace : ""
    path = imported?.name ?? action.qualifiedName
    form = .action
    parameters = Array(action.parameters.dropFirst(action.isBound ? 1 : 0))
    returnType = action.returnType
    (element, self.imported) = (action, imported)
    // The standard names the type of the binding parameter alone. Microsoft Graph names all types, as for a function.
    targets =
      [imported?.target].compactMap(\.self) + [
        Operation.target(action.qualifiedName, action.parameters.prefix(action.isBound ? 1 : 0)),
        Operation.target(action.qualifiedName, action.parameters[...]), action.qualifiedName,
      ]
  }

  /// The name of an overload.
  static func target(_ name: String, _ parameters: ArraySlice<EdmParameter>) -> String {
    "\(name)(\(parameters.map { "\($0.type)" }.joined(separator: ",")))"
  }

  /// A function import of V2 or V3. If `m:HttpMethod` does not say how to call it, `IsSideEffecting` of V3 does. It is
  /// true by default, but never for an import that can be composed (CSDL 3.0, `FunctionImport`): then the import is an
  /// action ([MS-ODATA] §2.2.1.3).
  init(_ item: EdmFunctionImport, path: String, version: ODataVersion, target: String) {
    let hasSideEffects = item.isSideEffecting ?? (version == .v3 && item.isComposable != true)
    (name, namespace, self.path) = (item.name, "", path)
    switch item.httpMethod?.uppercased() {
    case "GET": form = .queryFunction(isPost: false)
    case "POST": form = .queryFunction(isPost: true)
    case nil: form = version == .v3 && hasSideEffects ? .action : .queryFunction(isPost: hasSideEffects)
    default: form = nil
    }
    // SAP Gateway declares only the parameters of V2 that can be null.
    parameters = item.parameters.dropFirst(item.isBindable == true ? 1 : 0).map { parameter in
      var parameter = parameter
      if version == .v2 { parameter.nullable = parameter.nullable ?? false }
      return parameter
    }
    returnType = item.returnType
    (element, imported, targets) = (item, nil, [target])
  }

  /// Whether an operation of a derived type replaces one of a base type: it has its name and parameters.
  func replaces(_ other: Operation) -> Bool {
    path == other.path && parameters.map(\.name) == other.parameters.map(\.name)
      && parameters.map(\.type) == other.parameters.map(\.type)
  }
}

// Actions, functions and their imports. Those with parameters or results without a Swift form are omitted.
extension Planner {
  /// By the name of an entity type, the operations that are bound to its entities, and those bound to collections.
  private typealias Bound = [String: (entity: [Operation], entities: [Operation])]

  /// Plans the operations that are bound to entities or to entity sets, for their types and all types that derive from
  /// them, by the types' Swift names.
  mutating func boundOperations() -> [OperationPlan] {
    var bound: Bound = [:]
    for schema in model.schemas {
      for function in schema.functions where function.isBound {
        bind(Operation(function), to: function.parameters.first, &bound)
      }
      for action in schema.actions where action.isBound {
        bind(Operation(action), to: action.parameters.first, &bound)
      }
      for container in schema.containers {
        for item in container.functionImports where item.function == nil && item.isBindable == true {
          bind(operation(item, of: container, in: container), to: item.parameters.first, &bound)
        }
      }
    }
    guard !bound.isEmpty else { return [] }
    var plans: [OperationPlan] = []
    for type in selection.types.sorted(by: { (names[$0] ?? "", $0) < (names[$1] ?? "", $1) }) {
      guard let name = names[type], let structure = model.structure(type), structure.isEntityType else { continue }
      let levels = structure.chain.compactMap { bound[$0.name] }
      let navigation = self.levels(of: structure).flatMap { $0.navigation.map(\.name) }
      plans += operations(Planner.inherited(levels.map(\.entity)), of: .entity(name), beside: navigation)
      plans += operations(Planner.inherited(levels.map(\.entities)), of: .entities(name), beside: [])
    }
    return plans
  }

  /// Plans the imports of a container, beside its sets with the given Swift names.
  mutating func imports(of container: EdmEntityContainer, beside sets: [String]) -> [OperationPlan] {
    let parts = parts(of: container)
    var operations: [Operation] = []
    for (item, part) in imports(of: parts, \.functionImports, named: \.name) {
      guard let name = item.function else {
        if item.isBindable != true { operations.append(operation(item, of: part, in: container)) }
        continue
      }
      let functions = model.functions(name).filter { !$0.isBound }
      if functions.isEmpty { omit(.unknownOperation, "\(container.qualifiedName)/\(item.name)") }
      let imported = (item.name, item as any EdmAnnotatable, "\(part.qualifiedName)/\(item.name)")
      operations += functions.map { Operation($0, importedAs: imported) }
    }
    for (item, part) in imports(of: parts, \.actionImports, named: \.name) {
      let actions = model.actions(item.action).filter { !$0.isBound }
      if actions.isEmpty { omit(.unknownOperation, "\(container.qualifiedName)/\(item.name)") }
      let imported = (item.name, item as any EdmAnnotatable, "\(part.qualifiedName)/\(item.name)")
      operations += actions.map { Operation($0, importedAs: imported) }
    }
    return self.operations(operations, of: .service, beside: sets)
  }

  /// A function import of V2 or V3, which `part` declares: a container, or one that it extends.
  private func operation(
    _ item: EdmFunctionImport, of part: EdmEntityContainer, in container: EdmEntityContainer
  ) -> Operation {
    Operation(
      item, path: path(of: item.name, in: container), version: model.version,
      target: "\(part.qualifiedName)/\(item.name)")
  }

  /// The imports of containers; those of a base container only if no container before it has imports of that name.
  private func imports<Import>(
    of parts: [EdmEntityContainer], _ imports: (EdmEntityContainer) -> [Import], named name: (Import) -> String
  ) -> [(item: Import, part: EdmEntityContainer)] {
    var names: Set<String> = []
    return parts.flatMap { part in
      let own = imports(part).filter { !names.contains(name($0)) }
      names.formUnion(own.map(name))
      return own.map { ($0, part) }
    }
  }

  private mutating func bind(_ operation: Operation, to parameter: EdmParameter?, _ bound: inout Bound) {
    guard let type = parameter?.type, case .named(let name) = type.item,
      let structure = model.structure(model.resolve(name)), structure.isEntityType
    else {
      if let type = parameter?.type, case .excluded = types.form(type) { return }
      return omit(.operation, omissionName(operation))
    }
    if type.isCollection {
      bound[structure.name, default: ([], [])].entities.append(operation)
    } else {
      bound[structure.name, default: ([], [])].entity.append(operation)
    }
  }

  /// The operations of a type: those of its base types, unless a derived type replaces them, then its own.
  private static func inherited(_ levels: [[Operation]]) -> [Operation] {
    var all: [Operation] = []
    for level in levels {
      let inherited = all.count
      for operation in level {
        if let place = all[..<inherited].firstIndex(where: operation.replaces) {
          all[place] = operation
        } else {
          all.append(operation)
        }
      }
    }
    return all
  }

  /// Plans operations that are methods of one type. Those that are omitted have names too, so that the names of the
  /// others do not depend on the selection.
  private mutating func operations(
    _ operations: [Operation], of binding: OperationPlan.Binding, beside properties: [String]
  ) -> [OperationPlan] {
    var methods = MethodNames(properties: names.all.union(properties))
    var plans: [OperationPlan] = []
    for operation in operations {
      var table = NameTable(taken: names.all)
      let labels = operation.parameters.map { table.take(NameTable.parameter($0.name)) }
      let signature = zip(labels, operation.parameters).map { "\($0): \(signatureType($1, of: operation))" }
      let name = methods.take(operation.name, namespace: operation.namespace, signature: signature)
      switch plan(operation, name, labels, of: binding) {
      case .planned(let plan): plans.append(plan)
      case .excluded: break
      case .omitted: omit(.operation, omissionName(operation))
      }
    }
    return plans
  }

  /// The name of an operation, for an overload with the types of its parameters, as targets of annotations have it
  /// (CSDL 4.01 §14.2.1).
  private func omissionName(_ operation: Operation) -> String {
    let parameters: [EdmParameter]
    let overloads: Int
    if let function = operation.element as? EdmFunction {
      (parameters, overloads) = (function.parameters, model.functions(function.qualifiedName).count)
    } else if let action = operation.element as? EdmAction {
      (parameters, overloads) = (action.parameters, model.actions(action.qualifiedName).count)
    } else {
      return operation.path
    }
    return overloads == 1 ? operation.path : Operation.target(operation.path, parameters[...])
  }

  private enum Planned {
    case planned(OperationPlan)
    /// It has no Swift form.
    case omitted
    /// It has a type that is left out.
    case excluded
  }

  private func plan(
    _ operation: Operation, _ name: String, _ labels: [String], of binding: OperationPlan.Binding
  ) -> Planned {
    let valueTypes = operation.parameters.map(\.type) + [operation.returnType?.type].compactMap(\.self)
    if valueTypes.contains(where: { if case .excluded = types.form($0) { true } else { false } }) { return .excluded }
    guard let form = operation.form else { return .omitted }
    let elements = [operation.imported?.element, operation.element].compactMap(\.self)
    let all = annotations.annotations(of: elements, targets: operation.targets)
    var plan = OperationPlan(
      name: name, serviceName: operation.path, binding: binding, form: form,
      documentation: annotations.documentation(of: operation.element, in: all),
      deprecation: annotations.deprecation(in: all), parameters: [],
      result: nil, isResultOptional: false)
    for (label, parameter) in zip(labels, operation.parameters) {
      guard case .value(var type, let kind) = types.form(parameter.type),
        accepts(form, kind, of: type, isCollection: parameter.type.isCollection)
      else { return .omitted }
      if kind == .entity { type += ".Create" }
      let isOmittable = annotations.isOmittable(parameter, of: operation.targets)
      plan.parameters.append(
        OperationPlan.Parameter(
          name: label, serviceName: parameter.name, type: parameter.type.isCollection ? "[\(type)]" : type,
          isOptional: isOmittable || parameter.isNullable && !parameter.type.isCollection, isOmittable: isOmittable,
          entityType: kind == .entity ? parameter.type.name.map(model.resolve) : nil))
    }
    guard let returnType = operation.returnType else {
      // A function returns something (CSDL 4.01 §12.2).
      if case .function = form { return .omitted }
      return .planned(plan)
    }
    guard case .value(let type, let kind) = types.form(returnType.type) else { return .omitted }
    if kind == .stream {
      if returnType.type.isCollection { return .omitted }
      if case .queryFunction = form { return .omitted }
      (plan.result, plan.isStream, plan.isResultOptional) = ("[UInt8]", true, returnType.isNullable)
      return .planned(plan)
    }
    plan.result = returnType.type.isCollection ? "[\(type)]" : type
    plan.isResultOptional = !returnType.type.isCollection && returnType.isNullable
    return .planned(plan)
  }

  /// What distinguishes the types of parameters in Swift, whether they are generated or not: two primitive types can
  /// have one Swift type, and a type definition is an alias.
  private func signatureType(_ parameter: EdmParameter, of operation: Operation) -> String {
    var text: String
    switch parameter.type.item {
    case .primitive(let primitive): text = Planner.signatureType(primitive)
    case .named(let name):
      text =
        model.typeDefinition(model.resolve(name)).map { Planner.signatureType($0.underlyingType) }
        ?? model.resolve(name)
    case .abstract, .collection: text = "\(parameter.type.item)"
    }
    let isOmittable = annotations.isOmittable(parameter, of: operation.targets)
    let isOptional = isOmittable || parameter.isNullable && !parameter.type.isCollection
    if parameter.type.isCollection { text = "[\(text)]" }
    if isOptional { text += "?" }
    return text
  }

  private static func signatureType(_ type: EdmPrimitiveType) -> String {
    if case .value(let name, _) = SwiftTypes.form(type) { name } else { "\(type)" }
  }

  /// Whether an operation can be called with a parameter of a Swift type. Before V4, URLs have primitive values alone.
  private func accepts(
    _ form: OperationPlan.Form, _ kind: MemberPlan.Kind, of name: String, isCollection: Bool
  ) -> Bool {
    switch (form, kind) {
    case (.action, .entity): creatable.contains(name)
    case (.action, .primitive), (.action, .complex), (.function, .primitive), (.function, .complex): true
    case (.queryFunction, .primitive): !isCollection
    default: false
    }
  }
}
