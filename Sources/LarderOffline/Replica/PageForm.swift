import LarderOData
import LarderODataXML

/// What is known about a response before it is read.
struct PageForm: Sendable, Codable, Hashable {
  var isAtom = false
  /// The URL of the request.
  var url: String?
  var status: Int?
  /// The media type.
  var contentType: String?
  private var versionNumber: Int?
  /// The kind of content that the page must have; nil accepts everything that contains entities.
  var content: Content?
  private var protocolNumber: Int?

  /// The requested content of a page.
  enum Content: String, Sendable, Codable {
    case entity = "one entity"
    case collection = "a collection of entities"
    /// Changes. Services without a format for changes send entities.
    case changes = "changes"
  }

  /// - Parameters:
  ///   - version: the version of the response.
  ///   - protocolVersion: the version of the service. A response in another protocol is invalid.
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

  /// Whether a media type says that the payload has full metadata.
  static func isFull(_ contentType: String?) -> Bool {
    let type = MediaType(contentType ?? "")
    return type["odata.metadata"] == "full" || type["metadata"] == "full" || type["odata"] == "fullmetadata"
  }

  var version: ODataVersion? { versionNumber.flatMap { ODataVersion(rawValue: $0) } }
  var protocolVersion: ODataVersion? { protocolNumber.flatMap { ODataVersion(rawValue: $0) } }
}

/// The facts that are known at the end of a page.
struct PageEnd: Sendable, Hashable {
  var nextLink: String?
  var deltaLink: String?
  /// The total number of rows, if the service counts.
  var count: Int64?
  /// The number of the page's own rows, without inline ones.
  var rows: Int64 = 0
  /// The number of entities of any type, and links between them, that no earlier page had; nil if they were not
  /// counted.
  var newRows: Int64?
  /// The number of rows of the query's own table that are staged now, each counted once even if several pages had it;
  /// nil for changes, and if it is not known.
  var stagedRows: Int64?
  /// The rows so far that have the key of an earlier one; not known for changes.
  var repeated = RepeatedRows()
  /// Whether the response is in Atom format.
  var isAtom = false
  /// The `ETag` and `Last-Modified` of the response.
  var etag: String?
  var lastModified: String?
  /// The number of inline links that referential constraints contradict, by table and navigation property.
  var contradictedLinks: [String: Int64] = [:]
  /// Values with more digits than their type has.
  var fineValues = NotedValues()
  /// Values that do not fit their declared type and were kept, and entities without a known key, which were left out.
  var rawValues = NotedValues()
  var unknownKeys = NotedValues()
  /// What the model does not declare, and what is therefore not stored.
  var undeclared = UndeclaredContent()
  /// What the rows show of the links that the query requests, by the names of ``RequestedLinks``.
  var links: [String: LinkFacts] = [:]
}

/// An inline collection that continues behind a link.
struct InlinePage: Sendable, Hashable {
  let id: Int64
  let link: String
  /// The table and navigation property, and the entity that has it.
  let table: Int
  let navigation: Int
  let parent: Int64
}

/// Reads the payload of a page, in JSON or Atom.
struct PageReader {
  private enum Reader {
    case json(JSONPayloadReader)
    case atom(AtomPayloadReader)
  }

  let handler: PageRows.Handler
  private var reader: Reader

  init(_ form: PageForm, into rows: PageRows) {
    handler = PageRows.Handler(rows)
    handler.rows.content = form.content
    handler.rows.isFull = PageForm.isFull(form.contentType)
    if form.isAtom {
      var options = AtomOptions(model: rows.model)
      options.expectedType = .named(rows.rootTypeName)
      reader = .atom(AtomPayloadReader(options: options, handler: handler))
    } else {
      var options = PayloadOptions(
        model: rows.model, url: form.url, status: form.status, version: form.version,
        contentType: form.contentType)
      // Links to further pages and to changes may have any form.
      if options.expectedType == nil { options.expectedType = .named(rows.rootTypeName) }
      if form.content == .entity { options.expected = .entity }
      options.protocolVersion = form.protocolVersion
      reader = .json(JSONPayloadReader(options: options))
    }
  }

  /// Reads the next bytes.
  mutating func read(_ bytes: [UInt8]) throws {
    switch reader {
    case .json(var json):
      // The reader has one owner at a time, so that its buffers are not copied.
      reader = .json(JSONPayloadReader())
      defer { reader = .json(json) }
      try json.read(bytes, into: handler)
    case .atom(let atom): try atom.read(bytes)
    }
  }

  /// Ends the payload: no bytes follow.
  mutating func finish() throws {
    switch reader {
    case .json(var json): try json.finish(into: handler)
    case .atom(let atom): try atom.finish()
    }
  }

  var end: PageEnd {
    let rows = handler.rows
    var end = PageEnd(nextLink: rows.nextLink, deltaLink: rows.deltaLink, count: rows.count, rows: rows.rootCount)
    if case .atom = reader { end.isAtom = true }
    end.contradictedLinks = rows.contradictedLinks
    end.fineValues = rows.fineValues
    end.links = rows.linkFacts
    end.undeclared = rows.undeclared
    end.rawValues = rows.rawValues
    end.unknownKeys = rows.unknownKeys
    return end
  }
}
