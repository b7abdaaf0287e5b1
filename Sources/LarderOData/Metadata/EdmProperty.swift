/// A structural property of an entity or complex type (CSDL 4.01 §7).
public struct EdmProperty: EdmAnnotatable, EdmElement, Hashable {
  /// The name, unique in the type.
  public var name: String
  /// The type.
  public var type: EdmTypeReference
  /// Whether the value may be null; nil if the document does not say. See ``isNullable``.
  package var nullable: Bool?
  /// The facets, which restrict the type.
  public var facets = EdmFacets()
  /// The default value of a new entity, as written.
  public var defaultValue: String?
  /// V1 to V3: whether the value is part of the ETag.
  package var concurrencyMode: EdmConcurrencyMode?
  /// V3: how a collection is ordered (`List`, `Bag`).
  package var collectionKind: String?
  /// V2 and V3: the places of the value in Atom instead of, or in addition to, the content (`m:FC_…`).
  package var feedMappings: [EdmFeedMapping] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a property.
  package init(name: String, type: EdmTypeReference, nullable: Bool? = nil) {
    self.name = name
    self.type = type
    self.nullable = nullable
  }

  /// Whether the value (or, in a collection, an item) may be null; true if the document does not say.
  public var isNullable: Bool { nullable ?? true }
}

/// The V1 to V3 attribute `ConcurrencyMode`.
package enum EdmConcurrencyMode: String, Sendable, Hashable {
  /// The value is not part of the ETag.
  case none = "None"
  /// The value is part of the ETag.
  case fixed = "Fixed"
}

/// One mapping of a property to Atom ([MS-ODATA] §2.2.3.7.2.1, "Customizable Feeds").
package struct EdmFeedMapping: Sendable, Hashable {
  /// The property's path from the entity, steps joined by `/`.
  package var sourcePath: String
  /// `SyndicationTitle` and similar names, or a path of elements (a last step with `@` is an attribute).
  package var targetPath: String
  /// Whether the value is also in the content.
  package var keepsInContent: Bool
  /// `text`, `html` or `xhtml`.
  package var contentKind: String?
  /// The prefix that the service uses for the elements of a custom mapping.
  package var namespacePrefix: String?
  /// The namespace of the elements of a custom mapping.
  package var namespaceURI: String?

  /// Creates a mapping.
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
