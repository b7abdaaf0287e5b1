// The steps of paths (URL Conventions 4.01 §4).
extension Binding {
  /// Binds the next step with its arguments.
  func step(_ segments: [ODataPathSegment], _ walk: inout Walk) throws(ODataBindingError) {
    let segment = segments[walk.next]
    walk.next += 1
    let position = segment.position
    switch segment.kind {
    case .name(let name): try self.name(name, segments, &walk, at: position)
    case .qualifiedName(let name): try qualifiedName(name, segments, &walk, at: position)
    case .text(let text): try bindTextSegment(text, &walk, at: position)
    case .arguments(let arguments): try bindKey(arguments, &walk, at: position)
    case .annotation(let term, let qualifier): annotation(term, qualifier, &walk, at: position)
    case .count(let options): try count(options, &walk, at: position)
    case .value: try value(&walk, at: position)
    case .ref: try ref(&walk, at: position)
    case .each: try each(&walk, at: position)
    case .query: try query(&walk, at: position)
    case .links: try links(segments, &walk, at: position)
    case .filter(let condition): try filter(condition, &walk, at: position)
    case .any(let lambda): try any(lambda, &walk, at: position)
    case .all(let lambda): try all(lambda, &walk, at: position)
    case .aggregate(let expression): try aggregate(expression, &walk, at: position)
    case .star: try star(&walk, at: position)
    case .allOperations(let namespace): try allOperations(namespace, &walk, at: position)
    case .crossjoin, .allEntities:
      throw misplaced("$crossjoin or $all", walk, "it is the first step of a URL", at: position)
    }
  }

  func misplaced(
    _ step: String, _ walk: Walk, _ reason: String = "", at position: SourcePosition
  ) -> ODataBindingError {
    let behind =
      walk.instance.map { "\($0.type)" }
      ?? (walk.path.segments.isEmpty ? "the service's root" : "a step without a type")
    return error(.misplacedStep(step, behind: behind, reason: reason), at: position)
  }

  // MARK: Names

  private func name(
    _ name: String, _ segments: [ODataPathSegment], _ walk: inout Walk, at position: SourcePosition
  ) throws(ODataBindingError) {
    guard let instance = walk.instance else {
      if walk.path.segments.isEmpty, walk.path.root == .root || walk.place == .resource {
        return try rootChild(name, segments, &walk, at: position)
      }
      return try qualifiedName(name, segments, &walk, at: position)
    }
    if instance.type.isCollection, !walk.place.goesThroughCollections {
      return try onCollection(name, segments: segments, &walk, instance: instance, at: position)
    }
    if let computing, walk.path.segments.isEmpty, computing.instance === instance, let type = computing.types[name] {
      return walk.append(.computed(name), Instance(type), at: position)
    }
    switch instance.type.item {
    case .structure(let structure):
      if let member = self.member(name, of: structure) {
        let (kind, next) = destination(member, instance)
        return walk.append(kind, next, at: position)
      }
    case .shape(let shape):
      if try self.member(name, of: shape, &walk, instance, at: position) { return }
    case .untyped, .undeclared, .abstract(.untyped), .abstract(.entityType), .abstract(.complexType), .null:
      return walk.append(.dynamic(name), Instance(.untyped), at: position)
    case .primitive, .definition, .enumeration, .abstract:
      throw misplaced("'\(name)'", walk, "it has no members", at: position)
    }
    if index.structure(name) != nil || index.operations[name] != nil {
      return try qualifiedName(name, segments, &walk, at: position)
    }
    guard let structure = instance.type.structure, structure.isOpen, !isClosed(instance.type) else {
      throw unknownMember(name, instance, at: position)
    }
    walk.append(.dynamic(name), Instance(.untyped), at: position)
  }

  private func isClosed(_ type: ODataBoundType) -> Bool {
    if case .shape(let shape) = type.item { shape.isClosed } else { false }
  }

  func unknownMember(_ name: String, _ instance: Instance, at position: SourcePosition) -> ODataBindingError {
    var names: [String] = []
    if case .shape(let shape) = instance.type.item { names = shape.members.map(\.name) }
    if let structure = instance.type.structure, !isClosed(instance.type) { names += index.memberNames(of: structure) }
    let place = isClosed(instance.type) ? "in the result of $apply" : "in \(instance.type.item)"
    return unknown(name, what: "property", place: place, among: names, at: position)
  }

  private func member(
    _ name: String, of shape: ODataBoundShape, _ walk: inout Walk, _ instance: Instance, at position: SourcePosition
  ) throws(ODataBindingError) -> Bool {
    let declared = shape.base.flatMap { self.member(name, of: $0) }
    if let member = shape.member(name) {
      if let declared, !member.isComputed {
        let (kind, next) = destination(declared, instance, as: member.type)
        walk.append(kind, next, at: position)
        return true
      }
      // The members of $crossjoin are entities of its sets.
      let entities = shape.base == nil ? index.instance(of: name) : nil
      let next = Instance(member.type, source: entities?.source, bindings: entities?.bindings)
      walk.append(.computed(name), next, at: position)
      return true
    }
    guard !shape.isClosed else { throw unknownMember(name, instance, at: position) }
    guard let declared else { return false }
    let (kind, next) = destination(declared, instance)
    walk.append(kind, next, at: position)
    return true
  }

  /// The kind of a step to a declared property, and the instance it leads to.
  func destination(
    _ member: BindingIndex.Member, _ instance: Instance, as type: ODataBoundType? = nil
  ) -> (ODataBoundSegment.Kind, Instance) {
    let isNullable = instance.type.isNullable
    switch member {
    case .property(let property):
      if type == nil, !property.isStructured || instance.source == nil && instance.bindings == nil {
        return (.property(property), property.instances[isNullable])
      }
      var next = type ?? property.type
      next.isNullable = next.isNullable || isNullable
      guard next.item.isStructured else { return (.property(property), Instance(next)) }
      return (
        .property(property),
        Instance(next, source: instance.source, bindings: instance.bindings?.children[property.name])
      )
    case .navigation(let property):
      if type == nil,
        instance.source == nil || !property.containsTarget && instance.source?.containment.isEmpty == true,
        instance.bindings == nil
      {
        return (.navigation(property), property.instances[isNullable])
      }
      var next = type ?? property.type
      next.isNullable = next.isNullable || isNullable
      return (.navigation(property), target(of: property, next, from: instance))
    }
  }

  /// The instance that a navigation property leads to (CSDL 4.01 §13.4).
  func target(of property: ODataDeclaredNavigation, _ type: ODataBoundType, from instance: Instance) -> Instance {
    let node = instance.bindings?.children[property.name]
    if property.containsTarget {
      let source = instance.source.map {
        ODataBoundSource(source: $0.source, containment: $0.containment + [property])
      }
      return Instance(type, source: source, bindings: node)
    }
    guard let target = node?.target else { return container(property, type, from: instance) }
    // A target in a container: `NS.Container/Set`.
    let name = target.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(target[target.index(after: $0)...]) } ?? target
    guard let entities = index.instance(of: target) ?? index.instance(of: name) else { return Instance(type) }
    return Instance(type, source: entities.source, bindings: entities.bindings)
  }

  /// The instance that the partner of a containment navigation property leads to: the container of the entity. It has
  /// no binding of its own (CSDL 4.01 §8.4).
  private func container(
    _ property: ODataDeclaredNavigation, _ type: ODataBoundType, from instance: Instance
  ) -> Instance {
    guard let source = instance.source, let lastContainment = source.containment.last,
      lastContainment.property.partner == property.name
    else {
      return Instance(type)
    }
    let rest = Array(source.containment.dropLast())
    let bindings = rest.reduce(source.source.bindings) { $0?.children[$1.name] }
    return Instance(type, source: ODataBoundSource(source: source.source, containment: rest), bindings: bindings)
  }

  private func onCollection(
    _ name: String, segments: [ODataPathSegment], _ walk: inout Walk, instance: Instance,
    at position: SourcePosition
  ) throws(ODataBindingError) {
    if index.structure(name) != nil || index.operations[name] != nil {
      return try qualifiedName(name, segments, &walk, at: position)
    }
    guard walk.place == .resource else {
      throw misplaced("'\(name)'", walk, "test its items with any(…) or all(…)", at: position)
    }
    try bindTextSegment(name, &walk, at: position)
  }

  // MARK: Types and operations

  private func qualifiedName(
    _ name: String, _ segments: [ODataPathSegment], _ walk: inout Walk, at position: SourcePosition
  ) throws(ODataBindingError) {
    if let instance = walk.instance, case .structure(let structure)? = index.type(name) {
      return try cast(structure, &walk, instance, at: position)
    }
    if !index.overloads(name).isEmpty { return try operation(name, segments, &walk, at: position) }
    if options.keepsOptionsOfAnyType, walk.place == .expand, let instance = walk.instance, instance.isOfAnyType {
      // A type that occurs in the data, which may be missing in this model.
      return walk.append(.dynamic(name), instance, at: position)
    }
    if state(name, segments, &walk, at: position) { return }
    if try rollupNode(name, segments, &walk, at: position) { return }
    if walk.instance == nil, walk.path.segments.isEmpty, walk.path.root == .root || walk.place == .resource {
      return try rootChild(name, segments, &walk, at: position)
    }
    if let type = walk.instance?.type, type.isCollection, walk.place == .resource, options.isKeyAsSegment,
      type.structure?.isEntityType == true
    {
      return try bindTextSegment(name, &walk, at: position)
    }
    throw unknown(
      name, what: "type or operation", place: "in the model",
      among: Array(index.types.keys) + Array(index.operations.keys), at: position)
  }

  private func cast(
    _ structure: EdmStructure, _ walk: inout Walk, _ instance: Instance, at position: SourcePosition
  ) throws(ODataBindingError) {
    if let current = instance.type.structure {
      guard structure.derives(from: current) || current.derives(from: structure) else {
        throw misplaced("the type \(structure.name)", walk, "neither derives from the other", at: position)
      }
    } else if !instance.type.item.isOpen, !instance.type.item.isStructured {
      throw misplaced("the type \(structure.name)", walk, "it has no members", at: position)
    }
    // A cast is dropped if it repeats the cast before it.
    if case .cast(structure)? = walk.path.lastKind { return }
    let type = ODataBoundType(
      .structure(structure), isCollection: instance.type.isCollection,
      isNullable: instance.type.isNullable || !instance.type.isCollection && walk.place != .resource)
    walk.append(
      .cast(structure),
      Instance(
        type, source: instance.source, bindings: instance.bindings?.children[structure.name] ?? instance.bindings),
      at: position)
  }
}
