extension SyntaxWriting {
  /// Converts a path; in the path of a URL, arguments that are not literals become aliases.
  mutating func path(_ bound: ODataBoundPath, isResource: Bool = false) -> ODataPath {
    var segments: [ODataPathSegment] = []
    segments.reserveCapacity(bound.segments.count + 1)
    for segment in bound.segments { append(segment, &segments, isResource: isResource) }
    if isResource, dialect == .v2 { writeLinks(&segments) }
    return ODataPath(root: root(bound.root), segments)
  }

  private mutating func root(_ root: ODataBoundPath.Root) -> ODataPath.Root {
    switch root {
    case .implicit: .implicit
    case .it: .it
    case .this: .this
    case .these: .these
    case .root: .root
    case .variable(let name): .variable(name)
    case .expression(let value): .expression(expression(value))
    }
  }

  private mutating func append(
    _ segment: ODataBoundSegment, _ segments: inout [ODataPathSegment], isResource: Bool
  ) {
    switch segment.kind {
    case .key(let parts): segments.append(ODataPathSegment(key(parts, isResource: isResource), at: segment.position))
    case .operation(let operation, let arguments):
      segments.append(ODataPathSegment(.qualifiedName(operation.name), at: segment.position))
      self.arguments(operation, arguments, &segments, isResource: isResource)
    case .rollupNode(let number):
      segments.append(ODataPathSegment(.qualifiedName(Binding.rollupNode), at: segment.position))
      let position = ODataExpression(.literal(.int32(Int32(clamping: number))))
      segments.append(ODataPathSegment(.arguments([ODataArgument(name: "Position", value: position)])))
    case .operationImport(let item, let operation, let arguments):
      segments.append(ODataPathSegment(.name(item.name), at: segment.position))
      self.arguments(operation, arguments, &segments, isResource: isResource)
    default: segments.append(ODataPathSegment(kind(segment.kind), at: segment.position))
    }
  }

  private mutating func kind(_ kind: ODataBoundSegment.Kind) -> ODataPathSegment.Kind {
    switch kind {
    case .source(let source): .name(source.name)
    case .property(let property): .name(property.name)
    case .navigation(let property): .name(property.name)
    // A type that occurs in the data, which was not looked up.
    case .dynamic(let name) where name.utf8.contains(UInt8(ascii: ".")): .qualifiedName(name)
    case .dynamic(let name), .computed(let name): .name(name)
    case .ordinal(let place): .text(String(place))
    case .cast(let structure): .qualifiedName(structure.name)
    case .operations(let name): .qualifiedName(name)
    case .annotation(let term, let qualifier): .annotation(term: term, qualifier: qualifier)
    case .count(let options): .count(options.map { self.options($0) })
    case .value: .value
    case .ref: .ref
    case .each: .each
    case .query: .query
    case .filter(let condition): .filter(expression(condition))
    case .any(let lambda): .any(lambda.map { self.lambda($0) })
    case .all(let lambda): .all(self.lambda(lambda))
    case .aggregate(let aggregate): .aggregate(self.aggregate(aggregate))
    case .star: .star
    case .allOperations(let namespace): .allOperations(namespace)
    case .crossjoin(let sources): .crossjoin(sources.map(\.name))
    case .allEntities, .key, .operation, .operationImport, .rollupNode: .allEntities
    }
  }

  private mutating func lambda(_ lambda: ODataBoundLambda) -> ODataLambda {
    ODataLambda(variable: lambda.variable, predicate: expression(lambda.predicate))
  }

  /// A key of one part is written without its name.
  private mutating func key(_ parts: [ODataBoundKeyPart], isResource: Bool) -> ODataPathSegment.Kind {
    var arguments: [ODataArgument] = []
    for part in parts where !part.isImplied {
      guard let value = part.value else { continue }
      let name = parts.count == 1 ? nil : part.part.name
      arguments.append(ODataArgument(name: name, value: isResource ? pathValue(value) : expression(value)))
    }
    return .arguments(arguments)
  }

  private mutating func arguments(
    _ operation: ODataDeclaredOperation, _ bound: [ODataBoundArgument], _ segments: inout [ODataPathSegment],
    isResource: Bool
  ) {
    // Actions have their parameters in the body; V2 has those of functions as query options.
    guard operation.isFunction, dialect == .v4 || !isResource else { return }
    var arguments: [ODataArgument] = []
    for argument in bound {
      let value = isResource ? pathValue(argument.value) : expression(argument.value)
      arguments.append(ODataArgument(name: argument.parameter.name, value: value))
    }
    segments.append(ODataPathSegment(.arguments(arguments)))
  }

  /// Converts `Orders(1)/Items(2)/$ref` to V2's `Orders(1)/$links/Items(2)`.
  private func writeLinks(_ segments: inout [ODataPathSegment]) {
    guard case .ref? = segments.last?.kind else { return }
    segments.removeLast()
    var place = segments.count - 1
    while place > 0, case .arguments = segments[place].kind { place -= 1 }
    segments.insert(ODataPathSegment(.links), at: max(place, 0))
  }
}

extension ODataBoundPath {
  /// The unbound form.
  package func syntax(_ dialect: ODataDialect = .v4) -> ODataPath {
    var writing = SyntaxWriting(dialect: dialect)
    return writing.path(self)
  }
}
