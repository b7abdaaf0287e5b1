// One property. Its kind follows from its declaration, the information in the payload, or the JSON value, in this order.
extension PayloadWalker {
  /// Reports a property's value.
  @inline(__always)
  mutating func property(
    _ name: Int32, value: Int, _ summary: ObjectSummary, plan: Int32, _ source: Source
  ) throws {
    var member = types.member(plan, name, names)
    if !summary.types.isEmpty, let typeIndex = summary.types[name] { member = typed(member, typeIndex, source.bytes) }
    try property(name, value: value, summary, member: member, source)
  }

  /// Reports a property whose declaration is known.
  @inline(__always)
  mutating func property(
    _ name: Int32, value: Int, _ summary: ObjectSummary, member: PayloadTypes.Member, _ source: Source
  ) throws {
    if isScalar(value), member.kind == .scalar || member.kind == .undeclared || member.kind == .untyped {
      return try source.handler.property(names.name(name), scalar(value, member.scalar, source.bytes))
    }
    try otherProperty(name, value: value, summary, member: member, source)
  }

  /// Reports a property that is not a scalar, by its declaration or in the payload.
  private mutating func otherProperty(
    _ name: Int32, value: Int, _ summary: ObjectSummary, member: PayloadTypes.Member, _ source: Source
  ) throws {
    let depth = source.handler.depth
    do {
      switch tape[value].kind {
      case .beginObject: try objectProperty(name, value: value, member: member, summary, source)
      case .beginArray: try arrayProperty(name, value: value, member: member, summary, source)
      default: try scalarForOtherKind(name, value: value, member: member, source)
      }
    } catch {
      try source.handler.unfitting(
        names.name(name), text: tape.rawText(value, in: source.bytes), depth: depth, error: error)
    }
  }

  /// Reports a property that occurs more than once, with its last value, whose index is `last`.
  mutating func repeatedProperty(_ name: Int32, value: Int, last: Int, _ source: Source) throws {
    guard value == last else { return }
    current = value - 1
    try source.handler.unfitting(
      names.name(name), text: tape.rawText(value, in: source.bytes), depth: source.handler.depth,
      error: PayloadError.Problem.duplicateName(names[name].name.text))
  }

  /// Returns the declaration, refined by the type in the payload.
  private mutating func typed(
    _ declared: PayloadTypes.Member, _ type: Int, _ bytes: UnsafeBufferPointer<UInt8>
  ) -> PayloadTypes.Member {
    var typedMember = member(typeAt: type, bytes)
    if typedMember.kind == .undeclared { return declared }
    if declared.kind == .navigation { typedMember.kind = .navigation }
    return typedMember
  }

  private mutating func scalarForOtherKind(
    _ name: Int32, value: Int, member: PayloadTypes.Member, _ source: Source
  ) throws {
    let isNull = tape[value].kind == .null
    switch member.kind {
    case .navigation:
      guard isNull else {
        throw PayloadError.Problem.unexpected(expected: member.isCollection ? "entities" : "an entity")
      }
      try source.handler.nullEntity(names.name(name))
    case .stream:
      try source.handler.property(names.name(name), scalar(value, .primitive(.stream), source.bytes))
    default:
      guard isNull else { throw PayloadError.Problem.unexpected(expected: "an object") }
      try source.handler.property(names.name(name), scalar(value, member.scalar, source.bytes))
    }
  }

  private mutating func objectProperty(
    _ name: Int32, value: Int, member: PayloadTypes.Member, _ summary: ObjectSummary, _ source: Source
  ) throws {
    if dialect == .v2, try verboseProperty(name, value: value, member: member, source: source) { return }
    switch member.kind {
    case .geo: try geo(name, value: value, member: member, source)
    case .navigation: try object(value, named: name, declared: member.plan, as: .entity, source)
    case .structured: try object(value, named: name, declared: member.plan, as: .complex, source)
    case .stream, .untyped: try source.handler.value(names.name(name), try untyped(value, source.bytes))
    case .scalar: throw PayloadError.Problem.unexpected(expected: "a primitive value")
    case .undeclared, .unresolved:
      let isNavigation = summary.navigations.contains(name) || expanded.contains(names[name].name.text)
      try object(value, named: name, declared: -1, as: isNavigation ? .entity : .unknown, source)
    }
  }

  private mutating func arrayProperty(
    _ name: Int32, value: Int, member: PayloadTypes.Member, _ summary: ObjectSummary, _ source: Source
  ) throws {
    switch member.kind {
    case .navigation: try collection(value, named: name, plan: member.plan, isDelta: false, source)
    case .untyped where !member.isCollection, .stream:
      try source.handler.value(names.name(name), try untyped(value, source.bytes))
    case .undeclared, .unresolved:
      let isNavigation =
        try summary.navigations.contains(name) || expanded.contains(names[name].name.text)
        || holdsEntities(value, name, source.bytes)
      if isNavigation {
        try collection(value, named: name, plan: -1, isDelta: false, source)
      } else {
        try values(value, named: name, member: member, source)
      }
    default:
      guard member.isCollection else { throw PayloadError.Problem.unexpected(expected: "one value, not an array") }
      try values(value, named: name, member: member, source)
    }
  }

  /// Whether the first element of an array looks like an entity.
  mutating func holdsEntities(
    _ array: Int, _ name: Int32, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(PayloadError.Problem) -> Bool {
    guard tape[array + 1].kind == .beginObject else { return false }
    return try summarize(array + 1, parent: name, bytes).marksEntity
  }

  /// Reports geography and geometry as one value.
  func geo(_ name: Int32, value: Int, member: PayloadTypes.Member, _ source: Source) throws {
    let node = tape.node(value, in: source.bytes)
    guard case .primitive(let type) = member.scalar else {
      return try source.handler.value(name < 0 ? nil : names[name].name, try ODataValue(untyped: node))
    }
    try source.handler.value(
      name < 0 ? nil : names[name].name, try ODataValue(json: node, type: type, dialect: dialect))
  }

  /// Reports expanded entities.
  mutating func collection(_ at: Int, named name: Int32, plan: Int32, isDelta: Bool, _ source: Source) throws {
    try source.handler.beginCollection(names[name].name, isDelta: isDelta)
    var index = at + 1
    while tape[index].kind != .endArray {
      try object(index, named: -1, parent: name, declared: plan, as: .entity, source)
      index = tape.after(index)
    }
    try source.handler.endCollection()
  }

  /// Reports a collection of primitive, complex or mixed values.
  mutating func values(_ at: Int, named name: Int32, member: PayloadTypes.Member, _ source: Source) throws {
    try source.handler.beginValues(name < 0 ? nil : names[name].name)
    var index = at + 1
    while tape[index].kind != .endArray {
      current = index
      try element(index, member, source)
      index = tape.after(index)
    }
    try source.handler.endValues()
  }

  /// Reports one value without a name.
  mutating func element(_ at: Int, _ member: PayloadTypes.Member, _ source: Source) throws {
    switch tape[at].kind {
    case .beginObject:
      switch member.kind {
      case .geo: try geo(-1, value: at, member: member, source)
      case .scalar: throw PayloadError.Problem.unexpected(expected: "a primitive value")
      case .untyped, .stream: try source.handler.value(nil, try untyped(at, source.bytes))
      default: try object(at, named: -1, declared: member.plan, as: .complex, source)
      }
    case .beginArray:
      guard member.kind == .undeclared || member.kind == .untyped else {
        throw PayloadError.Problem.unexpected(expected: "a value, not an array")
      }
      try values(at, named: -1, member: member, source)
    default:
      if member.kind == .structured, tape[at].kind != .null {
        throw PayloadError.Problem.unexpected(expected: "an object")
      }
      try source.handler.element(scalar(at, member.scalar, source.bytes))
    }
  }
}
