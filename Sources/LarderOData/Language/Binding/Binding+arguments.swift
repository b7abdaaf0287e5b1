// Arguments of functions and actions: by name, through aliases, as query options (§4.5.2, §5.3).
extension Binding {
  /// Takes the arguments after an operation's name; nil if there are no parentheses.
  func takeArguments(_ segments: [ODataPathSegment], _ walk: inout Walk) -> [ODataArgument]? {
    guard walk.next < segments.count, case .arguments(let arguments) = segments[walk.next].kind else { return nil }
    walk.next += 1
    return arguments
  }

  /// Chooses the overload that has the named parameters. Parentheses that match no overload are not taken: they are a
  /// key.
  func overload(
    _ candidates: [ODataDeclaredOperation], named name: String, arguments given: [ODataArgument]?, _ walk: inout Walk,
    at position: SourcePosition
  ) throws(ODataBindingError) -> ODataDeclaredOperation {
    var names: [String] = []
    var distinctNames: Set<String> = []
    for argument in given ?? [] {
      guard let name = argument.name else {
        throw error(
          .noOverload(name, found: ["a value without a name"], expected: signatures(candidates)), at: position)
      }
      guard distinctNames.insert(name).inserted else { throw error(.duplicate("'\(name)'"), at: position) }
      names.append(name)
    }
    let implicit = given == nil ? implicitNames : []
    // The overload with the fewest defaulted parameters wins; then the one with the nearest binding type (candidates
    // are in that order).
    var best: (operation: ODataDeclaredOperation, remaining: Int)?
    for operation in candidates where isCallable(operation, names, implicit) || !operation.isFunction && given == nil {
      let remaining = operation.parameters.count - (given == nil ? implicitCount(operation, implicit) : names.count)
      if best.map({ remaining < $0.remaining }) ?? true { best = (operation, remaining) }
    }
    guard let best else { throw noOverload(name, names, candidates, at: position) }
    return best.operation
  }

  private func isCallable(_ operation: ODataDeclaredOperation, _ names: [String], _ implicit: Set<String>) -> Bool {
    names.count <= operation.parameters.count
      && operation.parameters.allSatisfy {
        names.contains($0.name) || implicit.contains($0.name) || $0.isOptional || canBeOmitted($0)
      }
      && names.allSatisfy { name in operation.parameters.contains { $0.name == name } }
  }

  /// V2 lets nullable parameters be omitted ([MS-ODATA] §2.2.3.3).
  private func canBeOmitted(_ parameter: ODataDeclaredOperation.Parameter) -> Bool {
    dialect == .v2 && parameter.type.isNullable && parameter.parameter.nullable == true
  }

  private func implicitCount(_ operation: ODataDeclaredOperation, _ implicit: Set<String>) -> Int {
    operation.parameters.reduce(0) { $0 + (implicit.contains($1.name) ? 1 : 0) }
  }

  /// The names that can be parameters without being in parentheses: query options, and aliases of the parameters'
  /// names.
  private var implicitNames: Set<String> {
    guard !custom.isEmpty || !aliases.isEmpty else { return [] }
    return Set(custom.map(\.name) + aliases.map(\.name))
  }

  func noOverload(
    _ name: String, _ found: [String], _ candidates: [ODataDeclaredOperation], at position: SourcePosition
  ) -> ODataBindingError {
    error(.noOverload(name, found: found, expected: signatures(candidates)), at: position)
  }

  private func signatures(_ candidates: [ODataDeclaredOperation]) -> [String] {
    candidates.map { "(" + $0.parameters.map(\.name).joined(separator: ",") + ")" }
  }

  /// Binds arguments in the order of the parameters.
  func arguments(
    _ given: [ODataArgument]?, _ operation: ODataDeclaredOperation, at position: SourcePosition
  ) throws(ODataBindingError) -> [ODataBoundArgument] {
    var bound: [ODataBoundArgument] = []
    for parameter in operation.parameters {
      let value: ODataBoundExpression
      if let argument = given?.first(where: { $0.name == parameter.name }) {
        value = try bind(argument.value)
      } else if given == nil, let option = custom.first(where: { $0.name == parameter.name }) {
        usedCustom.insert(option.name)
        value = try self.value(option, of: parameter)
      } else if given == nil, aliases.contains(where: { $0.name == parameter.name }) {
        value = try alias(parameter.name, at: position)
      } else {
        continue
      }
      let fitted = try fit(value, to: parameter.type, of: "'\(parameter.name)'", at: position)
      bound.append(ODataBoundArgument(parameter: parameter, value: fitted))
    }
    return bound
  }

  /// Binds the value of a query option that is a parameter: an expression, as in an alias.
  private func value(
    _ option: ODataCustomOption, of parameter: ODataDeclaredOperation.Parameter
  ) throws(ODataBindingError) -> ODataBoundExpression {
    let parser = ODataParser(options: ODataParserOptions(version: options.version, isPercentEncoded: false))
    let expression: ODataExpression
    do {
      expression = try parser.expression(option.value ?? "null")
    } catch {
      throw self.error(.invalidLiteral("the parameter '\(parameter.name)': \(error)"), at: option.position)
    }
    var bound = try bind(expression)
    // Its positions belong to another text.
    bound.position = option.position
    return bound
  }
}
