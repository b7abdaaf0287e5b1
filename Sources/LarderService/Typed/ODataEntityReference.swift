@_spi(Stores) import LarderHTTP
public import LarderOData

/// One entity in a store: that of a key, a singleton, or the target of a navigation property.
///
/// Its navigation properties are members: `shop.orders[4712].items.filter { … }`.
@dynamicMemberLookup
public struct ODataEntityReference<Entity: ODataDescribed & Decodable & Sendable>: ODataExpandOption, Sendable {
  /// The store that is read and changed.
  public let store: any ODataStore
  /// The path and the options.
  public private(set) var query: ODataQuery<Entity>

  /// The options so far.
  public var options: ODataQueryOptions {
    get { query.options }
    set { query.options = newValue }
  }

  /// Creates a reference to the entity at the path of a query.
  public init(_ store: any ODataStore, _ query: ODataQuery<Entity>) {
    self.store = store
    self.query = query
  }

  /// Reads the entity. Throws with status 404 if it does not exist.
  public func get() async throws -> Entity {
    let path = try store.checkedText(query)
    guard let entity = try await store.read(Entity.self, path) else { throw ODataServiceError.notFound(path) }
    return entity
  }

  /// The entity now, and again whenever it changes; nil while it does not exist.
  public func live() -> ODataLiveResults<Entity?> {
    ODataLiveResults { try store.liveResults(Entity.self, store.checkedText(query)) }
  }

  // MARK: Navigation

  /// The entities of a navigation property.
  public subscript<Related: ODataDescribed & Decodable & Sendable, Expanding>(
    dynamicMember property: KeyPath<Entity.Fields, ODataNavigationCollection<Related, Expanding>>
  ) -> ODataEntitySet<Related> {
    ODataEntitySet(store, ODataQuery(path: query.path.appending(Entity.Fields()[keyPath: property].name)))
  }

  /// The entity of a navigation property.
  public subscript<Related: ODataDescribed & Decodable & Sendable, Expanding>(
    dynamicMember property: KeyPath<Entity.Fields, ODataNavigation<Related, Expanding>>
  ) -> ODataEntityReference<Related> {
    ODataEntityReference<Related>(
      store, ODataQuery(path: query.path.appending(Entity.Fields()[keyPath: property].name)))
  }

  private func path() throws -> String { try store.text(ODataQuery<Entity>(path: query.path)) }

  /// The absolute URL of the entity, without options.
  func url() throws -> String {
    String(try ODataServiceRoot(store.serviceRoot).absoluteText(path()).prefix { $0 != "?" })
  }
}

extension ODataEntityReference where Entity.ODataDeletion == ODataAllowed {
  /// Deletes the entity; with an ETag, only if it still has that version.
  public func delete(ifMatch: String? = nil) async throws { try await deleting(ifMatch: ifMatch).send() }
}

extension ODataEntityReference where Entity: ODataBaseType {
  /// The entity as a type that derives from `Entity`; it does not exist if it is of another type.
  public func `as`<Derived: ODataDescribed & Decodable & Sendable>(
    _ type: Derived.Type
  ) -> ODataEntityReference<Derived> {
    var query = ODataQuery<Derived>(path: query.path.appending(.qualifiedName(Derived.odataTypeName)))
    query.options = options
    return ODataEntityReference<Derived>(store, query)
  }
}

// References between entities (OData Protocol 4.01 §11.4.6; OData V2 Operations, "Manipulating Links").
extension ODataEntityReference {
  /// Adds an entity to a navigation property.
  public func link<Related: ODataDescribed, Expanding>(
    _ property: KeyPath<Entity.Fields, ODataNavigationCollection<Related, Expanding>>,
    to entity: ODataEntityReference<Related>
  ) async throws { try await store.createLink(links(Entity.Fields()[keyPath: property].name), to: entity.path()) }

  /// Removes an entity from a navigation property. Both entities stay.
  public func unlink<Related: ODataDescribed, Expanding>(
    _ property: KeyPath<Entity.Fields, ODataNavigationCollection<Related, Expanding>>,
    from entity: ODataEntityReference<Related>
  ) async throws {
    let name = Entity.Fields()[keyPath: property].name
    let target = try entity.path()
    guard isV4 else {
      guard case .arguments(let key)? = entity.query.path.segments.last?.kind else {
        throw ODataServiceError(
          .invalidRequest("name the entity by its key"), operation: "deleteLink", url: target)
      }
      return try await store.deleteLink(links(name, .arguments(key)))
    }
    try await store.deleteLink(links(name) + "?$id=" + PercentEncoding.encode(entity.url()))
  }

  /// Makes an entity the target of a navigation property.
  public func link<Related: ODataDescribed, Expanding>(
    _ property: KeyPath<Entity.Fields, ODataNavigation<Related, Expanding>>, to entity: ODataEntityReference<Related>
  ) async throws { try await store.updateLink(links(Entity.Fields()[keyPath: property].name), to: entity.path()) }

  /// Removes the target of a navigation property. Both entities stay.
  public func unlink<Related: ODataDescribed, Expanding>(
    _ property: KeyPath<Entity.Fields, ODataNavigation<Related, Expanding>>
  ) async throws { try await store.deleteLink(links(Entity.Fields()[keyPath: property].name)) }

  private var isV4: Bool { (store.model?.version ?? .v4) >= .v4 }

  /// The path of the references of a navigation property, before V4 also of one of them.
  private func links(_ property: String, _ key: ODataPathSegment.Kind? = nil) throws -> String {
    let steps: [ODataPathSegment.Kind] =
      isV4 ? [.name(property), .ref] : [.links, .name(property)] + (key.map { [$0] } ?? [])
    return try store.text(ODataQuery<Entity>(path: steps.reduce(query.path) { $0.appending($1) }))
  }
}

extension ODataEntityReference where Entity: ODataUpdatable {
  /// Changes the given properties, without reading the entity; with an ETag, only if it still has that version.
  public func update(_ changes: Entity.Update, ifMatch: String? = nil) async throws {
    try await store.update(path(), to: changes.odataEntity(), ifMatch: ifMatch)
  }
}
