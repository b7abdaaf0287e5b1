// Entities and complex values: first their control information, then their members.
extension PayloadWalker {
  /// The expected kind of an object, before its control information is read.
  enum Shape { case entity, complex, unknown }

  /// Reports an object in the place of an entity or complex value.
  ///
  /// `name` is -1 for rows and elements; `parent` is the property that these belong to.
  mutating func object(
    _ at: Int, named name: Int32, parent: Int32 = -1, declared: Int32, as shape: Shape, _ source: Source
  ) throws {
    current = at
    try enter()
    defer { leave() }
    guard tape[at].kind == .beginObject else { throw PayloadError.Problem.unexpected(expected: "an object") }
    let summary = try summarize(at, parent: name < 0 ? parent : name, source.bytes)
    var plan = declared
    if shape == .entity, let context = contextOfObject(summary, source) {
      if name < 0, try changeRow(at, summary, context: context, source) { return }
      plan = self.plan(of: context, else: declared)
    }
    let type =
      summary.type >= 0 ? summary.type : summary.metadata >= 0 ? find("type", in: summary.metadata, source.bytes) : -1
    if case let typedMember = member(typeAt: type, source.bytes), typedMember.plan >= 0 { plan = typedMember.plan }
    let isEntity =
      shape == .entity || shape == .unknown && (summary.marksEntity || types.isEntity(plan))
    let member = name < 0 ? nil : names[name].name
    if isEntity {
      try source.handler.beginEntity(member, role: removal(summary, source), typeName: types.name(plan))
    } else {
      try source.handler.beginComplex(member)
    }
    if summary.metadata >= 0 { try metadata(summary.metadata, source) }
    if summary.describesObject { try reportObjectInformation(at, summary, source) }
    try members(of: at, summary, plan: plan, source)
    if isEntity { try source.handler.endEntity() } else { try source.handler.endComplex() }
  }

  /// Whether an entity is deleted (OData JSON Format 4.01 §15.3; V2 `__metadata.deleted`).
  private mutating func removal(_ summary: ObjectSummary, _ source: Source) -> PayloadEntityRole {
    if summary.metadata >= 0 {
      let deleted = find("deleted", in: summary.metadata, source.bytes)
      return deleted >= 0 && tape[deleted].kind == .true ? .deleted(.deleted) : .entity
    }
    guard summary.removed >= 0 else { return .entity }
    return .deleted(removal(removalReason(summary.removed, source.bytes), source.bytes))
  }

  /// The reason of a removed entity.
  ///
  /// - Parameter reason: the index of the reason on the tape; -1 if the payload has none.
  func removal(_ reason: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> ODataRemoval {
    switch reason < 0 ? nil : tape.text(reason, in: bytes) {
    case "deleted": .deleted
    case "changed": .changed
    case let other: .other(other)
    }
  }

  /// Reports the members that describe the object itself.
  private mutating func reportObjectInformation(_ at: Int, _ summary: ObjectSummary, _ source: Source) throws {
    var index = at + 1
    while tape[index].kind != .endObject {
      let value = index + 1
      current = value
      let name = tape[index].name
      try reportObjectMember(names.role(name), named: name, value: value, source)
      index = tape.after(value)
    }
  }

  /// Reports one member if it describes the object or payload that contains it; ignores other members.
  mutating func reportObjectMember(_ role: PayloadNames.Role, named name: Int32, value: Int, _ source: Source) throws {
    switch role {
    case .control(.removed): try reportRemovalAnnotations(value, source)
    case .control(let control) where names[name].target < 0:
      if isScalar(value) {
        try source.handler.control(control, on: nil, scalar(value, .untyped, source.bytes))
      } else {
        try annotate(names[name].name.text, on: nil, value: value, source)
      }
    case .annotation where names[name].target < 0: try annotate(names[name].term, on: nil, value: value, source)
    case .operation: try operation(names[name].term, kind: .unknown, value: value, source)
    default: break
    }
  }

  /// Reports the members next to a removal's reason as annotations of the entity: instance annotations are allowed
  /// there (4.01 §15.3).
  private mutating func reportRemovalAnnotations(_ removed: Int, _ source: Source) throws {
    guard tape[removed].kind == .beginObject else { return }
    let reason = removalReason(removed, source.bytes)
    var index = removed + 1
    while tape[index].kind != .endObject {
      let value = index + 1
      current = value
      if value != reason {
        let name = tape.name(index, in: source.bytes)
        try annotate(name.hasPrefix("@") ? String(name.dropFirst()) : name, on: nil, value: value, source)
      }
      index = tape.after(value)
    }
  }

  private func removalReason(_ removed: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    let reason = findText("reason", in: removed, bytes)
    return reason >= 0 ? reason : findText("error", in: removed, bytes)
  }

  private mutating func annotate(_ term: String, on name: PayloadName?, value: Int, _ source: Source) throws {
    try source.handler.annotation(ODataAnnotation(term: term, value: try untyped(value, source.bytes)), on: name)
  }

  /// Reports the members that are properties, and the information about properties.
  private mutating func members(of at: Int, _ summary: ObjectSummary, plan: Int32, _ source: Source) throws {
    var index = at + 1
    while tape[index].kind != .endObject {
      let value = index + 1
      current = value
      let name = tape[index].name
      switch names.role(name) {
      case .property:
        if let last = summary.repeated.isEmpty ? nil : summary.repeated[name] {
          try repeatedProperty(name, value: value, last: last, source)
        } else {
          try property(name, value: value, summary, plan: plan, source)
        }
      case .control(let control):
        if names[name].target >= 0 {
          try reportPropertyInformation(control, on: names[name].target, value: value, plan: plan, source)
        }
      case .annotation:
        if names[name].target >= 0 {
          try annotate(names[name].term, on: names[names[name].target].name, value: value, source)
        }
      case .operation, .metadata: break
      case .deferred, .mediaResource:
        throw PayloadError.Problem.unexpected(expected: "'\(names[name].name.text)' alone in its object")
      }
      index = tape.after(value)
    }
  }

  /// Control information of a property.
  private mutating func reportPropertyInformation(
    _ control: ControlInformation, on target: Int32, value: Int, plan: Int32, _ source: Source
  ) throws {
    let name = names[target].name
    if control == .delta, tape[value].kind == .beginArray {
      let member = types.member(plan, target, names)
      return try collection(value, named: target, plan: member.plan, isDelta: true, source)
    }
    if isScalar(value) { return try source.handler.control(control, on: name, scalar(value, .untyped, source.bytes)) }
    if control == .bind, tape[value].kind == .beginArray {
      var index = value + 1
      while tape[index].kind != .endArray {
        current = index
        guard tape[index].kind == .string else { throw PayloadError.Problem.unexpected(expected: "a URL to bind to") }
        try source.handler.control(.bind, on: name, scalar(index, .untyped, source.bytes))
        index += 1
      }
      return
    }
    try annotate("odata.\(control)", on: name, value: value, source)
  }

  /// Reports an operation that is offered: an object, several, or null (OData JSON Format 4.01 §16).
  mutating func operation(_ name: String, kind: ODataOperation.Kind, value: Int, _ source: Source) throws {
    switch tape.node(value, in: source.bytes) {
    case .null:
      var operation = ODataOperation(kind: kind, name: name)
      operation.isAvailable = false
      try source.handler.operation(operation)
    case .object(let members): try source.handler.operation(try PayloadWalker.operation(name, kind, members))
    case .array(let items):
      for item in items {
        try source.handler.operation(try PayloadWalker.operation(name, kind, item.members ?? []))
      }
    default: throw PayloadError.Problem.unexpected(expected: "an object that describes the operation '\(name)'")
    }
  }

  private static func operation(
    _ name: String, _ kind: ODataOperation.Kind, _ members: [JSONNode.Member]
  ) throws(ODataValueError) -> ODataOperation {
    var operation = ODataOperation(kind: kind, name: name)
    for member in members {
      switch member.name {
      case "title": operation.title = member.value.text
      case "target": operation.target = member.value.text
      default: operation.annotations.append(.init(term: member.name, value: try ODataValue(untyped: member.value)))
      }
    }
    return operation
  }
}
