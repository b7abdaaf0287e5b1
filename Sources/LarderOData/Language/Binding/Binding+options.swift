// Query options on a resource (URL Conventions 4.01 §5), in the order in which they are evaluated (Protocol §11.2.1).
extension Binding {
  /// Binds the query options of a URL on its resource.
  func bind(
    _ options: ODataQueryOptions, on instance: Instance
  ) throws(ODataBindingError) -> ODataBoundOptions {
    custom = options.custom
    it = instance.single
    try allow(allowed(on: instance.type), options, on: "\(instance.type)", at: .none)
    return try content(options, on: instance)
  }

  /// The places of nested options.
  enum Nesting {
    case expand
    case select
    case count
  }

  /// Binds the options in parentheses of an item of `$expand` or `$select`, or of `$count`.
  func nested(
    _ options: ODataQueryOptions, on instance: Instance?, _ nesting: Nesting, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundOptions {
    try enter(position, levels: 2)
    defer { leave(2) }
    let outer = (current, this, these, isNested, variables)
    // `$count($filter=…)` in a lambda may name the lambda's variable; `$expand` is never in a lambda.
    isNested = true
    defer { (current, this, these, isNested, variables) = outer }
    return try content(options, on: instance)
  }

  /// Binds options that were checked to be allowed.
  func content(
    _ given: ODataQueryOptions, on start: Instance?
  ) throws(ODataBindingError) -> ODataBoundOptions {
    let storage = ODataBoundOptions.Storage()
    copySimple(given, &storage.fields)
    try checkNumbers(given)
    guard var instance = start else { return ODataBoundOptions(storage) }
    scope(instance)
    if let transformations = given.apply {
      let (steps, result) = try apply(transformations, on: instance)
      storage.fields.apply = steps
      instance = result
      scope(instance)
    }
    if !given.compute.isEmpty {
      storage.fields.compute = try compute(given.compute, &instance)
      scope(instance)
    }
    if let filter = given.filter { storage.fields.filter = try condition(filter) }
    storage.fields.search = given.search
    storage.fields.orderBy = try orderBy(given.orderBy)
    if dialect == .v2, !given.expand.isEmpty || !given.select.isEmpty {
      let nested = try nestedV2(given, on: instance)
      storage.fields.expand = try expand(nested.expand, on: instance)
      storage.fields.select = try select(nested.select, on: instance)
    } else {
      storage.fields.expand = try expand(given.expand, on: instance)
      storage.fields.select = try select(given.select, on: instance)
    }
    storage.fields.type = instance.type
    if !usedCustom.isEmpty { storage.fields.custom.removeAll { usedCustom.contains($0.name) } }
    return ODataBoundOptions(storage)
  }

  /// Sets the instance on which names are looked up.
  func scope(_ instance: Instance) {
    let single = instance.single
    current = single
    this = single
    these = instance
  }

  private func copySimple(_ given: ODataQueryOptions, _ bound: inout ODataBoundOptions.Fields) {
    bound.skip = given.skip
    bound.top = given.top
    bound.count = given.count
    bound.levels = given.levels
    bound.index = given.index
    bound.format = given.format
    bound.schemaVersion = given.schemaVersion
    bound.skipToken = given.skipToken
    bound.deltaToken = given.deltaToken
    bound.id = given.id
    bound.custom = given.custom
  }

  private func checkNumbers(_ given: ODataQueryOptions) throws(ODataBindingError) {
    if let skip = given.skip, skip < 0 {
      throw error(.invalidLiteral("$skip must not be negative"), at: given.positions[.skip])
    }
    if let top = given.top, top < 0 {
      throw error(.invalidLiteral("$top must not be negative"), at: given.positions[.top])
    }
  }

  // MARK: $compute, $orderby

  /// Binds computed properties and adds them to the instances; each can use those before it.
  func compute(
    _ items: [ODataComputeItem], _ instance: inout Instance
  ) throws(ODataBindingError) -> [ODataBoundCompute] {
    let outer = computing
    defer { computing = outer }
    // A separate instance: `$it` and the values of aliases do not have these properties.
    let single = Instance(instance.single.type, source: instance.source, bindings: instance.bindings)
    current = single
    computing = (single, [:])
    var bound: [ODataBoundCompute] = []
    var members: [ODataBoundShape.Member] = []
    for item in items {
      let expression = try bind(item.expression)
      guard !isDeclared(item.alias, instance.type),
        computing?.types.updateValue(expression.type, forKey: item.alias) == nil
      else { throw error(.duplicate("'\(item.alias)'"), at: item.position) }
      bound.append(ODataBoundCompute(expression: expression, alias: item.alias))
      members.append(ODataBoundShape.Member(name: item.alias, type: expression.type, isComputed: true))
    }
    if !members.isEmpty { instance.type = adding(members, to: instance.type) }
    current = instance.single
    return bound
  }

  private func isDeclared(_ name: String, _ type: ODataBoundType) -> Bool {
    if case .shape(let shape) = type.item {
      if shape.member(name) != nil { return true }
      if shape.isClosed { return false }
    }
    return type.structure.map { self.member(name, of: $0) != nil } ?? false
  }

  /// Returns a type with additional properties.
  func adding(_ members: [ODataBoundShape.Member], to type: ODataBoundType) -> ODataBoundType {
    let shape: ODataBoundShape
    if case .shape(let before) = type.item {
      shape = ODataBoundShape(base: before.base, members: before.members + members, isClosed: before.isClosed)
    } else {
      shape = ODataBoundShape(base: type.structure, members: members, isClosed: false)
    }
    return ODataBoundType(.shape(shape), isCollection: type.isCollection, isNullable: type.isNullable)
  }

  func orderBy(_ items: [ODataOrderByItem]) throws(ODataBindingError) -> [ODataBoundOrderBy] {
    var bound: [ODataBoundOrderBy] = []
    bound.reserveCapacity(items.count)
    for item in items {
      let expression = try bind(item.expression)
      // The standard does not say in which order services return binary values (URL Conventions 4.01 §5.1.5).
      let isBinary = !expression.type.isCollection && expression.type.item.primitive == .binary
      guard isBinary || isOrdered(expression.type) else {
        throw error(
          .wrongType(expected: "a value that can be ordered", found: "\(expression.type)"), at: item.expression.position
        )
      }
      bound.append(ODataBoundOrderBy(expression: expression, isDescending: item.isDescending))
    }
    return bound
  }
}
