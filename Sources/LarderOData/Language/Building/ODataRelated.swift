/// The target of a navigation property to one entity in a creation: a new entity, or one that exists.
///
/// ```swift
/// try await shop.orders.create(.init(note: "x", customer: .existing(shop.customers[3])))
/// try await shop.orders.create(.init(note: "x", customer: .new(.init(name: "ACME"))))
/// ```
///
/// `Creation` says whether the service creates it with the other one: ``ODataAllowed`` or ``ODataForbidden``.
public struct ODataRelated<Entity: ODataDescribed, Creation>: Hashable, Sendable {
  private enum Content: Hashable {
    case new(ODataEntity)
    case existing(String)
  }

  private let content: Content

  private init(_ content: Content) { self.content = content }

  /// Creates a target that exists, given by its URL.
  package init(existing url: String) { content = .existing(url) }

  fileprivate func link(_ name: String) -> ODataNavigationLink {
    var link = ODataNavigationLink(name: name)
    switch content {
    case .new(let entity): link.content = .entity(entity)
    case .existing(let url): link.bindings = [url]
    }
    return link
  }
}

extension ODataRelated where Entity: ODataCreatable, Creation == ODataAllowed {
  /// An entity that is created with the other one.
  public static func new(_ entity: Entity.Create) -> ODataRelated { ODataRelated(.new(entity.odataEntity())) }
}

/// The targets of a navigation property to several entities in a creation: new entities, written as an array literal,
/// or entities that exist, or both.
///
/// ```swift
/// try await shop.orders.create(.init(items: [.init(position: 1), .init(position: 2)]))
/// try await shop.products.create(.init(name: "Salt", shelves: .existing(shop.shelves["A"], shop.shelves["B"])))
/// try await shop.products.create(.init(name: "Salt", shelves: [.init(code: "C")] + .existing(shop.shelves["A"])))
/// ```
///
/// `Creation` says whether the service creates them with the other one: ``ODataAllowed`` or ``ODataForbidden``.
public struct ODataRelatedEntities<Entity: ODataDescribed, Creation>: Hashable, Sendable {
  private let new: [ODataEntity]
  private let existing: [String]

  private init(new: [ODataEntity], existing: [String]) { (self.new, self.existing) = (new, existing) }

  /// Creates targets that exist, given by their URLs.
  package init(existing urls: [String]) { self.init(new: [], existing: urls) }

  /// Joins two lists.
  public static func + (left: ODataRelatedEntities, right: ODataRelatedEntities) -> ODataRelatedEntities {
    ODataRelatedEntities(new: left.new + right.new, existing: left.existing + right.existing)
  }

  fileprivate func link(_ name: String) -> ODataNavigationLink {
    var link = ODataNavigationLink(name: name)
    if !new.isEmpty || existing.isEmpty { link.content = .collection(ODataEntityCollection(entities: new)) }
    link.bindings = existing
    return link
  }
}

extension ODataRelatedEntities where Entity: ODataCreatable, Creation == ODataAllowed {
  /// Entities that are created with the other one.
  public static func new(_ entities: [Entity.Create]) -> ODataRelatedEntities {
    ODataRelatedEntities(new: entities.map { $0.odataEntity() }, existing: [])
  }
}

extension ODataRelatedEntities: ExpressibleByArrayLiteral where Entity: ODataCreatable, Creation == ODataAllowed {
  /// Creates a list of new entities.
  public init(arrayLiteral entities: Entity.Create...) { self = .new(entities) }
}

extension ODataNavigationLink {
  /// Creates a link to a new entity, or to one that exists.
  public init<Entity, Creation>(_ name: String, to entity: ODataRelated<Entity, Creation>) { self = entity.link(name) }

  /// Creates a link to new entities, and to those that exist.
  public init<Entity, Creation>(_ name: String, to entities: ODataRelatedEntities<Entity, Creation>) {
    self = entities.link(name)
  }
}
