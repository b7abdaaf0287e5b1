import LarderOData
import LarderODataXML

/// What is known of an answer before it is read.
struct PageForm: Sendable, Codable, Hashable {
  var isAtom = false
  /// What was asked for.
  var url: String?
  var status: Int?
  /// The media type.
  var contentType: String?
  private var versionNumber: Int?
  /// What the page has to hold; nil takes all that holds entities.
  var content: Content?
  private var protocolNumber: Int?

  /// What a page is asked for.
  enum Content: String, Sendable, Codable {
    case entity = "one entity"
    case collection = "a collection of entities"
    /// Changes; services that have no form of their own for these tell entities.
    case changes = "changes"
  }

  /// - Parameters:
  ///   - version: that of the answer.
  ///   - protocolVersion: that of the service: an answer in another protocol is none.
  init(
    isAtom: Bool = false, url: String? = nil, status: Int? = nil, contentType: String? = nil,
    version: ODataVersion? = nil, content: Content? = nil, protocolVersion: ODataVersion? = nil
  ) {
    self.content = content
    protocolNumber = protocolVersion?.rawValue
    self.isAtom = isAtom
    self.url = url
    self.status = status
    self.contentType = contentType
    versionNumber = version?.rawValue
  }

  var version: ODataVersion? { versionNumber.flatMap { ODataVersion(rawValue: $0) } }
  var protocolVersion: ODataVersion? { protocolNumber.flatMap { ODataVersion(rawValue: $0) } }
}

/// What a page of an answer has told.
struct PageEnd: Sendable, Hashable {
  var nextLink: String?
  var deltaLink: String?
  /// How many rows there are in all, where the service counts.
  var count: Int64?
  /// The page's own rows, without those in line.
  var rows: Int64 = 0
  /// Entities of any kind, and links between them, that no page before had; nil where nobody has looked.
  var newRows: Int64?
  /// Rows of the query's own table that this staging has so far, each counted once; nil for changes.
  var stagedRows: Int64?
  var context: String?
  /// How many links in line their referential constraints contradict, by table and navigation property.
  var contradictedLinks: [String: Int64] = [:]
  /// Values with more digits than their type has.
  var fineValues = FineValues()
}

/// A collection in line that goes on behind a link.
struct InlinePage: Sendable, Hashable {
  let id: Int64
  let link: String
  /// The table and navigation property, and the entity that has it.
  let table: Int
  let navigation: Int
  let parent: Int64
}

/// Reads one payload of JSON or Atom into a collector.
struct PageReader {
  private enum Reader {
    case json(JSONPayloadReader)
    case atom(AtomPayloadReader)
  }

  let collector: RowCollector
  private var reader: Reader

  init(_ form: PageForm, _ collector: RowCollector) {
    self.collector = collector
    collector.content = form.content
    if form.isAtom {
      var options = AtomOptions(model: collector.rows.model)
      options.expectedType = .named(collector.rows.rootTypeName)
      reader = .atom(AtomPayloadReader(options: options, handler: collector))
    } else {
      var options = PayloadOptions(
        model: collector.rows.model, url: form.url, status: form.status, version: form.version,
        contentType: form.contentType)
      // Links to further pages and to changes may be of any form.
      if options.expectedType == nil { options.expectedType = .named(collector.rows.rootTypeName) }
      if form.content == .entity { options.expected = .entity }
      options.protocolVersion = form.protocolVersion
      reader = .json(JSONPayloadReader(options: options))
    }
  }

  /// Reads the next bytes.
  mutating func read(_ bytes: [UInt8]) throws {
    switch reader {
    case .json(var json):
      // One owner at a time, so that its buffers are not copied.
      reader = .json(JSONPayloadReader())
      defer { reader = .json(json) }
      try json.read(bytes, into: collector)
    case .atom(let atom): try atom.read(bytes)
    }
  }

  /// Tells that no bytes follow.
  mutating func finish() throws {
    switch reader {
    case .json(var json): try json.finish(into: collector)
    case .atom(let atom): try atom.finish()
    }
  }

  var end: PageEnd {
    let told = collector.rows
    return PageEnd(
      nextLink: told.nextLink, deltaLink: told.deltaLink, count: told.count, rows: told.rootCount,
      context: told.context,
      contradictedLinks: told.contradictedLinks, fineValues: told.fineValues)
  }
}
