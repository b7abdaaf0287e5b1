/// The state of one open object, collection or payload in a builder.
struct PayloadFrame {
  enum Kind { case payload, entity, complex, collection, delta, values }

  let kind: Kind
  let name: PayloadName?
  /// The properties, links and annotations, for complex values and payloads too.
  var entity = ODataEntity()
  var items: [ODataDelta.Item] = []
  var values: [ODataValue] = []
  var references: [ODataReference] = []
  var elements: [ODataServiceDocument.Element] = []
  var error: ODataErrorPayload?
  var count: Int64?
  var nextLink: String?
  var deltaLink: String?
  /// Annotations on properties, which may come before their property.
  var pending: [(PayloadName, ODataAnnotation)] = []
  /// The indices of links and streams by name number; used once there are many.
  private var linkPlaces: [Int: Int] = [:]

  init(_ kind: Kind, name: PayloadName?) {
    self.kind = kind
    self.name = name
  }

  mutating func add(_ property: ODataProperty) { entity.properties.append(property) }

  /// Adds a value: of a property, an element, or the payload's only one.
  mutating func add(_ value: ODataValue, _ name: PayloadName?) {
    if let name { entity.properties.append(ODataProperty(name.text, value)) } else { values.append(value) }
  }

  /// Changes the navigation link with a name; creates it if needed.
  mutating func link(_ name: PayloadName, _ change: (inout ODataNavigationLink) -> Void) {
    if let place = linkPlaces[name.index] { return change(&entity.navigationLinks[place]) }
    linkPlaces[name.index] = entity.navigationLinks.count
    entity.navigationLinks.append(ODataNavigationLink(name: name.text))
    change(&entity.navigationLinks[entity.navigationLinks.count - 1])
  }

  /// Changes the stream with a name; creates it if needed.
  mutating func stream(_ name: PayloadName, _ change: (inout ODataMediaLink) -> Void) {
    // The keys of streams are negative, so that they share the dictionary with links.
    if let place = linkPlaces[-1 - name.index] { return change(&entity.streams[place].link) }
    linkPlaces[-1 - name.index] = entity.streams.count
    entity.streams.append(ODataStreamProperty(name: name.text, link: ODataMediaLink()))
    change(&entity.streams[entity.streams.count - 1].link)
  }

  /// Sets control information of the object or payload itself.
  mutating func control(_ information: ControlInformation, _ scalar: PayloadScalar) {
    if scalar.isNull {
      if information == .id { entity.isTransient = true }
      if information == .etag || information == .id || information == .null { return }
    }
    switch information {
    case .context: entity.context = scalar.string
    case .type: entity.typeName = PayloadTypes.name(scalar.string)
    case .id: entity.id = scalar.string
    case .etag: entity.etag = scalar.string
    case .editLink: entity.editLink = scalar.string
    case .readLink: entity.readLink = scalar.string
    case .count:
      count = scalar.int64
      if count == nil { keep(information, scalar, nil) }
    // An empty link leads nowhere: some services end the last page with one.
    case .nextLink: nextLink = scalar.string.isEmpty ? nil : scalar.string
    case .deltaLink: deltaLink = scalar.string
    case .mediaReadLink: media { $0.readLink = scalar.string }
    case .mediaEditLink: media { $0.editLink = scalar.string }
    case .mediaContentType: media { $0.contentType = scalar.string }
    case .mediaETag: media { $0.etag = scalar.string }
    case .null: break
    case .metadataETag, .delta, .navigationLink, .associationLink, .bind, .removed, .error, .collectionAnnotations:
      keep(information, scalar, nil)
    }
  }

  /// Sets control information of a property.
  mutating func control(_ information: ControlInformation, on name: PayloadName, _ scalar: PayloadScalar) {
    switch information {
    case .navigationLink: link(name) { $0.url = scalar.string }
    case .associationLink: link(name) { $0.associationURL = scalar.string }
    case .bind where scalar.isNull: link(name) { $0.content = .null }
    case .bind where scalar.kind == .string: link(name) { $0.bindings.append(scalar.string) }
    case .bind: pending.append((name, ODataAnnotation(term: "odata.bind", value: .boolean(scalar.boolean ?? false))))
    case .count:
      if let count = scalar.int64 { link(name) { $0.setCount(count) } } else { keep(information, scalar, name) }
    case .nextLink: if !scalar.string.isEmpty { link(name) { $0.setNextLink(scalar.string) } }
    case .deltaLink: link(name) { $0.setDeltaLink(scalar.string) }
    case .context: link(name) { $0.setContext(scalar.string) }
    case .mediaReadLink: stream(name) { $0.readLink = scalar.string }
    case .mediaEditLink, .editLink: stream(name) { $0.editLink = scalar.string }
    case .mediaContentType: stream(name) { $0.contentType = scalar.string }
    case .mediaETag: stream(name) { $0.etag = scalar.string }
    case .type:
      // The value shows a primitive type; other type names would be lost.
      let type = PayloadTypes.name(scalar.string)
      if EdmTypeReference(type).primitive == nil { keep(information, scalar, name) }
    default: keep(information, scalar, name)
    }
  }

  private mutating func media(_ change: (inout ODataMediaLink) -> Void) {
    var link = entity.media ?? ODataMediaLink()
    change(&link)
    entity.media = link
  }

  private mutating func keep(_ information: ControlInformation, _ scalar: PayloadScalar, _ name: PayloadName?) {
    let value: ODataValue = scalar.isNull ? .null : scalar.boolean.map(ODataValue.boolean) ?? .string(scalar.string)
    let annotation = ODataAnnotation(term: "odata.\(information)", value: value)
    if let name { pending.append((name, annotation)) } else { entity.annotations.append(annotation) }
  }

  /// Completes the object: assigns annotations to their properties.
  mutating func completeObject() {
    if !pending.isEmpty { attachPendingAnnotations() }
    if !entity.navigationLinks.isEmpty { moveCountsToProperties() }
    if kind == .complex, !entity.navigationLinks.isEmpty || !entity.streams.isEmpty { convertLinksToAnnotations() }
  }

  /// Assigns the counts and links of a collection of values, which were read as those of a navigation property, to the
  /// property.
  private mutating func moveCountsToProperties() {
    func isBare(_ link: ODataNavigationLink) -> Bool {
      link.url == nil && link.associationURL == nil && link.content == nil && link.bindings.isEmpty
    }
    guard entity.navigationLinks.contains(where: isBare) else { return }
    var places: [String: Int] = [:]
    for (place, property) in entity.properties.enumerated() { places[property.name] = place }
    var links: [ODataNavigationLink] = []
    for link in entity.navigationLinks {
      guard isBare(link), let place = places[link.name] else {
        links.append(link)
        continue
      }
      if let count = link.count {
        entity.properties[place].annotations.append(ODataAnnotation(term: "odata.count", value: .int64(count)))
      }
      entity.properties[place].annotations += link.annotations
    }
    entity.navigationLinks = links
  }

  private mutating func attachPendingAnnotations() {
    var places: [String: Int] = [:]
    for (place, property) in entity.properties.enumerated() { places[property.name] = place }
    for (name, annotation) in pending {
      if let place = places[name.text] {
        entity.properties[place].annotations.append(annotation)
      } else if linkPlaces[name.index] != nil {
        link(name) { $0.annotations.append(annotation) }
      } else {
        entity.annotations.append(ODataAnnotation(term: name.text + "@" + annotation.term, value: annotation.value))
      }
    }
    pending = []
  }

  /// Converts links to annotations and values, because a complex value cannot contain links.
  private mutating func convertLinksToAnnotations() {
    for link in entity.navigationLinks {
      func keep(_ term: String, _ value: ODataValue) {
        entity.annotations.append(ODataAnnotation(term: "\(link.name)@odata.\(term)", value: value))
      }
      if let url = link.url { keep("navigationLink", .string(url)) }
      if let url = link.associationURL { keep("associationLink", .string(url)) }
      for binding in link.bindings { keep("bind", .string(binding)) }
      if let count = link.count { keep("count", .int64(count)) }
      if case .collection(let related)? = link.content, let next = related.nextLink { keep("nextLink", .string(next)) }
      switch link.content {
      case .delta(let delta)?: keep("delta", delta.asValue)
      case let content?: entity.properties.append(ODataProperty(link.name, content.asValue))
      case nil: break
      }
      for annotation in link.annotations {
        entity.annotations.append(ODataAnnotation(term: "\(link.name)@\(annotation.term)", value: annotation.value))
      }
    }
    for stream in entity.streams {
      func keep(_ term: String, _ text: String?) {
        guard let text else { return }
        entity.annotations.append(ODataAnnotation(term: "\(stream.name)@odata.\(term)", value: .string(text)))
      }
      keep("mediaReadLink", stream.link.readLink)
      keep("mediaEditLink", stream.link.editLink)
      keep("mediaContentType", stream.link.contentType)
      keep("mediaEtag", stream.link.etag)
      if let content = stream.link.content { entity.properties.append(ODataProperty(stream.name, content)) }
    }
  }
}
