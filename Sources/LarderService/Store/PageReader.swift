import LarderOData

/// Reads results that a service returns in pages: the pages of a collection, and those of the related entities that each
/// page contains (OData Protocol 4.01 §11.2.6.7; JSON Format 4.01 §4.6.5).
struct PageReader: Sendable {
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
    while let next = try links.next(content.nextLink, response.url) {
      try content.append(try await page(read(next)))
    }
    return content
  }

  /// One page, with all pages of the related entities in it.
  func page(_ response: ODataSingleResponse) async throws -> DecodableContent {
    var payload = try response.payload(model: store.model)
    switch payload {
    case .entity(let entity): payload = .entity(try await completed(entity, response.url))
    case .collection(var collection):
      try await complete(&collection.entities, response.url)
      payload = .collection(collection)
    default: break
    }
    return try DecodableContent(payload, of: response, model: store.model)
  }

  private func complete(_ entities: inout [ODataEntity], _ url: String) async throws {
    for index in entities.indices where entities[index].isPartial {
      entities[index] = try await completed(entities[index], url)
    }
  }

  private func completed(_ entity: ODataEntity, _ url: String) async throws -> ODataEntity {
    guard entity.isPartial else { return entity }
    var entity = entity
    for index in entity.navigationLinks.indices {
      switch entity.navigationLinks[index].content {
      case .entity(let related)?:
        entity.navigationLinks[index].content = .entity(try await completed(related, url))
      case .collection(let collection)?:
        entity.navigationLinks[index].content = .collection(try await completed(collection, url))
      case .delta, .null, nil: break
      }
    }
    return entity
  }

  private func completed(_ collection: ODataEntityCollection, _ url: String) async throws -> ODataEntityCollection {
    var collection = collection
    try await complete(&collection.entities, url)
    var links = PageLinks()
    while let next = try links.next(collection.nextLink, url) {
      let response = try await read(next)
      let payload = try response.payload(model: store.model)
      switch payload {
      case .collection(var page):
        try await complete(&page.entities, response.url)
        collection.entities += page.entities
      // An empty array does not show the type of its elements.
      case .property(let property) where property.value == .collection([]): break
      default: throw DecodableContent.notACollection(response)
      }
      collection.nextLink = payload.nextLink
    }
    return collection
  }
}

/// The links of the pages of one collection.
struct PageLinks {
  private var known: Set<String> = []

  /// Notes a link. Throws if a page leads to an earlier one.
  mutating func next(_ link: String?, _ url: String) throws(ODataServiceError) -> String? {
    if let link, !known.insert(link).inserted {
      throw ODataServiceError(.malformedResponse("a page is its own next page"), operation: "read", url: url)
    }
    return link
  }
}

extension ODataEntity {
  /// Whether related entities in it are on further pages.
  fileprivate var isPartial: Bool {
    navigationLinks.contains { link in
      switch link.content {
      case .entity(let entity)?: entity.isPartial
      case .collection(let collection)?:
        collection.nextLink != nil || collection.entities.contains { $0.isPartial }
      case .delta, .null, nil: false
      }
    }
  }
}
