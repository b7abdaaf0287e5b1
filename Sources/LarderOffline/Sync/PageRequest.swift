/// One request of a download: what is asked for, before the URL and the fields are written.
struct PageRequest: Codable, Sendable, Hashable {
  /// What is asked.
  enum Place: Codable, Sendable, Hashable {
    /// The defining query; a part of it where there is a window.
    case query(Window?)
    /// A link that the service gave, absolute.
    case link(String)
  }

  /// A page that the client cuts out.
  struct Window: Codable, Sendable, Hashable {
    var top: Int
    var skip: Int64
  }

  /// How the answer shall be written.
  enum Form: String, Codable, Sendable, Hashable { case json, atom }

  var place: Place
  /// The answer is read as changes.
  var isDelta = false
  /// `Prefer: odata.track-changes`
  var tracksChanges = false
  /// `$count=true`, V2 `$inlinecount=allpages`
  var countsRows = false
  /// `Prefer: odata.maxpagesize=…`
  var maximumPageSize: Int?
  /// `If-None-Match`
  var etag: String?
  /// `If-Modified-Since`
  var lastModified: String?
  var form = Form.json

  var window: Window? { if case .query(let window) = place { window } else { nil } }
  var isLink: Bool { if case .link = place { true } else { false } }
  var hasPreferences: Bool { tracksChanges || maximumPageSize != nil }

  mutating func dropPreferences() { (tracksChanges, maximumPageSize) = (false, nil) }
}

/// What a page told when it was read and its rows were staged.
struct PageFacts: Sendable, Hashable {
  var nextLink: String? = nil
  var deltaLink: String? = nil
  /// How many rows there are in all, where the service counts.
  var count: Int64? = nil
  /// The page's rows.
  var rows: Int64 = 0
  /// How many rows are staged now, each counted once whatever page it came with; nil where that is not known.
  var stagedRows: Int64? = nil
  /// How many rows of the query's own table are staged now, each counted once; nil for changes.
  var ownRows: Int64? = nil
  /// The answer came in Atom.
  var isAtom = false
  /// The answer's `ETag` and `Last-Modified`.
  var etag: String? = nil
  var lastModified: String? = nil
  /// How many links in line their referential constraints contradict, by table and navigation property.
  var contradictedLinks: [String: Int64] = [:]
  /// Values with more digits than their type has.
  var fineValues = FineValues()
}

/// Which links of a service are followed (RFC 3986 §5.2; RFC 6454).
struct LinkRules: Sendable, Hashable {
  /// `https://host:1`, without a slash.
  let origin: String
  /// `https://host:1/service/`.
  let root: String
  /// Query options that the root was given with (`sap-client=100`): links below it that lack one get it.
  var query: String? = nil

  private var rootPath: Substring { root.dropFirst(origin.count) }

  /// The absolute text of a link in the answer to `request`; nil for one that leads away.
  ///
  /// A relative link continues the service's root, where context URLs stand. A link to another host is followed on the
  /// service's own where its path is under the root: such links come from services that do not know the name they are
  /// reached by. Nothing is ever sent to another host.
  func resolve(_ link: String, from request: String) -> String? {
    place(link, from: request).map(carryingQuery)
  }

  /// The link with those of the root's own options that it does not name.
  private func carryingQuery(_ link: String) -> String {
    guard let query, link.hasPrefix(root) else { return link }
    func name(_ option: Substring) -> Substring { option.prefix { $0 != "=" } }
    let own = link.drop { $0 != "?" }.dropFirst()
    let named = Set(own.split(separator: "&").map(name))
    let missing = query.split(separator: "&").filter { !named.contains(name($0)) }
    guard !missing.isEmpty else { return link }
    let separator = own.isEmpty ? link.hasSuffix("?") ? "" : "?" : "&"
    return link + separator + missing.joined(separator: "&")
  }

  private func place(_ link: String, from request: String) -> String? {
    guard !link.isEmpty else { return nil }
    if link.hasPrefix("?") { return request.prefix { $0 != "?" } + link }
    if link.hasPrefix("//") { return place("http:" + link, from: request) }
    if link.hasPrefix("/") { return origin + link }
    guard let scheme = link.firstRange(of: "://"), link[..<scheme.lowerBound].allSatisfy(\.isLetter) else {
      return root + link
    }
    if link.hasPrefix(origin + "/") { return link }
    let path = link[scheme.upperBound...].drop { $0 != "/" }
    return path.hasPrefix(rootPath) ? origin + path : nil
  }
}
