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
    let path = try store.text(query)
    guard let entity = try await store.read(Entity.self, path) else {
      throw ODataServiceError(.http(status: 404, payload: nil), operation: "read", url: path)
    }
    return entity
  }

  /// The entity now, and again whenever it changes; nil while it does not exist.
  public func live() throws -> ODataLiveResults<Entity?> { try store.liveResults(Entity.self, store.text(query)) }

  /// Deletes the entity; with an ETag, only if it still has that version.
  public func delete(ifMatch: String? = nil) async throws { try await store.delete(try path(), ifMatch: ifMatch) }

  // MARK: Navigation

  /// The entities of a navigation property.
  public subscript<Related: ODataDescribed & Decodable & Sendable>(
    dynamicMember property: KeyPath<Entity.Fields, ODataNavigationCollection<Related>>
  ) -> ODataEntitySet<Related> {
    ODataEntitySet(store, ODataQuery(path: query.path.appending(Entity.Fields()[keyPath: property].name)))
  }

  /// The entity of a navigation property.
  public subscript<Related: ODataDescribed & Decodable & Sendable>(
    dynamicMember property: KeyPath<Entity.Fields, ODataNavigation<Related>>
  ) -> ODataEntityReference<Related> {
    ODataEntityReference<Related>(
      store, ODataQuery(path: query.path.appending(Entity.Fields()[keyPath: property].name)))
  }

  /// Adds an entity to a navigation property.
  public func link<Related: ODataDescribed>(
    _ property: KeyPath<Entity.Fields, ODataNavigationCollection<Related>>, to entity: ODataEntityReference<Related>
  ) async throws {
    try await store.createLink(path(Entity.Fields()[keyPath: property].name), to: entity.path())
  }

  /// Removes an entity from a navigation property. Both entities stay.
  public func unlink<Related: ODataDescribed>(
    _ property: KeyPath<Entity.Fields, ODataNavigationCollection<Related>>, from entity: ODataEntityReference<Related>
  ) async throws {
    var path = self[dynamicMember: property].query.path
    path.segments += entity.query.path.segments.suffix(1)
    try await store.deleteLink(store.text(ODataQuery<Related>(path: path)))
  }

  /// Makes an entity the target of a navigation property.
  public func link<Related: ODataDescribed>(
    _ property: KeyPath<Entity.Fields, ODataNavigation<Related>>, to entity: ODataEntityReference<Related>
  ) async throws {
    try await store.updateLink(path(Entity.Fields()[keyPath: property].name), to: entity.path())
  }

  /// Removes the target of a navigation property. Both entities stay.
  public func unlink<Related: ODataDescribed>(
    _ property: KeyPath<Entity.Fields, ODataNavigation<Related>>
  ) async throws {
    try await store.deleteLink(path(Entity.Fields()[keyPath: property].name))
  }

  private func path(_ property: String? = nil) throws -> String {
    try store.text(ODataQuery<Entity>(path: property.map { query.path.appending($0) } ?? query.path))
  }
}

extension ODataEntityReference where Entity: ODataUpdatable {
  /// Changes the given properties, without reading the entity; with an ETag, only if it still has that version.
  public func update(_ changes: Entity.Update, ifMatch: String? = nil) async throws {
    try await store.update(path(), to: changes.odataEntity(), ifMatch: ifMatch)
  }
}
