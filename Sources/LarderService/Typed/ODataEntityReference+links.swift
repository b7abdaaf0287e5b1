@_spi(Stores) import LarderHTTP
public import LarderOData

// References between entities (OData Protocol 4.01 §11.4.6; OData V2 Operations, "Manipulating Links").
extension ODataEntityReference {
  /// Adds an entity to a navigation property.
  public func link<Related: ODataDescribed, Expanding>(
    _ property: KeyPath<Entity.Fields, ODataNavigationCollection<Related, Expanding>>,
    to entity: ODataEntityReference<Related>
  ) async throws { try await linking(property, to: entity).send() }

  /// Removes an entity from a navigation property. Both entities stay.
  public func unlink<Related: ODataDescribed, Expanding>(
    _ property: KeyPath<Entity.Fields, ODataNavigationCollection<Related, Expanding>>,
    from entity: ODataEntityReference<Related>
  ) async throws { try await unlinking(property, from: entity).send() }

  /// Makes an entity the target of a navigation property.
  public func link<Related: ODataDescribed, Expanding>(
    _ property: KeyPath<Entity.Fields, ODataNavigation<Related, Expanding>>, to entity: ODataEntityReference<Related>
  ) async throws { try await linking(property, to: entity).send() }

  /// Removes the target of a navigation property. Both entities stay.
  public func unlink<Related: ODataDescribed, Expanding>(
    _ property: KeyPath<Entity.Fields, ODataNavigation<Related, Expanding>>
  ) async throws { try await unlinking(property).send() }

  // MARK: Requests

  /// A request that adds an entity to a navigation property.
  public func linking<Related: ODataDescribed, Expanding>(
    _ property: KeyPath<Entity.Fields, ODataNavigationCollection<Related, Expanding>>,
    to entity: ODataEntityReference<Related>
  ) throws -> ODataTypedRequest<Void> {
    try changing(.createLink(links(Entity.Fields()[keyPath: property].name), to: entity.path()))
  }

  /// A request that removes an entity from a navigation property. Both entities stay.
  public func unlinking<Related: ODataDescribed, Expanding>(
    _ property: KeyPath<Entity.Fields, ODataNavigationCollection<Related, Expanding>>,
    from entity: ODataEntityReference<Related>
  ) throws -> ODataTypedRequest<Void> {
    let name = Entity.Fields()[keyPath: property].name
    guard !isV4 else { return try changing(.deleteLink(links(name) + "?$id=" + PercentEncoding.encode(entity.url()))) }
    guard case .arguments(let key)? = entity.query.path.segments.last?.kind else {
      throw ODataServiceError(
        .invalidRequest("name the entity by its key"), operation: "deleteLink", url: try entity.path())
    }
    return try changing(.deleteLink(links(name, .arguments(key))))
  }

  /// A request that makes an entity the target of a navigation property.
  public func linking<Related: ODataDescribed, Expanding>(
    _ property: KeyPath<Entity.Fields, ODataNavigation<Related, Expanding>>, to entity: ODataEntityReference<Related>
  ) throws -> ODataTypedRequest<Void> {
    try changing(.updateLink(links(Entity.Fields()[keyPath: property].name), to: entity.path()))
  }

  /// A request that removes the target of a navigation property. Both entities stay.
  public func unlinking<Related: ODataDescribed, Expanding>(
    _ property: KeyPath<Entity.Fields, ODataNavigation<Related, Expanding>>
  ) throws -> ODataTypedRequest<Void> {
    try changing(.deleteLink(links(Entity.Fields()[keyPath: property].name)))
  }

  private var isV4: Bool { (store.model?.version ?? .v4) >= .v4 }

  /// The path of the references of a navigation property, before V4 also of one of them.
  private func links(_ property: String, _ key: ODataPathSegment.Kind? = nil) throws -> String {
    let steps: [ODataPathSegment.Kind] =
      isV4 ? [.name(property), .ref] : [.links, .name(property)] + (key.map { [$0] } ?? [])
    return try store.text(ODataQuery<Entity>(path: steps.reduce(query.path) { $0.appending($1) }))
  }
}
