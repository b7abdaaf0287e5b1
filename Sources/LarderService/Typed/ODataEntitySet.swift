import LarderCore
public import LarderOData

/// The entities of a set, or of a navigation property, in a store: what a query selects, as values of a Swift type.
///
/// ```swift
/// let shop = Shop(store)
/// let late = try await shop.orders.filter { $0.due < .now }.expand(\.items).orderBy(\.due).top(20).all()
/// var order = try await shop.orders[4712].get()
/// order.note = "mine"
/// try await shop.orders.update(order)
/// ```
///
/// Options are added by chained calls, as with ``LarderOData/ODataQuery``. The same calls work on every store: an online
/// store sends requests, an offline store reads and changes its rows. Values are decoded by their declared types, and
/// strictly, as ``ODataStore/read(_:_:)`` describes.
public struct ODataEntitySet<Entity: ODataDescribed & Decodable & Sendable>: ODataCollectionOptions, ODataExpandOption,
  Sendable
{
  /// The store that is read and changed.
  public let store: any ODataStore
  /// The path and the options.
  public private(set) var query: ODataQuery<Entity>

  /// The options so far.
  public var options: ODataQueryOptions {
    get { query.options }
    set { query.options = newValue }
  }

  /// Creates the entities of a set in a store, or those that a query selects.
  ///
  /// With `selectsDeclared`, reads send `$select` with the properties that generated types declare, also of expanded
  /// entities: for services that otherwise return only some of them.
  public init(_ store: any ODataStore, _ query: ODataQuery<Entity>, selectsDeclared: Bool = false) {
    self.store = store
    self.query = query
    if selectsDeclared { self.query.selectsDeclared = true }
  }

  /// Reads all entities, also those on further pages of the service. Throws with status 404 if the entity that they
  /// belong to does not exist.
  public func all() async throws -> [Entity] { try await rows(query) }

  /// Reads the first entity; nil if there is none.
  ///
  /// Sends `$top=1`, unless the metadata say that the set does not support it: then the first page with entities is read.
  public func first() async throws -> Entity? { try await first(query) }

  func first<Row: Decodable & Sendable>(_ query: ODataQuery<Entity>) async throws -> Row? {
    let top = query.top(1)
    if (try? store.checkedText(top)) != nil {
      let rows: [Row] = try await rows(top)
      return rows.first
    }
    for try await page in pages(query) as ODataPages<[Row]> where !page.isEmpty { return page[0] }
    return nil
  }

  /// Counts the entities that `$filter` and `$search` select, without reading them. No other option has an effect.
  public func count() async throws -> Int64 {
    var counted = ODataQuery<Entity>(path: query.path)
    counted.options.filter = options.filter
    counted.options.search = options.search
    counted.options.custom = options.custom
    counted.options.aliases = options.aliases
    let path = try store.text(counted)
    try store.check(query: ODataSingleRequest.counting(path))
    return try await store.readCount(path)
  }

  /// The pages of the result, in the size that the service or the store chooses.
  public func pages() -> ODataPages<[Entity]> { pages(query) }

  /// The result now, and again whenever it changes: see ``ODataStore/liveResults(_:_:)``.
  public func live() -> ODataLiveResults<[Entity]> { live(query) }

  func rows<Row: Decodable & Sendable>(_ query: ODataQuery<Entity>) async throws -> [Row] {
    let path = try store.checkedText(query)
    guard let rows = try await store.read([Row].self, path) else { throw ODataServiceError.notFound(path) }
    return rows
  }

  func pages<Row: Decodable & Sendable>(_ query: ODataQuery<Entity>) -> ODataPages<[Row]> {
    ODataPages(store) { [store] in try store.checkedText(query) }
  }

  func live<Row: Decodable & Sendable>(_ query: ODataQuery<Entity>) -> ODataLiveResults<[Row]> {
    ODataLiveResults { [store] in
      let path = try store.checkedText(query)
      return ODataLiveResults(
        try store.liveResults([Row].self, path).map { rows in
          guard let rows else { throw ODataServiceError.notFound(path) }
          return rows
        })
    }
  }
}

extension ODataEntitySet where Entity: ODataKeyed {
  /// The entity with a key.
  public subscript(key: Entity.Key) -> ODataEntityReference<Entity> {
    ODataEntityReference(store, query.at(query.path, as: Entity.self).key(key))
  }

  /// The entity with a key of one property.
  public subscript(value: Entity.Key.Value) -> ODataEntityReference<Entity> where Entity.Key: ODataSingleKey {
    self[Entity.Key(value)]
  }

  /// The entity with the key of a value.
  public subscript(entity: Entity) -> ODataEntityReference<Entity> { self[entity.odataKey] }
}

extension ODataEntitySet where Entity: ODataKeyed, Entity.ODataDeletion == ODataAllowed {
  /// Deletes an entity: if it knows the ETag under which it was read, only that version.
  public func delete(_ entity: Entity) async throws { try await deleting(entity).send() }
}

extension ODataEntitySet where Entity: ODataCreatable {
  /// Creates an entity, with the related entities that it contains.
  ///
  /// - Returns: the entity as the service created it, or as the offline store will send it. An error that says so means
  ///   that the entity was created, but cannot be read.
  @discardableResult
  public func create(_ entity: Entity.Create) async throws -> Entity {
    try await creating(entity).send()
  }
}

extension ODataEntitySet where Entity: ODataBaseType {
  /// The entities of a type that derives from `Entity`.
  public func `as`<Derived: ODataDescribed & Decodable & Sendable>(_ type: Derived.Type) -> ODataEntitySet<Derived> {
    var query = self.query.at(query.path.appending(.qualifiedName(Derived.odataTypeName)), as: Derived.self)
    query.options = options
    return ODataEntitySet<Derived>(store, query)
  }

  /// Creates an entity of a derived type.
  @discardableResult
  public func create<Derived: ODataCreatable & Decodable & Sendable>(
    _ entity: Derived.Create, of type: Derived.Type
  ) async throws -> Derived {
    try await creating(entity, of: type).send()
  }
}

extension ODataEntitySet where Entity: ODataTracked {
  /// Sends the properties that have been assigned since the entity was read, under its ETag. Sends nothing if there are
  /// none.
  ///
  /// Throws with status 412 if another client has changed the entity.
  ///
  /// - Returns: the entity as the service returned it; else the given one with the new ETag; else, if the response has
  ///   none, the entity as it is read.
  @discardableResult
  public func update(_ entity: Entity) async throws -> Entity { try await updating(entity).send() }
}

extension ODataEntitySet where Entity: ODataUpdatable & ODataVersioned {
  /// Changes the given properties of an entity, under the ETag of what was read: also for a value of a base type, whose
  /// properties cannot be assigned.
  ///
  /// Throws with status 412 if another client has changed the entity. The value keeps its properties and its ETag: read
  /// the entity again to change it once more.
  public func update(_ entity: Entity, _ changes: Entity.Update) async throws {
    try await updating(entity, changes).send()
  }
}

extension ODataServiceError {
  /// The error for a path to nothing.
  static func notFound(_ path: String) -> ODataServiceError {
    ODataServiceError(.http(status: 404, payload: nil), operation: "read", url: path)
  }
}

extension ODataServiceError {
  /// The error if the entity cannot be read after a change that succeeded. It is not transient: the change would be
  /// repeated.
  static func unread(
    _ problem: any Error, after operation: String, _ done: String, _ response: ODataSingleResponse?
  ) -> any Error {
    if (problem as? any LarderError)?.isCancelled == true {
      // The response says what was done: the creation of an entity must not be repeated.
      return ODataServiceError(
        .cancelled, operation: operation, url: response?.url, cause: problem, response: response)
    }
    let text = "the entity was \(done), but cannot be read: "
    let category: Category =
      switch (problem as? ODataServiceError)?.category {
      case .undecodableType(let detail): .undecodableType(text + detail)
      case .malformedResponse(let detail): .malformedResponse(text + detail)
      default: .malformedResponse(text + String(describing: problem))
      }
    return ODataServiceError(category, operation: operation, url: response?.url, cause: problem, response: response)
  }
}

extension ODataSingleResponse {
  /// The URL of the entity that the request created, if the service names one of its own.
  var createdEntity: String? {
    let origin = URLParts(url).origin
    return [fields["Location"], fields["OData-EntityId"]].lazy.compactMap { $0 }.first { text in
      let parts = URLParts(text)
      return parts.prefix.isEmpty || parts.origin != nil && parts.origin == origin
    }
  }
}

extension ODataStore {
  /// The text of a query for the version of the service.
  func text<Entity: ODataDescribed>(_ query: ODataQuery<Entity>) throws -> String {
    do throws(ODataPrintingError) { return try query.text(model?.version ?? .v4) } catch {
      throw ODataServiceError(.invalidRequest(error.description), operation: "read", cause: error)
    }
  }

  /// The text of a query that reads. Throws if the store rejects it.
  func checkedText<Entity: ODataDescribed>(_ query: ODataQuery<Entity>) throws -> String {
    let path = try text(query)
    try check(query: path)
    return path
  }

  /// Throws if the store rejects a query of entities.
  func check(query path: String) throws { try (self as? any RestrictedStore)?.check(query: path) }
}
