import LarderOData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads results that a service returns in pages: the pages of a collection, and those of the related entities that each
/// page contains (OData Protocol 4.01 §11.2.6.7; JSON Format 4.01 §4.6.5).
struct ResultReader: Sendable {
  private let store: any ODataStore
  private let read: @Sendable (String) async throws -> ODataSingleResponse

  /// Reads further pages from a store.
  init(_ store: any ODataStore) {
    self.init(store) { try await store.execute(single: .read($0)) }
  }

  /// Reads further pages by a function.
  init(_ store: any ODataStore, read: @escaping @Sendable (String) async throws -> ODataSingleResponse) {
    (self.store, self.read) = (store, read)
  }

  /// The result at a path, with all its pages.
  func result(_ path: String) async throws -> DecodableContent { try await result(read(path)) }

  /// The result that begins with a response, with all its pages.
  func result(_ response: ODataSingleResponse) async throws -> DecodableContent {
    var content = try await page(response)
    var links = PageLinks()
    while let next = try links.next(content.nextLink, content.url) {
      try content.append(try await page(read(next), rowType: content.rowType))
    }
    return content
  }

  /// One page, with all pages of the related entities in it.
  ///
  /// - Parameter rowType: for a further page the type of the first page's entities.
  func page(_ response: ODataSingleResponse, rowType: String? = nil) async throws -> DecodableContent {
    var payload = try response.payload(model: store.model, rowType: rowType)
    let base = try PageBase(payload.context, response.url, store.serviceRoot)
    switch payload {
    case .entity(let entity): payload = .entity(try await completed(entity, base))
    case .collection(var collection):
      for index in collection.entities.indices where collection.entities[index].isPartial {
        collection.entities[index] = try await completed(collection.entities[index], base)
      }
      payload = .collection(collection)
    default: break
    }
    var content = try DecodableContent(payload, of: response, model: store.model)
    content.nextLink = content.nextLink.map(base.resolve)
    return content
  }

  private func completed(_ entity: ODataEntity, _ base: PageBase) async throws -> ODataEntity {
    guard entity.isPartial else { return entity }
    if let partial = entity.properties.first(where: \.isPartial) {
      throw ODataServiceError(
        .notSupported("further pages of the values in '\(partial.name)'; read the property by its own URL"),
        operation: "read", url: base.url)
    }
    var entity = entity
    for index in entity.navigationLinks.indices {
      switch entity.navigationLinks[index].content {
      case .entity(let related)?:
        entity.navigationLinks[index].content = .entity(try await completed(related, base))
      case .collection(let collection)?:
        entity.navigationLinks[index].content = .collection(try await completed(collection, base))
      case .delta, .null, nil: break
      }
    }
    return entity
  }

  private func completed(_ collection: ODataEntityCollection, _ base: PageBase) async throws -> ODataEntityCollection {
    var collection = collection
    var page = collection
    var base = base
    collection.entities = []
    var links = PageLinks()
    while true {
      for entity in page.entities { collection.entities.append(try await completed(entity, base)) }
      guard let next = try links.next(page.nextLink.map(base.resolve), base.url) else { break }
      let response = try await read(next)
      let payload = try response.payload(model: store.model)
      base = try PageBase(payload.context, response.url, store.serviceRoot)
      switch payload {
      case .collection(let further): page = further
      // An empty array does not show the type of its elements.
      case .property(let property) where property.value == .collection([]):
        page = ODataEntityCollection(nextLink: payload.nextLink)
      default: throw DecodableContent.notACollection(response)
      }
    }
    collection.nextLink = nil
    return collection
  }
}

/// What the relative links of a page are relative to (JSON Format 4.01 §4.3): its context URL, else the page's URL.
struct PageBase: Sendable {
  /// The page's URL.
  let url: String
  private let base: String
  private let root: String

  init(_ context: String?, _ url: String, _ root: URL) throws(ODataServiceError) {
    self.url = url
    let root = try ODataServiceRoot(root).url.absoluteString
    self.root = root
    // The document of a context URL is the service's metadata: a relative one leads to the root, whatever it begins with.
    base = context.map { URLParts($0).origin == nil ? root : $0 } ?? url
  }

  /// The path or URL of a link: relative to the service's root if it is below it. A link of query options alone is one
  /// to the page's own path: those of a context URL have none.
  func resolve(_ link: String) -> String {
    guard URLParts(link).prefix.isEmpty, !link.hasPrefix("/") else { return link }
    let start = URLParts(link.hasPrefix("?") ? url : base)
    var path = start.path.prefix { $0 != "#" }
    if !link.hasPrefix("?") { path = path.lastIndex(of: "/").map { path[...$0] } ?? "/" }
    let target = PageBase.withoutDots(path + link)
    let service = URLParts(root)
    guard start.origin == service.origin, target.hasPrefix(service.path) else { return start.prefix + target }
    return String(target.dropFirst(service.path.count))
  }

  /// Removes the segments `.` and `..` of a path (RFC 3986 §5.2.4).
  private static func withoutDots(_ link: Substring) -> String {
    var segments: [Substring] = []
    let path = link.prefix { $0 != "?" }
    for segment in path.split(separator: "/", omittingEmptySubsequences: false) {
      switch segment {
      case ".": continue
      case "..": if segments.count > 1 { segments.removeLast() }
      default: segments.append(segment)
      }
    }
    return segments.joined(separator: "/") + link.dropFirst(path.count)
  }
}

/// The links of the pages of one collection.
struct PageLinks {
  private var visited: Set<String> = []

  /// Notes a link. Throws if a page leads to an earlier one.
  mutating func next(_ link: String?, _ url: String) throws(ODataServiceError) -> String? {
    if let link, !visited.insert(link).inserted {
      throw ODataServiceError(.malformedResponse("a page is its own next page"), operation: "read", url: url)
    }
    return link
  }
}

extension ODataEntity {
  /// Whether related entities in it are on further pages.
  fileprivate var isPartial: Bool {
    properties.contains(where: \.isPartial)
      || navigationLinks.contains { link in
        switch link.content {
        case .entity(let entity)?: entity.isPartial
        case .collection(let collection)?:
          collection.nextLink != nil || collection.entities.contains { $0.isPartial }
        case .delta, .null, nil: false
        }
      }
  }
}

extension ODataProperty {
  /// Whether values, or entities that are related to a complex value, are on further pages.
  fileprivate var isPartial: Bool {
    annotations.contains { $0.term == "odata.nextLink" } || value.isPartial
  }
}

extension ODataValue {
  fileprivate var isPartial: Bool {
    switch self {
    case .complex(let value):
      value.annotations.contains { $0.term.hasSuffix("@odata.nextLink") }
        || value.properties.contains(where: \.isPartial)
    case .collection(let items): items.contains(where: \.isPartial)
    default: false
    }
  }
}
