internal import LarderOData

/// The kind of a document, determined by its root: Atom of V1 to V3 and V4, and the XML next to it (OData Atom Format
/// 4.0; [MS-ODATA] §2.2.6.2 to §2.2.6.5).
enum AtomDocument {
  static func root(
    _ element: XMLElement, expected: EdmTypeReference?, _ reading: AtomReading
  ) throws -> AtomFrame {
    let local = element.name.local
    let sink = reading.sink
    switch AtomVocabulary(element.name.namespace) {
    case .atom where local == "entry":
      let type = reading.types.rowType(context: element.metadata("context"), expected: expected)
      return AtomEntryFrame(element, base: nil, type: type, reading) { try sink.document(.entity($0)) }
    case .atom where local == "feed":
      return AtomFeedFrame(element, base: nil, expected: expected, reading, sink: sink)
    case .app where local == "service":
      return AtomServiceFrame(element, base: nil) { try sink.document(.serviceDocument($0)) }
    case .metadata where local == "error":
      return AtomErrorFrame(element, base: nil) { try sink.document(.error($0)) }
    case .metadata where local == "ref":
      let reference = AtomReferences.reference(element, base: nil)
      return BracketAtomFrame(element, base: nil, finish: { try sink.document(.reference(reference)) }) { _, _, _ in nil
      }
    case .metadata where local == "value":
      return property(element, name: nil, expected: expected, reading)
    case .data where local == "links", .metadata where local == "links":
      return AtomReferences.links(element) { try sink.document(.references($0)) }
    case .data where local == "uri", .metadata where local == "uri":
      return TextAtomFrame(element, base: nil) { try sink.document(.reference(ODataReference(id: $0.trimmed))) }
    case .data:
      return property(element, name: local, expected: expected, reading)
    default:
      // V2 services sometimes omit the namespace of errors.
      if local == "error" { return AtomErrorFrame(element, base: nil) { try sink.document(.error($0)) } }
      throw reading.error(.notOData(root: element.name.qualified))
    }
  }

  private static func property(
    _ element: XMLElement, name: String?, expected: EdmTypeReference?, _ reading: AtomReading
  ) -> AtomFrame {
    let context = element.metadata("context")
    let type = AtomTypes.reference(element.metadata("type"))
    return AtomPropertyFrame(element, base: nil, declared: expected) { property in
      var payload = ODataPropertyPayload(
        name: name, value: property.value, typeName: type?.description, context: context)
      payload.annotations = property.annotations.filter { $0.term != "odata.type" }
      try reading.sink.document(.property(payload))
    }
  }
}

/// Reads lists of references: V2's `$links` documents, V4's `m:ref`.
enum AtomReferences {
  static func reference(_ element: XMLElement, base: String?) -> ODataReference {
    let id = element.attribute("id") ?? element.metadata("id") ?? ""
    return ODataReference(id: AtomBase.resolve(id, against: base))
  }

  static func links(
    _ element: XMLElement, deliver: @escaping (ODataReferenceCollection) throws -> Void
  ) -> AtomFrame {
    var references = ODataReferenceCollection()
    return BracketAtomFrame(element, base: nil, finish: { try deliver(references) }) { element, frame, _ in
      switch element.name.local {
      case "uri":
        return TextAtomFrame(element, base: frame.base) { references.references.append(ODataReference(id: $0.trimmed)) }
      case "count":
        return TextAtomFrame(element, base: frame.base) { references.count = Int64($0.trimmed) }
      case "next":
        return TextAtomFrame(element, base: frame.base) { references.nextLink = $0.trimmed }
      default: return nil
      }
    }
  }
}
