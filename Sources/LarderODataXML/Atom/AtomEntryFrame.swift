internal import LarderOData

/// Reads an `atom:entry` (RFC 4287 §4.1.2; OData Atom Format 4.0 §6; [MS-ODATA] §2.2.6.2.2).
final class AtomEntryFrame: AtomFrame {
  private var entity = ODataEntity()
  private let declared: String?
  /// The indices of navigation links and streams by name.
  private var links: [String: Int] = [:]
  private var streams: [String: Int] = [:]
  /// The mapped property values that were read outside the entry's content.
  private var mappedValues = AtomMappedValues()
  private let deliver: (ODataEntity) throws -> Void

  init(
    _ element: XMLElement, base: String?, type: String?, _ reading: AtomReading,
    deliver: @escaping (ODataEntity) throws -> Void
  ) {
    declared = type
    self.deliver = deliver
    super.init(element, base: base)
    entity.etag = element.metadata("etag")
    entity.context = element.metadata("context")
  }

  private var type: String? { entity.typeName ?? declared }

  override func child(_ element: XMLElement, _ reading: AtomReading) throws -> AtomFrame {
    switch AtomVocabulary(element.name.namespace) {
    case .atom: return atomChild(element, reading)
    case .metadata: return metadataChild(element, reading)
    default: return mappedValues.frame(element, base: base)
    }
  }

  private func atomChild(_ element: XMLElement, _ reading: AtomReading) -> AtomFrame {
    switch element.name.local {
    case "id":
      return TextAtomFrame(element, base: base) { text in
        let id = text.trimmed
        self.entity.id = id.isEmpty ? nil : self.resolve(id)
      }
    case "category":
      if let scheme = element.attribute("scheme"), AtomNamespace.relation(scheme) == "scheme" {
        entity.typeName = AtomTypes.reference(element.attribute("term"))?.description
      } else {
        mappedValues.category(element)
      }
      return SkippedAtomFrame(element, base: base)
    case "link": return link(element, reading)
    case "content": return content(element, reading)
    default: return mappedValues.frame(element, base: base)
    }
  }

  private func metadataChild(_ element: XMLElement, _ reading: AtomReading) -> AtomFrame {
    switch element.name.local {
    case "properties": return properties(element, reading)
    case "action", "function":
      entity.operations.append(AtomEntryFrame.operation(element, base: base))
    case "annotation":
      return AtomAnnotations.annotation(element, base: base, reading) { annotation, target in
        self.annotate(annotation, target)
      }
    default: break
    }
    return SkippedAtomFrame(element, base: base)
  }

  private func annotate(_ annotation: ODataAnnotation, _ target: String?) {
    guard let target else { return entity.annotations.append(annotation) }
    if let place = entity.properties.firstIndex(where: { $0.name == target }) {
      entity.properties[place].annotations.append(annotation)
    } else {
      entity.annotations.append(ODataAnnotation(term: target + "@" + annotation.term, value: annotation.value))
    }
  }

  private func content(_ element: XMLElement, _ reading: AtomReading) -> AtomFrame {
    if let source = element.attribute("src") {
      var media = entity.media ?? ODataMediaLink()
      media.readLink = resolve(source)
      media.contentType = element.attribute("type")
      entity.media = media
    }
    return BracketAtomFrame(element, base: base) { element, _, reading in
      guard element.name.local == "properties", AtomVocabulary(element.name.namespace) == .metadata else { return nil }
      return self.properties(element, reading)
    }
  }

  private func properties(_ element: XMLElement, _ reading: AtomReading) -> AtomFrame {
    BracketAtomFrame(element, base: base) { element, frame, reading in
      let vocabulary = AtomVocabulary(element.name.namespace)
      if vocabulary.isOfFeeds { return nil }
      if vocabulary == .metadata, element.name.local == "annotation" {
        return AtomAnnotations.annotation(element, base: frame.base, reading) { self.annotate($0, $1) }
      }
      let declared = reading.types.structure(self.type)?.property(element.name.local)?.type
      return AtomPropertyFrame(element, base: frame.base, declared: declared) { self.entity.properties.append($0) }
    }
  }

  // MARK: Links

  private func link(_ element: XMLElement, _ reading: AtomReading) -> AtomFrame {
    let url = element.attribute("href").map { resolve($0) }
    let rel = element.attribute("rel") ?? "alternate"
    switch rel {
    case "edit": entity.editLink = url
    case "self": entity.readLink = url
    case "edit-media":
      var media = entity.media ?? ODataMediaLink()
      media.editLink = url
      media.etag = element.metadata("etag")
      if media.contentType == nil { media.contentType = element.attribute("type") }
      entity.media = media
    default:
      guard let relation = AtomNamespace.relation(rel), let slash = relation.firstIndex(of: "/") else {
        if let url { entity.annotations.append(ODataAnnotation(term: "atom.link." + rel, value: .string(url))) }
        break
      }
      let name = String(relation[relation.index(after: slash)...])
      return odataLink(element, kind: String(relation[..<slash]), name: name, url: url, reading)
    }
    return SkippedAtomFrame(element, base: base)
  }

  private func odataLink(
    _ element: XMLElement, kind: String, name: String, url: String?, _ reading: AtomReading
  ) -> AtomFrame {
    switch kind {
    case "related":
      let place = linkPlace(name)
      entity.navigationLinks[place].url = url
      return inline(element, named: name, place: place, reading)
    case "relatedlinks":
      entity.navigationLinks[linkPlace(name)].associationURL = url
    case "mediaresource":
      stream(name) { link in
        link.readLink = url
        link.contentType = element.attribute("type") ?? link.contentType
      }
    case "edit-media":
      stream(name) { link in
        link.editLink = url
        link.contentType = element.attribute("type") ?? link.contentType
        link.etag = element.metadata("etag") ?? link.etag
      }
    default:
      if let url {
        entity.annotations.append(ODataAnnotation(term: "atom.link.\(kind)/\(name)", value: .string(url)))
      }
    }
    return SkippedAtomFrame(element, base: base)
  }

  private func linkPlace(_ name: String) -> Int {
    if let place = links[name] { return place }
    entity.navigationLinks.append(ODataNavigationLink(name: name))
    links[name] = entity.navigationLinks.count - 1
    return entity.navigationLinks.count - 1
  }

  private func stream(_ name: String, _ change: (inout ODataMediaLink) -> Void) {
    let place = streams[name] ?? entity.streams.count
    if place == entity.streams.count {
      entity.streams.append(ODataStreamProperty(name: name, link: ODataMediaLink()))
      streams[name] = place
    }
    change(&entity.streams[place].link)
  }

  /// Reads `m:inline` of a navigation link: a feed, an entry, or nothing.
  private func inline(_ element: XMLElement, named name: String, place: Int, _ reading: AtomReading) -> AtomFrame {
    let navigation = reading.types.structure(type)?.navigationProperty(name)
    let isFeed = element.attribute("type")?.contains("type=feed") ?? navigation?.isCollection ?? false
    let target = navigation?.type.name
    return BracketAtomFrame(element, base: base) { element, frame, _ in
      guard element.name.local == "inline", AtomVocabulary(element.name.namespace) == .metadata else { return nil }
      self.entity.navigationLinks[place].content = isFeed ? .collection(ODataEntityCollection()) : .null
      return BracketAtomFrame(element, base: frame.base) { element, frame, reading in
        guard AtomVocabulary(element.name.namespace) == .atom else { return nil }
        switch element.name.local {
        case "entry":
          return AtomEntryFrame(element, base: frame.base, type: target, reading) { entity in
            self.entity.navigationLinks[place].content = .entity(entity)
          }
        case "feed":
          return AtomFeedFrame(element, base: frame.base, type: target) { feed in
            self.entity.navigationLinks[place].content = feed.content
          }
        default: return nil
        }
      }
    }
  }

  /// Reads `m:action` and `m:function` (OData Atom Format 4.0 §15): the metadata URL's fragment is the name.
  static func operation(_ element: XMLElement, base: String?) -> ODataOperation {
    let metadata = element.attribute("metadata") ?? ""
    let name = metadata.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).last.map(String.init)
    return ODataOperation(
      kind: element.name.local == "action" ? .action : .function, name: name ?? metadata,
      title: element.attribute("title"),
      target: element.attribute("target").map { AtomBase.resolve($0, against: base) })
  }

  override func end(_ reading: AtomReading) throws {
    let structure = reading.types.structure(type)
    try mappedValues.addValues(into: &entity, structure, reading.types)
    try deliver(entity)
  }
}
