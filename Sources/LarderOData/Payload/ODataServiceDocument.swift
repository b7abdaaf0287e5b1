/// What a service offers at its root (OData JSON Format 4.01 §5; V2 `EntitySets`; Atom service document).
public struct ODataServiceDocument: Sendable, Hashable {
  /// One thing offered.
  public struct Element: Sendable, Hashable {
    /// What it is.
    public enum Kind: Sendable, Hashable {
      /// An entity set; also where the payload does not say.
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
    /// What it is.
    public var kind: Kind
    /// The URL, absolute or relative to the context or service root.
    public var url: String
    /// A name for people; nil where it is the same as `name`.
    public var title: String?
    /// Instance annotations on it.
    public var annotations: [ODataAnnotation]

    /// Makes an element.
    package init(name: String, kind: Kind = .entitySet, url: String, title: String? = nil) {
      self.name = name
      self.kind = kind
      self.url = url
      self.title = title
      annotations = []
    }
  }

  /// The context URL; nil where the payload has none.
  public var context: String?
  /// The elements in their order.
  public var elements: [Element]
  /// Instance annotations on the document.
  public var annotations: [ODataAnnotation]

  /// A document of the given elements.
  package init(elements: [Element] = [], context: String? = nil) {
    self.elements = elements
    self.context = context
    annotations = []
  }
}
