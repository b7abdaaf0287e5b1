extension SyntaxWriting {
  mutating func options(_ bound: ODataBoundOptions) -> ODataQueryOptions {
    var written = ODataQueryOptions()
    written.apply = bound.apply.map { transformations($0) }
    for item in bound.compute { written.compute.append(compute(item)) }
    written.filter = bound.filter.map { expression($0) }
    written.search = bound.search
    written.orderBy = orderBy(bound.orderBy)
    for item in bound.select {
      written.select.append(
        ODataSelectItem(selectPath(item.path), options: item.options.map { options($0) } ?? ODataQueryOptions()))
    }
    for item in bound.expand { written.expand.append(expand(item)) }
    written.skip = bound.skip
    written.top = bound.top
    written.count = bound.count
    written.levels = bound.levels
    written.index = bound.index
    written.format = bound.format
    written.schemaVersion = bound.schemaVersion
    written.skipToken = bound.skipToken
    written.deltaToken = bound.deltaToken
    written.id = bound.id
    written.custom = bound.custom
    if dialect == .v2 { unnest(&written) }
    return written
  }

  mutating func compute(_ item: ODataBoundCompute) -> ODataComputeItem {
    ODataComputeItem(expression(item.expression), as: item.alias)
  }

  mutating func orderBy(_ items: [ODataBoundOrderBy]) -> [ODataOrderByItem] {
    var written: [ODataOrderByItem] = []
    written.reserveCapacity(items.count)
    for item in items {
      written.append(ODataOrderByItem(expression(item.expression), isDescending: item.isDescending))
    }
    return written
  }

  private mutating func expand(_ item: ODataBoundExpandItem) -> ODataExpandItem {
    var path = path(item.path)
    switch item.content {
    case .entities, .stream: break
    case .references: path.segments.append(ODataPathSegment(.ref))
    case .count: path.segments.append(ODataPathSegment(.count(nil)))
    }
    var written = item.options.map { options($0) } ?? ODataQueryOptions()
    if let unbound = item.unbound {
      (written.compute, written.expand, written.select) = (unbound.compute, unbound.expand, unbound.select)
      aliases += unbound.aliases.filter { given in !aliases.contains { $0.name == given.name } }
    }
    return ODataExpandItem(path, options: written)
  }

  /// The path in `$select`, where an overload is named with its parameters.
  private mutating func selectPath(_ bound: ODataBoundPath) -> ODataPath {
    var path = path(bound)
    guard case .operation(let operation, _)? = bound.segments.last?.kind,
      case .arguments? = path.segments.last?.kind
    else { return path }
    let names = operation.parameters.map { parameter in
      ODataArgument(value: ODataExpression(.path(ODataPath([ODataPathSegment(.name(parameter.name))]))))
    }
    path.segments[path.segments.count - 1] = ODataPathSegment(.arguments(names))
    return path
  }

  /// Converts nested options to V2's paths.
  private func unnest(_ options: inout ODataQueryOptions) {
    var expand: [ODataExpandItem] = []
    for item in options.expand {
      for select in item.options.select {
        options.select.append(ODataSelectItem(ODataPath(item.path.segments + select.path.segments)))
      }
      if item.options.expand.isEmpty { expand.append(ODataExpandItem(item.path)) }
      for inner in item.options.expand {
        expand.append(ODataExpandItem(ODataPath(item.path.segments + inner.path.segments), options: inner.options))
      }
    }
    options.expand = expand
  }
}

extension ODataBoundOptions {
  /// The unbound form: aliases replaced by their values.
  package func syntax(_ dialect: ODataDialect = .v4) -> ODataQueryOptions {
    var writing = SyntaxWriting(dialect: dialect)
    var options = writing.options(self)
    options.aliases = writing.aliases
    return options
  }
}

extension ODataBoundURL {
  /// The unbound form, for printing: names qualified by namespaces, keys in parentheses, literals in the spelling of
  /// their types, and aliases replaced by their values, except those in the path that are not literals.
  package func syntax(_ dialect: ODataDialect = .v4) -> ODataURL {
    var writing = SyntaxWriting(dialect: dialect)
    let resource: ODataResource
    switch self.resource {
    case .service: resource = .service
    case .batch: resource = .batch
    case .metadata(let fragment): resource = .metadata(fragment)
    case .entity(let structure): resource = .entity(castTo: structure?.name)
    case .path(let path): resource = .path(writing.path(path, isResource: true))
    }
    var options = writing.options(self.options)
    if dialect == .v2, case .path(let path) = self.resource { options.custom += parameters(path) }
    options.aliases = writing.aliases
    return ODataURL(serviceRoot: serviceRoot, resource, options: options)
  }

  /// The arguments of V2's function imports, which are query options.
  private func parameters(_ path: ODataBoundPath) -> [ODataCustomOption] {
    guard case .operationImport(_, _, let arguments)? = path.segments.first?.kind else { return [] }
    return arguments.compactMap { argument in
      guard case .literal(let value) = argument.value.kind else { return nil }
      return (try? value.literal(dialect: .v2)).map { ODataCustomOption(name: argument.parameter.name, value: $0) }
    }
  }
}
