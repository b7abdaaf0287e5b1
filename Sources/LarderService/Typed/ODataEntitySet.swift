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
  public init(_ store: any ODataStore, _ query: ODataQuery<Entity>) {
    self.store = store
    self.query = query
  }

  /// Reads all entities, also those on further pages of the service.
  public func all() async throws -> [Entity] { try await store.read([Entity].self, store.text(query)) ?? [] }

  /// Reads the first entity; nil if there is none.
  public func first() async throws -> Entity? { try await top(1).all().first }

  /// Counts the entities, without reading them.
  public func count() async throws -> Int64 { try await store.readCount(store.text(query)) }

  /// The pages of the result, in the size that the service or the store chooses.
  public func pages() -> ODataPages<[Entity]> { ODataPages(store) { [store, query] in try store.text(query) } }

  /// The result now, and again whenever it changes: see ``ODataStore/liveResults(_:_:)``.
  public func live() throws -> ODataLiveResults<[Entity]> {
    ODataLiveResults(try store.liveResults([Entity].self, store.text(query)).map { $0 ?? [] })
  }

  /// Decodes all entities as another type, which may have fewer properties than `Entity`: those that `$select` names.
  public func all<Row: Decodable & Sendable>(
    as type: Row.Type, @ODataSelectBuilder selecting items: (ODataSelection<Entity>) -> [ODataSelectItem]
  ) async throws -> [Row] { try await store.read([Row].self, store.text(query.select(items))) ?? [] }
}

extension ODataEntitySet where Entity: ODataKeyed {
  /// The entity with a key.
  public subscript(key: Entity.Key) -> ODataEntityReference<Entity> {
    ODataEntityReference(store, ODataQuery<Entity>(path: query.path).key(key))
  }

  /// The entity with a key of one property.
  public subscript(value: Entity.Key.Value) -> ODataEntityReference<Entity> where Entity.Key: ODataSingleKey {
    self[Entity.Key(value)]
  }

  /// The entity with the key of a value.
  public subscript(entity: Entity) -> ODataEntityReference<Entity> { self[entity.odataKey] }

  /// Deletes an entity: if it is ``LarderOData/ODataTracked``, only the version that was read.
  public func delete(_ entity: Entity) async throws {
    try await self[entity].delete(ifMatch: (entity as? any ODataTracked)?.odataState.etag)
  }
}

extension ODataEntitySet where Entity: ODataCreatable {
  /// Creates an entity, with the related entities that it contains.
  ///
  /// - Returns: the entity as the service created it, or as the offline store will send it.
  @discardableResult
  public func create(_ entity: Entity.Create) async throws -> Entity {
    try await create(entity.odataEntity(of: nil), as: Entity.self)
  }
}

extension ODataEntitySet {
  /// Creates an entity of a derived type.
  @discardableResult
  public func create<Derived: ODataCreatable & Decodable & Sendable>(
    _ entity: Derived.Create, of type: Derived.Type
  ) async throws -> Derived { try await create(entity.odataEntity(of: Derived.odataTypeName), as: Derived.self) }

  private func create<Created: Decodable & Sendable>(
    _ entity: ODataEntity, as type: Created.Type
  ) async throws -> Created {
    let request = ODataSingleRequest.create(entity, in: try store.text(ODataQuery<Entity>(path: query.path)))
    let response = try await store.execute(single: request)
    if let created = try response.decoded(type, model: store.model) { return created }
    // The service returns no content (`Prefer: return=minimal`), but names the entity (OData 4.01 Protocol §8.3.4).
    if let url = response.fields["OData-EntityId"] ?? response.fields["Location"],
      let created = try await store.read(type, url)
    {
      return created
    }
    throw ODataServiceError(
      .malformedResponse("the created entity is neither in the response nor named by it"),
      operation: request.operationName, url: response.url, response: response)
  }
}

extension ODataEntitySet where Entity: ODataTracked {
  /// Sends the properties that have been assigned since the entity was read, under its ETag. Sends nothing if there are
  /// none.
  ///
  /// Throws with status 412 if another client has changed the entity.
  ///
  /// - Returns: the entity as the service returned it; else the given one as the new version.
  @discardableResult
  public func update(_ entity: Entity) async throws -> Entity {
    let changes = entity.odataChanges
    guard !changes.isEmpty else { return entity }
    let path = try store.text(self[entity].query)
    let request = ODataSingleRequest.update(
      path, to: ODataEntity(properties: changes), ifMatch: entity.odataState.etag)
    let response = try await store.execute(single: request)
    if let changed = try response.decoded(Entity.self, model: store.model) { return changed }
    var changed = entity
    changed.odataState = ODataEntityState(etag: response.fields[.etag])
    return changed
  }
}

extension ODataStore {
  /// The text of a query for the version of the service.
  func text<Entity: ODataDescribed>(_ query: ODataQuery<Entity>) throws -> String {
    do throws(ODataPrintingError) { return try query.text(model?.version ?? .v4) } catch {
      throw ODataServiceError(.invalidRequest(error.description), operation: "read", cause: error)
    }
  }
}
