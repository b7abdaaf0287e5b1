internal import LarderOData

/// The state while an Atom document is read: the stack of open elements, and the sink of the results.
final class AtomReading: XMLContentHandler {
  let types: AtomTypes
  /// Receives the content of the document's root.
  let sink: any AtomSink
  private var stack: [AtomFrame] = []
  private var place = (line: 0, column: 0)
  private let expected: EdmTypeReference?

  init(types: AtomTypes, expected: EdmTypeReference?, sink: any AtomSink) {
    self.types = types
    self.expected = expected
    self.sink = sink
  }

  /// The open elements.
  var path: String { stack.map(\.name).joined(separator: "/") }

  // MARK: XMLContentHandler

  var wantsText: Bool { stack.last?.wantsText ?? false }

  func start(_ element: XMLElement) throws {
    place = (element.line, element.column)
    try withLocation {
      if let parent = stack.last {
        stack.append(try parent.child(element, self))
      } else {
        stack.append(try AtomDocument.root(element, expected: expected, self))
      }
    }
  }

  func end(_ name: XMLName) throws {
    try withLocation { try stack.last?.end(self) }
    _ = stack.popLast()
  }

  func text(_ text: String) throws { stack.last?.text(text) }

  /// Ignored: oddities such as undeclared prefixes do not make a payload unreadable.
  func warning(_ message: String, line: Int, column: Int) {}

  private func withLocation(_ body: () throws -> Void) throws {
    do { try body() } catch let failure as AtomValueFailure {
      throw AtomError(.invalidValue(failure.reason), line: place.line, column: place.column, path: path)
    }
  }

  func error(_ problem: AtomError.Problem) -> AtomError {
    AtomError(problem, line: place.line, column: place.column, path: path)
  }
}

/// Receives the parts of a document as soon as each is complete.
protocol AtomSink: AnyObject {
  /// A feed begins; `isDelta` is true if its context URL says so.
  func beginFeed(context: String?, isDelta: Bool) throws
  /// An entry, tombstone, link or reference of the feed.
  func row(_ row: AtomRow) throws
  /// The feed is complete; its rows were reported before.
  func endFeed(_ feed: AtomFeed) throws
  /// The whole document, if it is not a feed.
  func document(_ payload: ODataPayload) throws
}

/// A child element of a feed that describes an entity or a change.
enum AtomRow {
  case entity(ODataEntity)
  case deletedEntity(ODataEntity)
  case link(ODataDeltaLink, isDeleted: Bool)
  case reference(ODataReference)
}

/// The information about a feed that is not in its rows.
struct AtomFeed {
  var context: String?
  var count: Int64?
  var nextLink: String?
  var deltaLink: String?
  var readLink: String?
  var operations: [ODataOperation] = []
  var annotations: [ODataAnnotation] = []
  var rows: [AtomRow] = []

  /// The rows as entities, if all rows are entities.
  var content: ODataNavigationLink.Content {
    isDelta ? .delta(delta) : .collection(collection)
  }

  var isDelta: Bool {
    rows.contains { row in
      switch row {
      case .entity, .reference: false
      case .deletedEntity, .link: true
      }
    }
  }

  var collection: ODataEntityCollection {
    var collection = ODataEntityCollection(count: count, nextLink: nextLink, deltaLink: deltaLink, context: context)
    collection.entities = rows.compactMap { if case .entity(let entity) = $0 { entity } else { nil } }
    collection.readLink = readLink
    collection.operations = operations
    collection.annotations = annotations
    return collection
  }

  var delta: ODataDelta {
    var delta = ODataDelta(count: count, nextLink: nextLink, deltaLink: deltaLink, context: context)
    delta.items = rows.compactMap { row in
      switch row {
      case .entity(let entity): .entity(entity)
      case .deletedEntity(let entity): .deletedEntity(entity)
      case .link(let link, let isDeleted): isDeleted ? .deletedLink(link) : .addedLink(link)
      case .reference: nil
      }
    }
    delta.annotations = annotations
    return delta
  }

  var references: ODataReferenceCollection? {
    let references = rows.compactMap { if case .reference(let reference) = $0 { reference } else { nil } }
    guard !references.isEmpty else { return nil }
    return ODataReferenceCollection(
      references: references, count: count, nextLink: nextLink, context: context, annotations: annotations)
  }
}
