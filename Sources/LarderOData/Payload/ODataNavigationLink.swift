/// A navigation property in a payload: its URLs, and the related entities if they are inline.
public struct ODataNavigationLink: Sendable, Hashable {
  /// The property's name.
  public var name: String
  /// Where the related entities are read (`Name@odata.navigationLink`, V2 `__deferred.uri`).
  public var url: String?
  /// Where the links themselves are read and changed (`Name@odata.associationLink`, V3 `associationuri`).
  public var associationURL: String?
  /// The related entities; nil if they are not inline (deferred).
  public var content: Content?
  /// How many there are, where the payload counts without listing (`$expand=Name/$count`).
  public var count: Int64?
  /// Entities to bind to in a request body (`Name@odata.bind`), by URL.
  public var bindings: [String]
  /// Instance annotations on the property.
  public var annotations: [ODataAnnotation]

  /// The inline related entities.
  public enum Content: Sendable, Hashable {
    /// To-one, and nothing is related.
    case null
    /// To-one.
    indirect case entity(ODataEntity)
    /// To-many; may be a page of it.
    case collection(ODataEntityCollection)
    /// To-many, as changes (`Name@delta`, OData JSON Format 4.01 §15.2).
    case delta(ODataDelta)
  }

  /// A link that is not expanded.
  public init(name: String, url: String? = nil, content: Content? = nil) {
    self.name = name
    self.url = url
    self.content = content
    bindings = []
    annotations = []
  }

  /// The related entity of a to-one link; nil if there is none or it is not inline.
  public var entity: ODataEntity? { if case .entity(let entity)? = content { entity } else { nil } }

  /// The related entities of a to-many link; nil if they are not inline.
  public var entities: [ODataEntity]? {
    if case .collection(let collection)? = content { collection.entities } else { nil }
  }
}
