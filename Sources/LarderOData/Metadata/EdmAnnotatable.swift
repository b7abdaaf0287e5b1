/// An element of a model with annotations, and with attributes of other namespaces.
public protocol EdmAnnotatable: Sendable {
  /// The annotations written inside the element, in their order (CSDL 4.01 §14.3).
  ///
  /// ``EdmModel/annotations(target:)`` also returns those written separately, in `Annotations Target="…"`.
  var annotations: [EdmAnnotation] { get set }
}

/// An element of a model in a reader's or printer's view: all its foreign attributes. Every ``EdmAnnotatable`` is one.
package protocol EdmElement: EdmAnnotatable {
  /// Attributes of foreign namespaces (`sap:label`, `m:MimeType`), and unknown ones without a namespace, as written.
  var foreignAttributes: [EdmForeignAttribute] { get set }
}

extension EdmAnnotatable {
  /// The annotation of a term written inside the element; nil if there is none.
  ///
  /// `term` is qualified with its namespace, not its alias.
  public func annotation(_ term: String, qualifier: String? = nil) -> EdmAnnotation? {
    annotations.first { $0.term == term && $0.qualifier == qualifier }
  }

  /// The value of an attribute of another namespace, given as its URI; an unknown attribute without a prefix has an
  /// empty one. Nil if it is absent.
  public func foreignAttribute(_ name: String, namespace: String) -> String? {
    let attributes = (self as? any EdmElement)?.foreignAttributes
    return attributes?.first { $0.name == name && $0.namespace == namespace }?.value
  }

  /// The value of an attribute of SAP's namespace (`sap:label` is `sap("label")`).
  public func sap(_ name: String) -> String? {
    foreignAttribute(name, namespace: EdmForeignAttribute.sapNamespace)
  }
}

/// An attribute that is not CSDL's own.
package struct EdmForeignAttribute: Sendable, Hashable {
  /// The namespace of SAP's V2 annotations.
  package static let sapNamespace = "http://www.sap.com/Protocols/SAPData"
  /// The namespace of the V1 to V3 metadata attributes (`m:`).
  package static let metadataNamespace = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"

  /// The namespace's URI; empty for an unknown attribute without a prefix.
  package var namespace: String
  /// The prefix as written; empty if there is none.
  package var prefix: String
  /// The name without prefix.
  package var name: String
  /// The value.
  package var value: String

  /// Creates an attribute.
  package init(namespace: String, prefix: String = "", name: String, value: String) {
    self.namespace = namespace
    self.prefix = prefix
    self.name = name
    self.value = value
  }
}
