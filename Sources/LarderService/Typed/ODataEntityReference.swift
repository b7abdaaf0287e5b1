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
  ///
  /// With `selectsDeclared`, reads send `$select` with the properties that generated types declare, also of expanded
  /// entities: for services that otherwise return only some of them.
  public init(_ store: any ODataStore, _ query: ODataQuery<Entity>, selectsDeclared: Bool = false) {
    self.store = store
    self.query = query
    if selectsDeclared { self.query.selectsDeclared = true }
  }

  /// Reads the entity. Throws with status 404 if it does not exist.
  public func get() async throws -> Entity { try await row(query) }

  func row<Row: Decodable & Sendable>(_ query: ODataQuery<Entity>) async throws -> Row {
    let path = try store.checkedText(query)
    guard let row = try await store.read(Row.self, path) else { throw ODataServiceError.notFound(path) }
    return row
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
    ODataEntitySet(store, query.at(query.path.appending(Entity.Fields()[keyPath: property].name), as: Related.self))
  }

  /// The entity of a navigation property.
  public subscript<Related: ODataDescribed & Decodable & Sendable, Expanding>(
    dynamicMember property: KeyPath<Entity.Fields, ODataNavigation<Related, Expanding>>
  ) -> ODataEntityReference<Related> {
    ODataEntityReference<Related>(
      store, query.at(query.path.appending(Entity.Fields()[keyPath: property].name), as: Related.self))
  }

  /// The path of the entity, without options.
  func path() throws -> String { try store.text(ODataQuery<Entity>(path: query.path)) }

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
    var query = self.query.at(query.path.appending(.qualifiedName(Derived.odataTypeName)), as: Derived.self)
    query.options = options
    return ODataEntityReference<Derived>(store, query)
  }
}

extension ODataEntityReference where Entity: ODataUpdatable {
  /// Changes the given properties, without reading the entity; with an ETag, only if it still has that version.
  public func update(_ changes: Entity.Update, ifMatch: String? = nil) async throws {
    try await updating(changes, ifMatch: ifMatch).send()
  }
}

extension ODataEntityReference where Entity: ODataTracked {
  /// Sends the properties that have been assigned since the entity was read, under its ETag, as
  /// ``ODataEntitySet/update(_:)`` does: for a singleton, or the target of a navigation property.
  @discardableResult
  public func update(_ entity: Entity) async throws -> Entity { try await updating(entity).send() }
}
