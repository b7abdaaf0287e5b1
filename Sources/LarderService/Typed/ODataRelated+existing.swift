public import LarderOData

extension ODataRelated where Entity: Decodable {
  /// An entity that exists: the new one is bound to it.
  public static func existing(_ entity: ODataEntityReference<Entity>) throws -> ODataRelated {
    ODataRelated(existing: try entity.url())
  }
}

extension ODataRelatedEntities where Entity: Decodable {
  /// Entities that exist: the new one is bound to them.
  public static func existing(_ entities: ODataEntityReference<Entity>...) throws -> ODataRelatedEntities {
    try existing(entities)
  }

  /// Entities that exist: the new one is bound to them.
  public static func existing(_ entities: [ODataEntityReference<Entity>]) throws -> ODataRelatedEntities {
    ODataRelatedEntities(existing: try entities.map { try $0.url() })
  }
}
