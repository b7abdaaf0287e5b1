/// The XML vocabularies of OData's Atom documents, of V1 to V3 (Microsoft) and of V4 (OASIS).
enum AtomVocabulary {
  /// Atom (RFC 4287).
  case atom
  /// The Atom Publishing Protocol (RFC 5023).
  case app
  /// OData's data namespace: properties.
  case data
  /// OData's metadata namespace: types, nulls, counts.
  case metadata
  /// Tombstones (RFC 6721).
  case tombstones
  /// GML: geography and geometry.
  case gml
  /// Any other namespace, or none.
  case other

  /// True for the vocabularies of feeds, entries and service documents, whose elements are never properties.
  var isOfFeeds: Bool { self == .atom || self == .app || self == .tombstones }

  init(_ namespace: String) {
    switch namespace {
    case "http://www.w3.org/2005/Atom": self = .atom
    case "http://www.w3.org/2007/app", "http://purl.org/atom/app#": self = .app
    case "http://schemas.microsoft.com/ado/2007/08/dataservices", "http://docs.oasis-open.org/odata/ns/data":
      self = .data
    case AtomNamespace.metadata, "http://docs.oasis-open.org/odata/ns/metadata": self = .metadata
    case "http://purl.org/atompub/tombstones/1.0": self = .tombstones
    case "http://www.opengis.net/gml", "http://www.opengis.net/gml/3.2": self = .gml
    default: self = .other
    }
  }
}

enum AtomNamespace {
  static let atom = "http://www.w3.org/2005/Atom"
  static let data = "http://schemas.microsoft.com/ado/2007/08/dataservices"
  static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
  static let scheme = "http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"
  static let related = "http://schemas.microsoft.com/ado/2007/08/dataservices/related/"
  static let xml = "http://www.w3.org/XML/1998/namespace"
  private static let roots = [
    "http://schemas.microsoft.com/ado/2007/08/dataservices/", "http://docs.oasis-open.org/odata/ns/",
  ]

  /// Returns the part of a link relation after OData's prefix, such as `related/Orders`; nil for other relations.
  static func relation(_ rel: String) -> Substring? {
    for root in roots where rel.hasPrefix(root) { return rel.dropFirst(root.count) }
    return nil
  }
}

extension XMLElement {
  /// Returns the value of an attribute of the metadata vocabulary (`m:type`).
  func metadata(_ local: String) -> String? {
    attributes.first { attribute in
      attribute.name.local == local && AtomVocabulary(attribute.name.namespace) == .metadata
    }?.value
  }
}

/// Resolves URLs relative to `xml:base` (RFC 3986 §5.2, without removal of dot segments).
enum AtomBase {
  static func resolve(_ url: String, against base: String?) -> String {
    guard let base, !base.isEmpty, !isAbsolute(url) else { return url }
    guard let colon = base.firstIndex(of: ":"), base[colon...].hasPrefix("://") else {
      return url.hasPrefix("/") ? url : directory(base) + url
    }
    if url.hasPrefix("//") { return base[...colon] + url }
    let authority = base.index(colon, offsetBy: 3)
    let pathStart = base[authority...].firstIndex(of: "/") ?? base.endIndex
    if url.hasPrefix("/") { return base[..<pathStart] + url }
    if url.isEmpty { return base }
    return pathStart == base.endIndex ? base + "/" + url : directory(base) + url
  }

  private static func directory(_ base: String) -> String {
    let path = base.prefix { $0 != "?" && $0 != "#" }
    guard let slash = path.lastIndex(of: "/") else { return "" }
    return String(path[...slash])
  }

  /// Whether a URL has a scheme.
  static func isAbsolute(_ url: String) -> Bool {
    guard let colon = url.utf8.firstIndex(of: 0x3A), let first = url.utf8.first, first | 0x20 >= 0x61,
      first | 0x20 <= 0x7A
    else { return false }
    return url.utf8[..<colon].allSatisfy { byte in
      byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte >= 0x30 && byte <= 0x39 || byte == 0x2B || byte == 0x2D
        || byte == 0x2E
    }
  }
}
