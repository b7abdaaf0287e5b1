// Paths in expressions and options: from the current instance, a variable or the service's root, step by step (§5.1.1.15).
extension Binding {
  /// The state while a path is bound.
  struct Walk {
    /// The steps that were bound so far.
    var path: ODataBoundPath
    /// The instance that these steps lead to; nil at the service's root, and after a step without a type.
    var instance: Instance?
    /// The instance before a final `$count`, `$value` or `$ref`: options apply to it.
    var owner: Instance?
    let place: Place
    /// The index of the next step.
    var next = 0
    /// Whether the path contains V2's `$links`.
    var hasLinks = false

    init(_ place: Place, root: ODataBoundPath.Root, _ instance: Instance?) {
      self.place = place
      self.instance = instance
      path = ODataBoundPath(root: root, rootType: instance?.type)
    }

    mutating func append(_ kind: ODataBoundSegment.Kind, _ instance: Instance?, at position: SourcePosition) {
      // Complex properties and primitive values belong to no set.
      var source = instance?.source
      if source != nil, instance?.type.structure?.isEntityType != true { source = nil }
      path.segments.append(ODataBoundSegment(kind, instance?.type, source: source, at: position))
      self.instance = instance
    }
  }

  /// The kinds of places of paths, which determine the allowed steps.
  enum Place {
    /// The path of a URL.
    case resource
    /// An expression.
    case expression
    /// `$select`
    case select
    /// `$expand`
    case expand
    /// The properties that `$apply` names.
    case apply

    /// Whether a name may follow a collection: it then applies to each item.
    var goesThroughCollections: Bool { self == .select || self == .expand || self == .apply }
  }

  /// Binds a path as an expression.
  func path(_ path: ODataPath, at position: SourcePosition) throws(ODataBindingError) -> ODataBoundExpression {
    switch path.root {
    case .alias(let name):
      let value = try alias(name, at: position)
      if path.segments.isEmpty || value.isNull { return value }
      return try continued(value, path, at: position)
    case .expression(let expression):
      let value = try bind(expression)
      return path.segments.isEmpty ? value : try continued(value, path, at: position)
    default: break
    }
    if let property = try property(path, at: position) { return property }
    var walk = try begin(path, .expression, at: position)
    try finish(&walk, path.segments)
    return try expression(walk, at: position)
  }

  /// Binds a path that is the name of a declared property, which is the most frequent case, without a ``Walk``; nil for
  /// other paths.
  private func property(
    _ path: ODataPath, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression? {
    guard case .implicit = path.root, path.segments.count == 1, variables.isEmpty, let current,
      !current.type.isCollection, case .structure(let structure) = current.type.item,
      case .name(let name) = path.segments[0].kind, let member = self.member(name, of: structure)
    else { return nil }
    try enter(position)
    leave()
    let (kind, next) = destination(member, current)
    let type = next.type
    let source = type.structure?.isEntityType == true ? next.source : nil
    let step = ODataBoundSegment(kind, type, source: source, at: path.segments[0].position)
    let bound = ODataBoundPath(root: implicitRoot, rootType: current.type, segments: [step])
    return ODataBoundExpression(.path(bound), type, at: position)
  }

  private func expression(_ walk: Walk, at position: SourcePosition) throws(ODataBindingError) -> ODataBoundExpression {
    guard let type = walk.path.type else {
      throw error(
        .misplacedStep("the end of the path", behind: "$root", reason: "a resource must follow"), at: position)
    }
    return ODataBoundExpression(.path(walk.path), type, at: position)
  }

  /// Binds steps that follow a value. Steps after a path extend it.
  private func continued(
    _ value: ODataBoundExpression, _ path: ODataPath, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    var walk = continuing(value)
    try finish(&walk, path.segments)
    return try expression(walk, at: position)
  }

  private func continuing(_ value: ODataBoundExpression) -> Walk {
    guard case .path(let start) = value.kind else {
      return Walk(.expression, root: .expression(value), Instance(value.type))
    }
    let source = start.source
    let bindings = source?.containment.isEmpty == true ? source?.source.bindings : nil
    var walk = Walk(.expression, root: start.root, Instance(value.type, source: source, bindings: bindings))
    walk.path = start
    return walk
  }

  /// Binds all remaining steps.
  func finish(_ walk: inout Walk, _ segments: [ODataPathSegment]) throws(ODataBindingError) {
    try enter(segments.first?.position ?? .none)
    defer { leave() }
    walk.path.segments.reserveCapacity(segments.count)
    while walk.next < segments.count { try step(segments, &walk) }
  }

  /// Binds a path in an option, relative to an instance.
  func relative(
    _ path: ODataPath, _ place: Place
  ) throws(ODataBindingError) -> Walk {
    var walk = try begin(path, place, at: path.position)
    try finish(&walk, path.segments)
    return walk
  }

  func begin(_ path: ODataPath, _ place: Place, at position: SourcePosition) throws(ODataBindingError) -> Walk {
    switch path.root {
    case .implicit:
      // In trees that were built, a variable may be written as a plain name.
      if !variables.isEmpty, case .name(let name)? = path.segments.first?.kind,
        let variable = variables.last(where: { $0.name == name })
      {
        var walk = Walk(place, root: .variable(name), variable.instance)
        walk.next = 1
        return walk
      }
      return Walk(place, root: implicitRoot, current)
    case .it: return Walk(place, root: .it, try scoped(it, "$it", at: position))
    case .this: return Walk(place, root: .this, try scoped(this, "$this", at: position))
    case .these: return Walk(place, root: .these, try scoped(these, "$these", at: position))
    case .root: return Walk(place, root: .root, nil)
    case .variable(let name):
      guard let variable = variables.last(where: { $0.name == name }) else {
        throw unknown(
          name, what: "variable", place: "in scope", among: variables.map(\.name), at: position)
      }
      return Walk(place, root: .variable(name), variable.instance)
    case .alias, .expression:
      throw error(.notSupported("this path cannot start with an alias or a function"), at: position)
    }
  }

  private func scoped(
    _ instance: Instance?, _ name: String, at position: SourcePosition
  ) throws(ODataBindingError) -> Instance {
    guard let instance else {
      throw error(
        .unknownName(name, what: "instance", place: "for this option", nearest: nil), at: position)
    }
    return instance
  }
}
