// Rows other than entities: changes of a delta, references, elements of a service document.
extension PayloadWalker {
  /// Reports one row of a payload of a kind.
  mutating func row(_ at: Int, kind: PayloadKind, member: PayloadTypes.Member, _ source: Source) throws {
    current = at
    switch kind {
    case .references, .reference: try reference(at, source)
    case .serviceDocument: try serviceElement(at, source)
    case .property: try element(at, member, source)
    default: try object(at, named: -1, declared: member.plan, as: .entity, source)
    }
  }

  /// The context URL of an object itself; nil if it has none.
  func contextOfObject(_ summary: ObjectSummary, _ source: Source) -> ContextURL? {
    guard summary.context >= 0, let text = tape.text(summary.context, in: source.bytes) else { return nil }
    return ContextURL(text)
  }

  /// Reports a row whose own context says that it is a deleted entity or a link (OData JSON Format 4.0 §14.3 to §14.5); false
  /// for other rows, 4.01's deleted entities among them, which are marked inside (4.01 §15.3).
  mutating func changeRow(_ at: Int, _ summary: ObjectSummary, context: ContextURL, _ source: Source) throws -> Bool {
    switch context.item {
    case .deletedEntity where summary.removed < 0:
      try checkHasNoRepeated(summary)
      try deletedEntity(at, source)
    case .link, .deletedLink:
      try checkHasNoRepeated(summary)
      try link(at, isDeleted: context.item == .deletedLink, source)
    default: return false
    }
    return true
  }

  /// The type that an entity's own context gives it. An entity of another set than the rows around it has one (4.0
  /// §14.2, 4.01 §15.2); if the model does not have that set, the type of the rows is not used.
  mutating func plan(of context: ContextURL, else declared: Int32) -> Int32 {
    let contextPlan = types.member(of: context).plan
    if contextPlan >= 0 { return contextPlan }
    let namesEntity = context.item == .entity || context.item == .deletedEntity
    return namesEntity && !context.path.isEmpty && types.model != nil ? -1 : declared
  }

  private mutating func deletedEntity(_ at: Int, _ source: Source) throws {
    let bytes = source.bytes
    let reason = findText("reason", in: at, bytes)
    try source.handler.beginEntity(nil, role: .deleted(removal(reason, bytes)), typeName: nil)
    var index = at + 1
    while tape[index].kind != .endObject {
      let value = index + 1
      current = value
      let name = tape[index].name
      if names.role(name) == .property {
        if names[name].name.text == "id", isScalar(value) {
          try source.handler.control(.id, on: nil, scalar(value, .untyped, bytes))
        } else if value != reason {
          let summary = ObjectSummary()
          try property(name, value: value, summary, plan: -1, source)
        }
      } else {
        try reportObjectMember(names.role(name), named: name, value: value, source)
      }
      index = tape.after(value)
    }
    try source.handler.endEntity()
  }

  private mutating func link(_ at: Int, isDeleted: Bool, _ source: Source) throws {
    var link = ODataDeltaLink(source: "", relationship: "", target: nil)
    var memberCount = 0
    var index = at + 1
    while tape[index].kind != .endObject {
      let value = index + 1
      current = value
      let text = tape.text(value, in: source.bytes)
      switch names[tape[index].name].name.text {
      case "source": (link.source, memberCount) = (text ?? "", memberCount + (text == nil ? 0 : 1))
      case "relationship": (link.relationship, memberCount) = (text ?? "", memberCount + (text == nil ? 0 : 1))
      case "target": link.target = text
      default:
        let entry = names[tape[index].name]
        guard entry.role != .control(.context) else { break }
        link.annotations.append(
          .init(term: entry.term.isEmpty ? entry.name.text : entry.term, value: try untyped(value, source.bytes)))
      }
      index = tape.after(value)
    }
    current = at
    guard memberCount == 2 else {
      throw PayloadError.Problem.unexpected(expected: "'source' and 'relationship' of a link")
    }
    try source.handler.link(link, isDeleted: isDeleted)
  }

  /// Reports a reference: `{"@id": "…"}`, V2 `{"uri": "…"}`, V3 `{"url": "…"}`.
  mutating func reference(_ at: Int, _ source: Source) throws {
    guard tape[at].kind == .beginObject else { throw PayloadError.Problem.unexpected(expected: "a reference") }
    try checkHasNoRepeated(try summarize(at, parent: -1, source.bytes))
    var reference: ODataReference?
    var annotations: [ODataAnnotation] = []
    var index = at + 1
    while tape[index].kind != .endObject {
      let value = index + 1
      let entry = names[tape[index].name]
      let isID = entry.role == .control(.id) || entry.name.text == "uri" || entry.name.text == "url"
      if isID, let id = tape.text(value, in: source.bytes) {
        reference = ODataReference(id: id)
      } else if entry.role != .control(.context) {
        annotations.append(
          .init(term: entry.term.isEmpty ? entry.name.text : entry.term, value: try untyped(value, source.bytes)))
      }
      index = tape.after(value)
    }
    guard var reference else { throw PayloadError.Problem.unexpected(expected: "the id of a reference") }
    reference.annotations = annotations
    try source.handler.reference(reference)
  }

  /// Reports one element of a service document (OData JSON Format 4.01 §5).
  mutating func serviceElement(_ at: Int, _ source: Source) throws {
    guard case .object(let members) = tape.node(at, in: source.bytes) else {
      throw PayloadError.Problem.unexpected(expected: "an element of the service document")
    }
    var element = ODataServiceDocument.Element(name: "", url: "")
    var annotations: [ODataAnnotation] = []
    for member in members {
      switch member.name {
      case "name": element.name = member.value.text ?? ""
      case "url": element.url = member.value.text ?? ""
      case "title": element.title = member.value.text
      case "kind":
        switch member.value.text {
        case nil, "EntitySet"?: element.kind = .entitySet
        case "Singleton"?: element.kind = .singleton
        case "FunctionImport"?: element.kind = .functionImport
        case "ServiceDocument"?: element.kind = .serviceDocument
        case let kind?: element.kind = .other(kind)
        }
      default:
        let term = member.name.hasPrefix("@") ? String(member.name.dropFirst()) : member.name
        annotations.append(.init(term: term, value: try ODataValue(untyped: member.value)))
      }
    }
    guard !element.name.isEmpty || !element.url.isEmpty else {
      throw PayloadError.Problem.unexpected(expected: "'name' and 'url' of an element of the service document")
    }
    if element.url.isEmpty { element.url = element.name }
    if element.name.isEmpty { element.name = element.url }
    element.annotations = annotations
    try source.handler.serviceElement(element)
  }
}
