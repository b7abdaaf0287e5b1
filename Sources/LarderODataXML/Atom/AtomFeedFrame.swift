internal import LarderOData

/// Reads an `atom:feed` (RFC 4287 §4.1.1; OData Atom Format 4.0 §7.1; tombstones RFC 6721).
final class AtomFeedFrame: AtomFrame {
  private var feed = AtomFeed()
  private let type: String?
  /// The sink of a feed that is the whole document: it receives the rows one by one. Nil for an inline feed.
  private let sink: (any AtomSink)?
  private let deliver: (AtomFeed) throws -> Void

  /// Creates the frame of a feed that is the whole document.
  init(
    _ element: XMLElement, base: String?, expected: EdmTypeReference?, _ reading: AtomReading, sink: any AtomSink
  ) {
    feed.context = element.metadata("context")
    type = reading.types.rowType(context: feed.context, expected: expected)
    self.sink = sink
    deliver = { try sink.endFeed($0) }
    super.init(element, base: base)
  }

  /// Creates the frame of an inline feed, which is delivered as a whole.
  init(_ element: XMLElement, base: String?, type: String?, deliver: @escaping (AtomFeed) throws -> Void) {
    feed.context = element.metadata("context")
    self.type = type
    sink = nil
    self.deliver = deliver
    super.init(element, base: base)
  }

  private var hasBegun = false

  /// Sends a row of the document to the sink; collects a row of an inline feed.
  private func add(_ row: AtomRow) throws {
    guard let sink else { return feed.rows.append(row) }
    try begin()
    try sink.row(row)
  }

  private func begin() throws {
    guard let sink, !hasBegun else { return }
    hasBegun = true
    try sink.beginFeed(context: feed.context, isDelta: feed.context?.contains("$delta") ?? false)
  }

  override func child(_ element: XMLElement, _ reading: AtomReading) throws -> AtomFrame {
    let local = element.name.local
    switch AtomVocabulary(element.name.namespace) {
    case .atom where local == "entry":
      return AtomEntryFrame(element, base: base, type: type, reading) { try self.add(.entity($0)) }
    case .atom where local == "link":
      link(element)
    case .metadata where local == "count":
      return TextAtomFrame(element, base: base) { text in
        guard let count = Int64(text.trimmed) else {
          throw AtomValueFailure(reason: "m:count is not a number: \(text)")
        }
        self.feed.count = count
      }
    case .metadata where local == "ref":
      try add(.reference(AtomReferences.reference(element, base: base)))
    case .metadata where local == "link" || local == "deleted-link":
      try add(.link(deltaLink(element), isDeleted: local == "deleted-link"))
    case .metadata where local == "action" || local == "function":
      feed.operations.append(AtomEntryFrame.operation(element, base: base))
    case .metadata where local == "annotation":
      return AtomAnnotations.annotation(element, base: base, reading) { annotation, _ in
        self.feed.annotations.append(annotation)
      }
    case .tombstones where local == "deleted-entry":
      try add(.deletedEntity(tombstone(element)))
    default: break
    }
    return SkippedAtomFrame(element, base: base)
  }

  override func end(_ reading: AtomReading) throws {
    try begin()
    try deliver(feed)
  }

  private func link(_ element: XMLElement) {
    guard let href = element.attribute("href") else { return }
    let url = resolve(href)
    switch element.attribute("rel") ?? "alternate" {
    case "next": feed.nextLink = url
    case "self": feed.readLink = url
    case "delta", "http://docs.oasis-open.org/odata/ns/delta": feed.deltaLink = url
    case let rel: feed.annotations.append(ODataAnnotation(term: "atom.link." + rel, value: .string(url)))
    }
  }

  /// Reads a tombstone (RFC 6721 §3; V4 adds the reason).
  private func tombstone(_ element: XMLElement) -> ODataEntity {
    var entity = ODataEntity(typeName: nil, id: element.attribute("ref").map { resolve($0) })
    switch element.metadata("reason") ?? element.attribute("reason") {
    case nil, "deleted": entity.removal = .deleted
    case "changed": entity.removal = .changed
    case let reason?: entity.removal = .other(reason)
    }
    if let when = element.attribute("when") {
      entity.annotations.append(ODataAnnotation(term: "atom.when", value: .string(when)))
    }
    return entity
  }

  private func deltaLink(_ element: XMLElement) -> ODataDeltaLink {
    ODataDeltaLink(
      source: resolve(element.attribute("source") ?? ""), relationship: element.attribute("relationship") ?? "",
      target: element.attribute("target").map { resolve($0) })
  }
}
