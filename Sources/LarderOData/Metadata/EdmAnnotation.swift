/// An annotation: a term applied to an element, with a value (CSDL 4.01 §14.3).
public struct EdmAnnotation: EdmAnnotatable, Hashable {
  /// The term's qualified name.
  public var term: String
  /// The qualifier, which distinguishes several annotations of one term.
  public var qualifier: String?
  /// The value; nil if the annotation has the term's default.
  public var value: EdmExpression?
  /// Annotations on the annotation.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an annotation.
  package init(term: String, qualifier: String? = nil, value: EdmExpression? = nil) {
    self.term = term
    self.qualifier = qualifier
    self.value = value
  }
}

/// Annotations written separately from their element: `Annotations Target="…"` (CSDL 4.01 §14.2).
public struct EdmAnnotationGroup: Sendable, Hashable {
  /// The element: its qualified name and further steps (`NS.Type/Property`, `NS.Action(NS.Type)/Parameter`).
  public var target: String
  /// The qualifier of all annotations of the group that do not have their own.
  public var qualifier: String?
  /// The annotations in their order.
  public var annotations: [EdmAnnotation]

  /// Creates a group.
  package init(target: String, qualifier: String? = nil, annotations: [EdmAnnotation] = []) {
    self.target = target
    self.qualifier = qualifier
    self.annotations = annotations
  }
}
