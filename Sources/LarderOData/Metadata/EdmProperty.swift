/// A structural property of an entity or complex type (CSDL 4.01 §7).
public struct EdmProperty: EdmAnnotatable, Hashable {
  /// The name, unique in the type.
  public var name: String
  /// The type.
  public var type: EdmTypeReference
  /// Whether null is a value, as the document says it; nil where it says nothing. See ``isNullable``.
  public var nullable: Bool?
  /// What narrows the type.
  public var facets = EdmFacets()
  /// The value that a new entity gets where none is given, as written.
  public var defaultValue: String?
  /// V1 to V3: whether the value takes part in the ETag.
  public var concurrencyMode: EdmConcurrencyMode?
  /// V3: how a collection is ordered (`List`, `Bag`).
  public var collectionKind: String?
  /// V2 and V3: where Atom carries the value instead of, or beside, the content (`m:FC_…`).
  package var feedMappings: [EdmFeedMapping] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes a property.
  package init(name: String, type: EdmTypeReference, nullable: Bool? = nil) {
    self.name = name
    self.type = type
    self.nullable = nullable
  }

  /// True where null (or, in a collection, a null item) can occur: also where the document says nothing.
  public var isNullable: Bool { nullable ?? true }
}

/// The V1 to V3 attribute `ConcurrencyMode`.
public enum EdmConcurrencyMode: String, Sendable, Hashable {
  /// The value does not matter to concurrency.
  case none = "None"
  /// The value is part of the ETag.
  case fixed = "Fixed"
}

/// One mapping of a property to Atom ([MS-ODATA] §2.2.3.7.2.1, "Customizable Feeds").
package struct EdmFeedMapping: Sendable, Hashable {
  /// The property's path from the entity, steps joined by `/`.
  package var sourcePath: String
  /// `SyndicationTitle` and its like, or a path of elements (a last step with `@` is an attribute).
  package var targetPath: String
  /// Whether the value is in the content too.
  package var keepsInContent: Bool
  /// `text`, `html` or `xhtml`.
  package var contentKind: String?
  /// The prefix that the service uses for the elements of a custom mapping.
  package var namespacePrefix: String?
  /// The namespace of the elements of a custom mapping.
  package var namespaceURI: String?

  /// Makes a mapping.
  package init(
    sourcePath: String, targetPath: String, keepsInContent: Bool = true, contentKind: String? = nil,
    namespacePrefix: String? = nil, namespaceURI: String? = nil
  ) {
    self.sourcePath = sourcePath
    self.targetPath = targetPath
    self.keepsInContent = keepsInContent
    self.contentKind = contentKind
    self.namespacePrefix = namespacePrefix
    self.namespaceURI = namespaceURI
  }
}
