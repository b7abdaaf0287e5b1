/// The service document: the resources at a service's root (OData JSON Format 4.01 §5; V2 `EntitySets`; Atom service
/// document).
public struct ODataServiceDocument: Sendable, Hashable {
  /// One resource.
  public struct Element: Sendable, Hashable {
    /// The kinds of resources.
    public enum Kind: Sendable, Hashable {
      /// An entity set; also if the payload contains no kind.
      case entitySet
      /// A singleton.
      case singleton
      /// A function import without parameters.
      case functionImport
      /// Another service document.
      case serviceDocument
      /// A kind that the service defines.
      case other(String)
    }
    /// The name in the entity container.
    public var name: String
    /// The kind of resource.
    public var kind: Kind
    /// The URL, absolute or relative to the context or service root.
    public var url: String
    /// A title for users; nil if it equals `name`.
    public var title: String?
    /// Instance annotations on the element.
    public var annotations: [ODataAnnotation]

    /// Creates an element.
    package init(name: String, kind: Kind = .entitySet, url: String, title: String? = nil) {
      self.name = name
      self.kind = kind
      self.url = url
      self.title = title
      annotations = []
    }
  }

  /// The context URL; nil if the payload has none.
  package var context: String?
  /// The elements in their order.
  public var elements: [Element]
  /// Instance annotations on the document.
  public var annotations: [ODataAnnotation]

  /// Creates a document with the given elements.
  package init(elements: [Element] = [], context: String? = nil) {
    self.elements = elements
    self.context = context
    annotations = []
  }
}
