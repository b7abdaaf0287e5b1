// The special objects of V1 to V3 verbose JSON: `__metadata`, `__deferred`, `__mediaresource`, `results`.
extension PayloadWalker {
  /// Reports `__metadata` as control information of its entity or complex value.
  mutating func metadata(_ at: Int, _ source: Source) throws {
    current = at
    guard tape[at].kind == .beginObject else {
      throw PayloadError.Problem.unexpected(expected: "an object in '__metadata'")
    }
    var index = at + 1
    while tape[index].kind != .endObject {
      let value = index + 1
      current = value
      try metadataMember(index, value, source)
      index = tape.after(value)
    }
  }

  private mutating func metadataMember(_ name: Int, _ value: Int, _ source: Source) throws {
    let bytes = source.bytes
    if let control = metadataControl(name, bytes), isScalar(value) {
      return try source.handler.control(control, on: nil, scalar(value, .untyped, bytes))
    }
    if tape[value].kind == .beginObject {
      if tape.matches(name, "actions", in: bytes) { return try operations(value, .action, source) }
      if tape.matches(name, "functions", in: bytes) { return try operations(value, .function, source) }
      if tape.matches(name, "properties", in: bytes) { return try linkedProperties(value, source) }
    }
    if tape.matches(name, "deleted", in: bytes) { return }
    let annotation = ODataAnnotation(
      term: "__metadata." + tape.name(name, in: bytes), value: try untyped(value, bytes))
    try source.handler.annotation(annotation, on: nil)
  }

  private func metadataControl(_ name: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> ControlInformation? {
    if tape.matches(name, "uri", in: bytes) { return .editLink }
    if tape.matches(name, "id", in: bytes) { return .id }
    if tape.matches(name, "type", in: bytes) { return .type }
    if tape.matches(name, "etag", in: bytes) { return .etag }
    if tape.matches(name, "media_src", in: bytes) { return .mediaReadLink }
    if tape.matches(name, "edit_media", in: bytes) { return .mediaEditLink }
    if tape.matches(name, "content_type", in: bytes) { return .mediaContentType }
    if tape.matches(name, "media_etag", in: bytes) { return .mediaETag }
    return nil
  }

  private mutating func operations(_ at: Int, _ kind: ODataOperation.Kind, _ source: Source) throws {
    var index = at + 1
    while tape[index].kind != .endObject {
      current = index
      try operation(PayloadTypes.name(tape.name(index, in: source.bytes)), kind: kind, value: index + 1, source)
      index = tape.after(index + 1)
    }
  }

  /// Reports V3 `properties`: `{"Orders": {"associationuri": "…"}}`.
  private mutating func linkedProperties(_ at: Int, _ source: Source) throws {
    var index = at + 1
    while tape[index].kind != .endObject {
      current = index
      let name = try names.intern(tape.name(index, in: source.bytes))
      let link = index + 1
      if tape[link].kind == .beginObject {
        var member = link + 1
        while tape[member].kind != .endObject {
          let value = member + 1
          if isScalar(value),
            tape.matches(member, "associationuri", in: source.bytes)
              || tape.matches(member, "association_uri", in: source.bytes)
          {
            try source.handler.control(.associationLink, on: names[name].name, scalar(value, .untyped, source.bytes))
          } else {
            let term = "__metadata.properties." + tape.name(member, in: source.bytes)
            try source.handler.annotation(
              .init(term: term, value: try untyped(value, source.bytes)), on: names[name].name)
          }
          member = tape.after(value)
        }
      }
      index = tape.after(link)
    }
  }

  /// Reports a property whose object is one of V2's special forms; returns false for ordinary objects.
  mutating func verboseProperty(
    _ name: Int32, value: Int, member: PayloadTypes.Member, source: Source
  ) throws -> Bool {
    let bytes = source.bytes
    let deferred = find("__deferred", in: value, bytes)
    if deferred >= 0 {
      let uri = find("uri", in: deferred, bytes)
      guard uri >= 0, isScalar(uri) else { throw PayloadError.Problem.unexpected(expected: "a 'uri' in '__deferred'") }
      try source.handler.control(.navigationLink, on: names[name].name, scalar(uri, .untyped, bytes))
      return true
    }
    let media = find("__mediaresource", in: value, bytes)
    if media >= 0 {
      try mediaResource(name, media, source)
      return true
    }
    let results = find("results", in: value, bytes)
    guard results >= 0, tape[results].kind == .beginArray, try isResults(value, bytes) else { return false }
    try resultsProperty(name, at: value, results: results, member: member, source)
    return true
  }

  /// True if an object contains only `results` and the members that may accompany it.
  private mutating func isResults(_ at: Int, _ bytes: UnsafeBufferPointer<UInt8>) throws(PayloadError.Problem) -> Bool {
    try summarize(at, parent: -1, bytes).propertyCount == 1
  }

  /// Reports `{"results": […], "__count": …, "__next": …}`: expanded entities, or a V3 collection of values.
  private mutating func resultsProperty(
    _ name: Int32, at: Int, results: Int, member: PayloadTypes.Member, _ source: Source
  ) throws {
    var isValues = member.kind == .scalar || member.kind == .structured || member.kind == .geo
    if member.kind == .undeclared { isValues = try holdsValues(at, results, source.bytes) }
    if isValues {
      try values(results, named: name, member: member, source)
    } else {
      try collection(results, named: name, plan: member.plan, isDelta: false, source)
    }
    var index = at + 1
    while tape[index].kind != .endObject {
      if case .control(let control) = names.role(tape[index].name), isScalar(index + 1) {
        try source.handler.control(control, on: names[name].name, scalar(index + 1, .untyped, source.bytes))
      }
      index = tape.after(index + 1)
    }
  }

  /// Whether `results` contains values, not entities: scalars, objects without a URI, or a type that is a collection.
  mutating func holdsValues(
    _ owner: Int, _ results: Int, _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(PayloadError.Problem) -> Bool {
    let metadata = find("__metadata", in: owner, bytes)
    if metadata >= 0, case let type = find("type", in: metadata, bytes), type >= 0,
      tape.text(type, in: bytes)?.hasPrefix("Collection(") == true
    {
      return true
    }
    let first = results + 1
    if tape[first].kind == .endArray { return false }
    guard tape[first].kind == .beginObject else { return true }
    let firstMetadata = find("__metadata", in: first, bytes)
    return firstMetadata >= 0 && !metadataMarksEntity(firstMetadata, bytes)
  }

  /// Reports `__mediaresource`: a named stream of V3.
  private mutating func mediaResource(_ name: Int32, _ at: Int, _ source: Source) throws {
    guard tape[at].kind == .beginObject else {
      throw PayloadError.Problem.unexpected(expected: "an object in '__mediaresource'")
    }
    var index = at + 1
    while tape[index].kind != .endObject {
      let value = index + 1
      if let control = metadataControl(index, source.bytes), isScalar(value) {
        try source.handler.control(control, on: names[name].name, scalar(value, .untyped, source.bytes))
      } else {
        let term = "__mediaresource." + tape.name(index, in: source.bytes)
        try source.handler.annotation(
          .init(term: term, value: try untyped(value, source.bytes)), on: names[name].name)
      }
      index = tape.after(value)
    }
  }
}
