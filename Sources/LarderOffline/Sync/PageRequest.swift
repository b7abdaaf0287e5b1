/// One request of a download, before its URL and header fields are written.
struct PageRequest: Codable, Sendable, Hashable {
  /// What is requested.
  enum Place: Codable, Sendable, Hashable {
    /// The defining query, or a part of it if there is a window.
    case query(Window?)
    /// An absolute link that the service gave.
    case link(String)
  }

  /// A page that the client selects with `$top` and `$skip`.
  struct Window: Codable, Sendable, Hashable {
    var top: Int
    var skip: Int64
  }

  /// The format of the response.
  enum Form: String, Codable, Sendable, Hashable { case json, atom }

  var place: Place
  /// Whether the response is read as changes.
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

/// The rules for following links of a service (RFC 3986 §5.2; RFC 6454).
struct LinkRules: Sendable, Hashable {
  /// `https://host:1`, without a slash.
  let origin: String
  /// `https://host:1/service/`.
  let root: String
  /// The query options of the service root (`sap-client=100`). They are added to links below the root that lack them.
  var query: String? = nil

  private var rootPath: Substring { root.dropFirst(origin.count) }

  /// The absolute text of a link in the response to `request`; nil for a link to another service.
  ///
  /// A relative link is resolved against the service root, like context URLs. A link to another host is followed on the
  /// service's own host if its path is below the root: such links come from services that do not know their public
  /// name. Nothing is ever sent to another host.
  func resolve(_ link: String, from request: String) -> String? {
    place(link, from: request).map(carryingQuery)
  }

  /// Adds the query options of the root that the link lacks.
  private func carryingQuery(_ link: String) -> String {
    guard let query, link.hasPrefix(root) else { return link }
    func name(_ option: Substring) -> Substring { option.prefix { $0 != "=" } }
    let ownQuery = link.drop { $0 != "?" }.dropFirst()
    let named = Set(ownQuery.split(separator: "&").map(name))
    let missing = query.split(separator: "&").filter { !named.contains(name($0)) }
    guard !missing.isEmpty else { return link }
    let separator = ownQuery.isEmpty ? link.hasSuffix("?") ? "" : "?" : "&"
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
