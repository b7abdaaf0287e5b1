// Payloads without streamed rows: one object, which is read as a whole.
extension JSONPayloadReader {
  /// Reports the complete payload on the tape.
  mutating func readDocument(_ source: PayloadWalker.Source) throws {
    let bytes = source.bytes
    walker.current = 0
    member = options.expectedType.map { walker.types.member(of: $0) } ?? .undeclared
    guard walker.tape[0].kind == .beginObject else { return try readValue(0, nil, source) }
    if try error(source) { return }
    if walker.tape.count > 2, walker.tape.matches(1, "d", in: bytes), walker.tape.after(2) == walker.tape.count - 1 {
      try check(.verbose)
      walker.dialect = .v2
      pathPrefix = "$"
      return try readVerboseDocument(2, source)
    }
    if walker.dialect == .v2 || walker.find("__metadata", in: 0, bytes) >= 0 {
      let isLight = walker.find("odata.metadata", in: 0, bytes) >= 0 || walker.find("@odata.context", in: 0, bytes) >= 0
      if !isLight {
        try check(.verbose)
        walker.dialect = .v2
        return try readVerboseDocument(0, source)
      }
      if walker.find("@odata.context", in: 0, bytes) >= 0 { walker.dialect = .v4 }
    }
    try check(.light)
    try readLightDocument(source)
  }

  /// Reads a payload that is an error; returns false for other payloads.
  private mutating func error(_ source: PayloadWalker.Source) throws -> Bool {
    var place = walker.find("odata.error", in: 0, source.bytes)
    if place < 0, walker.tape.matches(1, "error", in: source.bytes), walker.tape.after(2) == walker.tape.count - 1 {
      place = 2
    }
    guard place >= 0, let error = try ODataErrorPayload(node: walker.tape.node(place, in: source.bytes)) else {
      return false
    }
    try source.handler.beginPayload(.error)
    try source.handler.error(error)
    try source.handler.endPayload()
    return true
  }

  // MARK: V3 light and V4

  private mutating func readLightDocument(_ source: PayloadWalker.Source) throws {
    readContext(source.bytes)
    if let context, case let contextMember = walker.types.member(of: context), isMoreSpecific(contextMember) {
      member = contextMember
    }
    let summary = try walker.summarize(0, parent: -1, source.bytes)
    let value = walker.find("value", in: 0, source.bytes)
    let isNull =
      walker.find("@odata.null", in: 0, source.bytes) >= 0 || walker.find("odata.null", in: 0, source.bytes) >= 0
    let kind = try kindOfLightDocument(summary, value: value, isNull: isNull, source.bytes)
    // The properties of objects are checked one by one.
    if kind != .entity, value >= 0 || isNull { try walker.checkHasNoRepeated(summary) }
    switch kind {
    case .property where value >= 0: try readValue(value, summary, source)
    case .property where isNull: try readValue(-1, summary, source)
    case .property:
      try source.handler.beginPayload(.property)
      try walker.object(0, named: -1, declared: member.plan, as: .complex, source)
    case .reference:
      try source.handler.beginPayload(.reference)
      try walker.reference(0, source)
    case .collection, .delta, .references, .serviceDocument: return try readRows(value, source)
    default:
      try source.handler.beginPayload(.entity)
      try walker.object(0, named: -1, declared: member.plan, as: .entity, source)
    }
    try source.handler.endPayload()
  }

  /// Whether the type of a context is more specific than the expected type; an abstract one is not.
  private func isMoreSpecific(_ contextMember: PayloadTypes.Member) -> Bool {
    contextMember.kind != .undeclared && !(contextMember.kind == .untyped && member.kind == .navigation)
  }

  private func kindOfLightDocument(
    _ summary: PayloadWalker.ObjectSummary, value: Int, isNull: Bool, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws -> PayloadKind {
    switch context?.item {
    case .entity?, .deletedEntity?, .link?, .deletedLink?: return .entity
    case .reference?: return value >= 0 && walker.tape[value].kind == .beginArray ? .references : .reference
    default: break
    }
    if isNull { return .property }
    let isWrapped = value >= 0 && summary.propertyCount == 1 && options.expected != .entity
    if isWrapped {
      guard walker.tape[value].kind == .beginArray else { return .property }
      if isServiceDocument(value, bytes) { return .serviceDocument }
      return context?.item == .delta ? .delta : .collection
    }
    if options.expected == .reference { return .reference }
    if let context, isPropertyContext(context), !summary.marksOtherThanContext(walker) { return .property }
    if options.expected == .property { return .property }
    return .entity
  }

  /// Whether the array is that of a service document.
  private func isServiceDocument(_ value: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let first = value + 1
    return mayBeServiceDocument && (walker.tape[first].kind == .endArray || isServiceElement(first, bytes))
  }

  /// Whether a context names a complex property or type: `Products(1)/Address`, `NS.Address`.
  private func isPropertyContext(_ context: ContextURL) -> Bool {
    if member.kind == .structured { return true }
    if member.kind == .navigation { return false }
    if options.expected == .entity, context.path.count == 1 { return false }
    guard let first = context.path.first else { return false }
    return context.path.count > 1 && first.brackets != nil || context.path.count == 1 && first.name.contains(".")
  }

  /// Reports the rows of a payload that was buffered because its context follows the rows.
  private mutating func readRows(_ value: Int, _ source: PayloadWalker.Source) throws {
    var kind = PayloadKind.collection
    if isServiceDocument(value, source.bytes) { kind = .serviceDocument }
    if context?.item == .delta { kind = .delta }
    if context?.item == .references || context?.item == .reference { kind = .references }
    let first = walker.tape[value + 1].kind
    let isValues =
      member.kind != .navigation
      && (member.kind != .undeclared || first != .beginObject && first != .endArray)
    if kind == .collection, isValues { kind = .property }
    if kind == .collection, let expected = options.expected, expected == .property || expected == .delta {
      kind = expected
    }
    self.kind = kind
    try source.handler.beginPayload(kind)
    try reportOuterMembers(0, except: value, source)
    if kind == .property {
      try walker.values(value, named: -1, member: member, source)
    } else {
      var index = value + 1
      while walker.tape[index].kind != .endArray {
        try walker.row(index, kind: kind, member: member, source)
        index = walker.tape.after(index)
      }
    }
    try source.handler.endPayload()
  }

  /// Reports the other members of an object that contains one value.
  private mutating func reportOuterMembers(_ object: Int, except value: Int, _ source: PayloadWalker.Source) throws {
    var index = object + 1
    while walker.tape[index].kind != .endObject {
      if index + 1 != value { try payloadMember(index, source) }
      index = walker.tape.after(index + 1)
    }
  }

  /// Reads a payload that is one value; -1 means null.
  private mutating func readValue(
    _ value: Int, _ summary: PayloadWalker.ObjectSummary?, _ source: PayloadWalker.Source
  ) throws {
    try source.handler.beginPayload(.property)
    if summary != nil { try reportOuterMembers(0, except: value, source) }
    if let type = summary?.type, case let typedMember = walker.member(typeAt: type, source.bytes),
      typedMember.kind != .undeclared
    {
      member = typedMember
    }
    if value < 0 {
      let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
      try source.handler.element(
        PayloadScalar(kind: .null, isEscaped: false, bytes: none, type: .untyped, dialect: walker.dialect))
    } else {
      try walker.element(value, member, source)
    }
    if summary == nil { try source.handler.endPayload() }
  }

  // MARK: V1 to V3 verbose

  private mutating func readVerboseDocument(_ at: Int, _ source: PayloadWalker.Source) throws {
    let bytes = source.bytes
    guard walker.tape[at].kind == .beginObject else { return try readValue(at, nil, source) }
    let summary = try walker.summarize(at, parent: -1, bytes)
    let first = at + 2
    let isOnly = summary.propertyCount == 1 && summary.metadata < 0
    if isOnly, walker.tape.matches(at + 1, "EntitySets", in: bytes), walker.tape[first].kind == .beginArray {
      return try entitySets(first, source)
    }
    let isUri = isOnly && walker.tape.matches(at + 1, "uri", in: bytes) && walker.tape[first].kind == .string
    if isUri, options.expected == nil || options.expected == .reference {
      try source.handler.beginPayload(.reference)
      try walker.reference(at, source)
      return try source.handler.endPayload()
    }
    let wrapsComplex = isOnly && walker.types.isComplex(member.plan) && wrapsValue(at + 1)
    if walker.types.isComplex(member.plan) && !wrapsComplex
      || summary.metadata >= 0 && isComplex(summary.metadata, bytes)
    {
      try source.handler.beginPayload(.property)
      try walker.object(at, named: -1, declared: member.plan, as: .complex, source)
    } else if wrapsComplex || isOnly && mayBeProperty && !summary.describesObject {
      try source.handler.beginPayload(.property)
      var summary = summary
      summary.types = [:]
      try readNamedValue(at + 1, summary, source)
    } else {
      try source.handler.beginPayload(.entity)
      try walker.object(at, named: -1, declared: member.plan, as: .entity, source)
    }
    try source.handler.endPayload()
  }

  private var mayBeProperty: Bool { options.expected == nil || options.expected == .property }

  /// Whether the only member of an object is not a property of the expected complex type: its name is that of
  /// the property or function import, and the complex value is inside ([MS-ODATA] §2.2.6.3.6).
  private mutating func wrapsValue(_ index: Int) -> Bool {
    guard mayBeProperty, !walker.isScalar(index + 1) || walker.tape[index + 1].kind == .null else { return false }
    return walker.types.member(member.plan, walker.tape[index].name, walker.names).kind == .undeclared
  }

  private mutating func isComplex(_ metadata: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let type = walker.find("type", in: metadata, bytes)
    guard !walker.metadataMarksEntity(metadata, bytes) else { return false }
    return walker.types.isComplex(walker.member(typeAt: type, bytes).plan)
  }

  /// `{"d": {"Name": value}}`: a property, or the result of a function import of that name.
  private mutating func readNamedValue(
    _ index: Int, _ summary: PayloadWalker.ObjectSummary, _ source: PayloadWalker.Source
  ) throws {
    let name = walker.tape[index].name
    let value = index + 1
    walker.current = value
    if member.kind == .scalar, walker.isScalar(value) {
      let scalar = walker.scalar(value, member.scalar, source.bytes)
      return try source.handler.property(walker.names.name(name), scalar)
    }
    switch member.kind {
    case .structured, .geo, .scalar: try walker.property(name, value: value, summary, member: member, source)
    default: try walker.property(name, value: value, summary, plan: -1, source)
    }
  }

  /// V2's service document: only names.
  private mutating func entitySets(_ array: Int, _ source: PayloadWalker.Source) throws {
    try source.handler.beginPayload(.serviceDocument)
    var index = array + 1
    while walker.tape[index].kind != .endArray {
      walker.current = index
      guard let name = walker.tape.text(index, in: source.bytes) else {
        throw PayloadError.Problem.unexpected(expected: "the name of an entity set")
      }
      try source.handler.serviceElement(.init(name: name, url: name))
      index += 1
    }
    try source.handler.endPayload()
  }
}

extension PayloadWalker.ObjectSummary {
  /// Whether control information other than a context shows that the object is an entity.
  func marksOtherThanContext(_ walker: PayloadWalker) -> Bool {
    var index = 1
    while walker.tape[index].kind != .endObject {
      if case .control(let control) = walker.names.role(walker.tape[index].name), control.marksEntity,
        control != .context, walker.names[walker.tape[index].name].target < 0
      {
        return true
      }
      index = walker.tape.after(index + 1)
    }
    return false
  }
}
