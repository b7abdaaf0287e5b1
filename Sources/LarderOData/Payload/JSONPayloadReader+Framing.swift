// The members around the rows: the array that contains them, their kind, and the information about the payload.
extension JSONPayloadReader {
  /// The members before the rows, kept until the first row shows the kind of the payload.
  struct OpeningMembers {
    /// Control information and annotations, as a separate document with its bytes.
    var tape: JSONTape
    var bytes: [UInt8]
    var isVerbose: Bool
    var holdsValues = false
  }

  /// Whether the array that the tape ends with contains the rows of the payload.
  mutating func beginRows(_ source: PayloadWalker.Source) throws -> Bool {
    let tape = walker.tape
    let array = tape.count - 1
    let bytes = source.bytes
    switch lexer.depth {
    case 1:
      try check(.none)
      pathPrefix = "$"
    case 2:
      guard tape[0].kind == .beginObject else { return false }
      if array == 2, tape.matches(1, "d", in: bytes) {
        try check(.verbose)
        walker.dialect = .v2
        pathPrefix = "$.d"
      } else {
        guard tape.matches(array - 1, "value", in: bytes), try hasOnlyControlMembers(1, array - 1, bytes) else {
          return false
        }
        try check(.light)
        readContext(bytes)
        guard mayStream else { return false }
        pathPrefix = "$.value"
      }
    default:
      guard array > 2, tape[2].kind == .beginObject, tape.matches(1, "d", in: bytes),
        tape.matches(array - 1, "results", in: bytes)
      else { return false }
      try check(.verbose)
      walker.dialect = .v2
      guard try hasOnlyControlMembers(3, array - 1, bytes) else { return false }
      pathPrefix = "$.d.results"
    }
    try storeOpening(source)
    return true
  }

  /// The JSON structure around a payload's content.
  enum Envelope {
    /// None: only an array.
    case none
    /// V1 to V3 verbose: `d` ([MS-ODATA] §2.2.6.3.2).
    case verbose
    /// V3 light and V4: `value`, or the object itself (OData JSON Format 4.01 §13).
    case light
  }

  /// Throws if the envelope is of another protocol version than the service's. V3 has both.
  func check(_ envelope: Envelope) throws(PayloadError.Problem) {
    guard let version = options.protocolVersion else { return }
    switch envelope {
    case .verbose where version < .v4, .light where version > .v2: return
    case .none, .verbose, .light: break
    }
    throw .unexpected(
      expected: version < .v4 ? "an object with 'd', as in V2" : "an object with its rows in 'value', as in V4")
  }

  /// Whether rows can be reported at once, because their type is known or does not matter; otherwise the payload is
  /// buffered first.
  private var mayStream: Bool {
    switch context?.item {
    case .entity?, .reference?, .deletedEntity?, .link?, .deletedLink?: false
    case nil: options.model == nil || options.expectedType != nil || options.expected == .entity
    default: true
    }
  }

  /// Whether all members between two indices are control information or annotations, and none is a property.
  private mutating func hasOnlyControlMembers(
    _ start: Int, _ end: Int, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(PayloadError.Problem) -> Bool {
    var index = start
    while index < end {
      let name = try walker.names.lookUp(
        walker.tape.bytes(index, in: bytes), isEscaped: walker.tape[index].isEscaped, parent: -1, previous: -1)
      walker.tape.setName(name, at: index)
      if walker.names.role(name) == .property { return false }
      index = walker.tape.after(index + 1)
    }
    return true
  }

  /// Reads the context URL from the outermost object on the tape.
  mutating func readContext(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard !walker.tape.isEmpty, walker.tape[0].kind == .beginObject else { return }
    var index = 1
    while index < walker.tape.count, walker.tape[index].kind == .name, index + 1 < walker.tape.count {
      let isContext =
        walker.tape.matches(index, "@odata.context", in: bytes) || walker.tape.matches(index, "@context", in: bytes)
        || walker.tape.matches(index, "odata.metadata", in: bytes)
      if isContext, let text = walker.tape.text(index + 1, in: bytes) {
        let contextURL = ContextURL(text)
        context = contextURL
        walker.expanded = contextURL.expanded
        return
      }
      let next = walker.tape.after(index + 1)
      guard next > index + 1 else { return }
      index = next
    }
  }

  private mutating func storeOpening(_ source: PayloadWalker.Source) throws {
    member = options.expectedType.map { walker.types.member(of: $0) } ?? .undeclared
    if let context {
      let contextMember = walker.types.member(of: context)
      if contextMember.kind != .undeclared { member = contextMember }
    }
    kind = kindByContext()
    opening = OpeningMembers(tape: walker.tape, bytes: Array(source.bytes), isVerbose: walker.dialect == .v2)
    if walker.dialect == .v2, walker.tape.count > 3, walker.tape[2].kind == .beginObject {
      let metadata = metadataType(source.bytes)
      opening?.holdsValues = metadata?.hasPrefix("Collection(") ?? false
      if let metadata, case let typedMember = walker.types.member(of: EdmTypeReference(metadata)),
        typedMember.kind != .undeclared
      {
        member = typedMember
      }
    }
    if kind != nil { try begin(source) }
  }

  private func metadataType(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    let tape = walker.tape
    var index = 3
    while index + 1 < tape.count - 1 {
      if tape.matches(index, "__metadata", in: bytes) {
        let type = walker.find("type", in: index + 1, bytes)
        return type < 0 ? nil : tape.text(type, in: bytes)
      }
      index = tape.after(index + 1)
    }
    return nil
  }

  /// The kind of a payload of rows, if the context, the caller or the model determines it.
  private func kindByContext() -> PayloadKind? {
    switch context?.item {
    case .delta?: return .delta
    case .references?, .reference?: return .references
    default: break
    }
    switch options.expected {
    case .entity?, nil, .error?: break
    case .reference?: return .references
    case let expected?: return expected
    }
    switch member.kind {
    case .navigation: return .collection
    case .scalar, .geo, .structured, .untyped, .stream: return .property
    case .undeclared, .unresolved: break
    }
    return nil
  }

  /// Whether the context has no `#`, as in a service document, and nothing else determines the kind of the payload.
  var mayBeServiceDocument: Bool {
    context?.hasFragment == false && options.expected == nil && options.expectedType == nil
  }

  /// Whether a row is an element of a service document (OData JSON Format 4.01 §5).
  func isServiceElement(_ row: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let name = walker.find("name", in: row, bytes)
    let url = walker.find("url", in: row, bytes)
    return name >= 0 && url >= 0 && walker.tape[name].kind == .string && walker.tape[url].kind == .string
  }

  /// The kind that the first row shows.
  private mutating func kindByRow(_ bytes: UnsafeBufferPointer<UInt8>) throws(PayloadError.Problem) -> PayloadKind {
    let tape = walker.tape
    guard tape[0].kind == .beginObject else { return .property }
    if walker.find("__metadata", in: 0, bytes) >= 0 { walker.dialect = .v2 }
    if opening?.holdsValues == true { return .property }
    if mayBeServiceDocument, isServiceElement(0, bytes) { return .serviceDocument }
    if walker.dialect == .v2 {
      if tape.count == 4, tape.matches(1, "uri", in: bytes), tape[2].kind == .string { return .references }
      let metadata = walker.find("__metadata", in: 0, bytes)
      let isValue = metadata >= 0 && !walker.metadataMarksEntity(metadata, bytes)
      return isValue && walker.find("deleted", in: metadata, bytes) < 0 ? .property : .collection
    }
    if context?.collectionOf != nil, try !walker.summarize(0, parent: -1, bytes).marksEntity { return .property }
    return .collection
  }

  /// Reports the beginning of the payload and the members before its rows.
  private mutating func begin(_ source: PayloadWalker.Source) throws {
    guard let kind, let opening else { return }
    self.opening = nil
    try source.handler.beginPayload(kind)
    let rows = walker.tape
    walker.tape = opening.tape
    try opening.bytes.withUnsafeBufferPointer { bytes in
      try payloadMembers(PayloadWalker.Source(bytes: bytes, handler: source.handler))
    }
    walker.tape = rows
    if kind == .property { try source.handler.beginValues(nil) }
  }

  /// Reports one complete row.
  mutating func row(_ source: PayloadWalker.Source) throws {
    walker.current = 0
    if opening != nil {
      if kind == nil { kind = try kindByRow(source.bytes) }
      try begin(source)
    }
    try walker.row(0, kind: kind ?? .collection, member: member, source)
  }

  /// Ends the array of rows.
  mutating func endRows(_ source: PayloadWalker.Source) throws {
    if opening != nil {
      if kind == nil {
        kind = opening?.holdsValues == true ? .property : mayBeServiceDocument ? .serviceDocument : .collection
      }
      try begin(source)
    }
    if kind == .property { try source.handler.endValues() }
    stage = .closing
    if lexer.isComplete { try readClosing(source) }
  }

  /// Reports the members after the rows.
  mutating func readClosing(_ source: PayloadWalker.Source) throws {
    if !walker.tape.isEmpty { try payloadMembers(source) }
    try source.handler.endPayload()
  }

  /// Reports members next to the rows, on any level.
  private mutating func payloadMembers(_ source: PayloadWalker.Source) throws {
    var index = 0
    while index < walker.tape.count {
      walker.current = index
      guard walker.tape[index].kind == .name, index + 1 < walker.tape.count else {
        index += 1
        continue
      }
      let value = index + 1
      let isOpenValue = walker.tape.after(value) <= value || walker.tape.after(value) > walker.tape.count
      let isFrame = isOpenValue || value == walker.tape.count - 1 && walker.tape[value].kind == .beginArray
      let isD =
        stage != .closing && walker.tape.matches(index, "d", in: source.bytes)
        && walker.tape[value].kind == .beginObject
      if isFrame || isD && index == 1 {
        index += 2
        continue
      }
      try payloadMember(index, source)
      index = walker.tape.after(value)
    }
  }

  /// Reports one member next to the rows: control information, an error, or data that is kept as an annotation.
  mutating func payloadMember(_ index: Int, _ source: PayloadWalker.Source) throws {
    let value = index + 1
    let bytes = source.bytes
    walker.current = index
    let name = try walker.names.lookUp(
      walker.tape.bytes(index, in: bytes), isEscaped: walker.tape[index].isEscaped, parent: -1, previous: -1)
    let entry = walker.names[name]
    let isError = entry.role == .control(.error) || entry.name.text == "error"
    if isError, let error = try ODataErrorPayload(node: walker.tape.node(value, in: bytes)) {
      throw PayloadError.Problem.inStreamError(error)
    }
    switch entry.role {
    case .metadata:
      if let type = Optional(walker.find("type", in: value, bytes)), type >= 0, walker.isScalar(type) {
        try source.handler.control(.type, on: nil, walker.scalar(type, .untyped, bytes))
      }
    case .property where stage == .closing && pathPrefix.split(separator: ".").contains(entry.name.text[...]):
      throw PayloadError.Problem.duplicateName(entry.name.text)
    case .property, .deferred, .mediaResource:
      let annotation = ODataAnnotation(term: entry.name.text, value: try walker.untyped(value, bytes))
      try source.handler.annotation(annotation, on: nil)
    case .control, .annotation:
      if entry.target < 0 {
        try walker.reportObjectMember(entry.role, named: name, value: value, source)
      } else {
        // `value@odata.count` and similar names describe the rows.
        let target = walker.names[entry.target].name.text
        if case .control(let control) = entry.role, target == "value", walker.isScalar(value) {
          try source.handler.control(control, on: nil, walker.scalar(value, .untyped, bytes))
        } else {
          let annotation = ODataAnnotation(term: entry.name.text, value: try walker.untyped(value, bytes))
          try source.handler.annotation(annotation, on: nil)
        }
      }
    case .operation: try walker.reportObjectMember(entry.role, named: name, value: value, source)
    }
  }
}
