public import LarderOData

// The bytes of media entities (OData Protocol 4.01 §11.1.3, §11.4.7).
extension ODataEntityReference where Entity: ODataMediaEntity {
  /// Reads the bytes that the entity belongs to into memory.
  public func media() async throws -> [UInt8] { try await store.readMedia(mediaPath()) }

  /// Replaces the bytes that the entity belongs to, given as `.bytes` or `.stream`; with an ETag of the bytes, only if
  /// they still have that version.
  public func updateMedia(_ body: ODataRequestBody, ifMatch: String? = nil) async throws {
    try await store.updateMedia(mediaPath(), to: body, ifMatch: ifMatch)
  }

  /// The path of the bytes, for the functions of a store that read or write them chunk by chunk.
  public func mediaPath() throws -> String { try store.text(ODataQuery<Entity>(path: query.path.appending(.value))) }
}

// The bytes of stream properties (OData Protocol 4.01 §11.2.4, §11.4.8).
extension ODataEntityReference {
  /// Reads the bytes of a stream property into memory.
  public func media(_ property: KeyPath<Entity.Fields, ODataStreamField>) async throws -> [UInt8] {
    try await store.readMedia(mediaPath(property))
  }

  /// Replaces the bytes of a stream property, given as `.bytes` or `.stream`; with an ETag of the bytes, only if they
  /// still have that version.
  public func updateMedia(
    _ property: KeyPath<Entity.Fields, ODataStreamField>, _ body: ODataRequestBody, ifMatch: String? = nil
  ) async throws { try await store.updateMedia(mediaPath(property), to: body, ifMatch: ifMatch) }

  /// The path of the bytes of a stream property, for the functions of a store that read or write them chunk by chunk.
  public func mediaPath(_ property: KeyPath<Entity.Fields, ODataStreamField>) throws -> String {
    try store.text(ODataQuery<Entity>(path: query.path.appending(Entity.Fields()[keyPath: property].name)))
  }
}

extension ODataEntitySet where Entity: ODataMediaEntity, Entity.ODataMediaCreation == ODataAllowed {
  /// Creates an entity from its bytes, given as `.bytes` or `.stream`. `slug` is a name that the service may use.
  ///
  /// - Returns: the entity as the service created it, or as the offline store will send it. An error that says so means
  ///   that the entity was created, but cannot be read.
  @discardableResult
  public func createMedia(_ body: ODataRequestBody, slug: String? = nil) async throws -> Entity {
    let path = try store.text(ODataQuery<Entity>(path: query.path))
    return try await creating(.createMedia(body, in: path, slug: slug), as: Entity.self).send()
  }
}
