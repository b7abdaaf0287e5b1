/// A navigation property in a payload: its URLs, and the related entities if they are inline.
public struct ODataNavigationLink: Sendable, Hashable {
  /// The property's name.
  public var name: String
  /// The URL for reading the related entities (`Name@odata.navigationLink`, V2 `__deferred.uri`).
  public var url: String?
  /// The URL for reading and changing the links themselves (`Name@odata.associationLink`, V3 `associationuri`).
  public var associationURL: String?
  /// The related entities; nil if they are not inline (deferred).
  public var content: Content?
  /// The number of related entities, if the payload contains only that (`$expand=Name/$count`).
  public var count: Int64?
  /// The URLs of entities to bind to, in a request body (`Name@odata.bind`).
  public var bindings: [String]
  /// Instance annotations on the property.
  public var annotations: [ODataAnnotation]

  /// The inline related entities.
  public enum Content: Sendable, Hashable {
    /// To-one, without a related entity.
    case null
    /// To-one.
    indirect case entity(ODataEntity)
    /// To-many; may be one page.
    case collection(ODataEntityCollection)
    /// To-many, as changes (`Name@delta`, OData JSON Format 4.01 §15.2).
    case delta(ODataDelta)
  }

  /// Creates a link.
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
