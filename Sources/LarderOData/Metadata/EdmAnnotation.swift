/// An annotation: a term applied to an element, with a value (CSDL 4.01 §14.3).
public struct EdmAnnotation: EdmAnnotatable, EdmElement, Hashable {
  /// The term's qualified name.
  public var term: String
  /// The qualifier, which distinguishes several annotations of one term.
  public var qualifier: String?
  /// The value as an expression; nil if the annotation has the term's default.
  package var expression: EdmExpression?
  /// Annotations on the annotation.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an annotation.
  package init(term: String, qualifier: String? = nil, expression: EdmExpression? = nil) {
    self.term = term
    self.qualifier = qualifier
    self.expression = expression
  }

  /// The value; nil if the annotation has the term's default.
  public var value: EdmAnnotationValue? { expression.map { EdmAnnotationValue($0) } }
}

/// The value of an annotation: a constant, a path, or a collection or record of values. Annotations on the value are
/// ignored.
public struct EdmAnnotationValue: Sendable, Hashable {
  package let expression: EdmExpression

  package init(_ expression: EdmExpression) { self.expression = expression.bare }

  /// The text of a string constant; nil for others.
  public var string: String? {
    if case .constant(.string, let text) = expression { text } else { nil }
  }

  /// The value of a Boolean constant; nil for others.
  public var bool: Bool? {
    guard case .constant(.bool, let text) = expression else { return nil }
    return switch text {
    case "true", "1": true
    case "false", "0": false
    default: nil
    }
  }

  /// The value of a whole number; nil for others.
  public var int: Int64? {
    if case .constant(.int, let text) = expression { Int64(text) } else { nil }
  }

  /// The text of a path, or of a constant of any type: an enumeration's members, a date, a decimal; nil for others.
  public var text: String? {
    switch expression {
    case .constant(_, let text), .path(_, let text): text
    default: nil
    }
  }

  /// The items of a collection; nil for others.
  public var items: [EdmAnnotationValue]? {
    if case .collection(let items) = expression { items.map { EdmAnnotationValue($0) } } else { nil }
  }

  /// The value of a record's property; nil for others.
  public subscript(property: String) -> EdmAnnotationValue? {
    guard case .record(_, let values) = expression else { return nil }
    return values.first { $0.property == property }?.value.map { EdmAnnotationValue($0) }
  }
}

/// Annotations written separately from their element: `Annotations Target="…"` (CSDL 4.01 §14.2).
package struct EdmAnnotationGroup: Sendable, Hashable {
  /// The element: its qualified name and further steps (`NS.Type/Property`, `NS.Action(NS.Type)/Parameter`).
  package var target: String
  /// The qualifier of all annotations of the group that do not have their own.
  package var qualifier: String?
  /// The annotations in their order.
  package var annotations: [EdmAnnotation]

  /// Creates a group.
  package init(target: String, qualifier: String? = nil, annotations: [EdmAnnotation] = []) {
    self.target = target
    self.qualifier = qualifier
    self.annotations = annotations
  }
}
