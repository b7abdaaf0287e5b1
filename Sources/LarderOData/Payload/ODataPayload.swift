/// The content of one message body, independent of version and format.
public enum ODataPayload: Sendable, Hashable {
  /// One entity, or a singleton.
  case entity(ODataEntity)
  /// Entities, or a page of them.
  case collection(ODataEntityCollection)
  /// One value: that of a property, or the result of an operation; null included.
  case property(ODataPropertyPayload)
  /// A reference to one entity.
  case reference(ODataReference)
  /// References to entities, or a page of them.
  case references(ODataReferenceCollection)
  /// The number of entities (`$count`, plain text).
  case count(Int64)
  /// Changes since a delta link.
  case delta(ODataDelta)
  /// The service document.
  case serviceDocument(ODataServiceDocument)
  /// An error instead of a result.
  case error(ODataErrorPayload)

  /// The entities of a collection or delta (without deletions), or the one entity; nil for other payloads.
  public var entities: [ODataEntity]? {
    switch self {
    case .entity(let entity): [entity]
    case .collection(let collection): collection.entities
    case .delta(let delta):
      delta.items.compactMap { if case .entity(let entity) = $0 { entity } else { nil } }
    default: nil
    }
  }

  /// The next page of a collection, references or delta; nil if there is none.
  public var nextLink: String? {
    switch self {
    case .collection(let collection): collection.nextLink
    case .references(let references): references.nextLink
    case .delta(let delta): delta.nextLink
    case .property(let property): property.nextLink
    default: nil
    }
  }

  /// The URL of later changes; nil if the payload has none.
  public var deltaLink: String? {
    switch self {
    case .collection(let collection): collection.deltaLink
    case .delta(let delta): delta.deltaLink
    default: nil
    }
  }

  /// The context URL; nil if the payload has none.
  public var context: String? {
    switch self {
    case .entity(let entity): entity.context
    case .collection(let collection): collection.context
    case .property(let property): property.context
    case .references(let references): references.context
    case .delta(let delta): delta.context
    case .serviceDocument(let document): document.context
    case .reference, .count, .error: nil
    }
  }
}

/// A single value: an individual property or the result of an operation (OData JSON Format 4.01 §11).
public struct ODataPropertyPayload: Sendable, Hashable {
  /// The property's or function's name, in V2 from the payload, in V4 from the context URL; nil if neither contains it.
  public var name: String?
  /// The value; `.collection` for a collection of primitive or complex values.
  public var value: ODataValue
  /// The qualified type name from the payload or its context, including `Collection(…)`; nil if neither contains it.
  public var typeName: String?
  /// The context URL; nil if the payload has none.
  package var context: String?
  /// The number of values on all pages.
  public var count: Int64?
  /// The next page of a collection.
  public var nextLink: String?
  /// Instance annotations on the value.
  public var annotations: [ODataAnnotation]

  /// Creates a payload of a value.
  package init(name: String? = nil, value: ODataValue, typeName: String? = nil, context: String? = nil) {
    self.name = name
    self.value = value
    self.typeName = typeName
    self.context = context
    annotations = []
  }
}
