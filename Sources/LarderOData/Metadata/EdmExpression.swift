/// The value of an annotation: a constant, or an expression on the annotated element (CSDL 4.01 §14.3 and §14.4).
///
/// It is data: this library does not evaluate it. Readers limit its depth (``MetadataLimits/depth``).
package indirect enum EdmExpression: Sendable, Hashable {
  /// A constant, as written: `constant(.date, "2016-02-29")`.
  case constant(EdmConstantKind, String)
  /// No value.
  case null
  /// A path to a value or an element, as written.
  case path(EdmPathKind, String)
  /// A comparison, a logical or an arithmetic operator with its operands.
  case operation(EdmOperator, [EdmExpression])
  /// A client-side function applied to arguments.
  case apply(function: String, [EdmExpression])
  /// A value cast to a type.
  case cast(EdmTypeReference, EdmFacets, EdmExpression?)
  /// Whether a value is of a type.
  case isOf(EdmTypeReference, EdmFacets, EdmExpression?)
  /// A list.
  case collection([EdmExpression])
  /// The condition, the value if it is true, and the value if it is false (which may be absent only inside
  /// collections).
  case conditional([EdmExpression])
  /// A value with a name, for references to it.
  case labeledElement(name: String, EdmExpression?)
  /// The value of a labeled element.
  case labeledElementReference(String)
  /// A structured value. The type, if given, is qualified.
  case record(type: String?, [EdmPropertyValue])
  /// A URL computed by an expression.
  case urlRef(EdmExpression?)
  /// An expression with annotations.
  case annotated(EdmExpression, [EdmAnnotation])
  /// An expression that this library does not know: its element's name and text.
  case unknown(element: String, text: String)
}

/// The types of constants in CSDL, by the names of their elements (CSDL 4.01 §14.3; the last two are V3's).
package enum EdmConstantKind: String, Sendable, Hashable, CaseIterable {
  /// base64url.
  case binary = "Binary"
  /// `true` or `false`.
  case bool = "Bool"
  /// A date.
  case date = "Date"
  /// A timestamp.
  case dateTimeOffset = "DateTimeOffset"
  /// A decimal number.
  case decimal = "Decimal"
  /// A duration.
  case duration = "Duration"
  /// Members of an enumeration, `NS.Type/Member`, separated by spaces. In CSDL JSON, names or a number.
  case enumMember = "EnumMember"
  /// A floating-point number.
  case float = "Float"
  /// 128 bits.
  case guid = "Guid"
  /// A whole number.
  case int = "Int"
  /// Text.
  case string = "String"
  /// A time of day.
  case timeOfDay = "TimeOfDay"
  /// V3: a timestamp without an offset.
  case dateTime = "DateTime"
  /// V3: a time of day.
  case time = "Time"
}

/// The kinds of paths by their targets (CSDL 4.01 §14.4.1).
package enum EdmPathKind: String, Sendable, Hashable, CaseIterable {
  /// A value.
  case value = "Path"
  /// An annotation.
  case annotation = "AnnotationPath"
  /// An element of the model.
  case modelElement = "ModelElementPath"
  /// A navigation property.
  case navigationProperty = "NavigationPropertyPath"
  /// A property.
  case property = "PropertyPath"
  /// A property of any kind.
  case anyProperty = "AnyPropertyPath"
}

/// The operators of annotation expressions (CSDL 4.01 §14.4.2 and §14.4.3).
package enum EdmOperator: String, Sendable, Hashable, CaseIterable {
  /// Both are true.
  case and = "And"
  /// One is true.
  case or = "Or"
  /// The operand is false.
  case not = "Not"
  /// Equal.
  case equal = "Eq"
  /// Not equal.
  case notEqual = "Ne"
  /// Greater.
  case greater = "Gt"
  /// Greater or equal.
  case greaterOrEqual = "Ge"
  /// Less.
  case less = "Lt"
  /// Less or equal.
  case lessOrEqual = "Le"
  /// A flag is set.
  case has = "Has"
  /// The value is in a list.
  case `in` = "In"
  /// Sum.
  case add = "Add"
  /// Difference.
  case subtract = "Sub"
  /// Negation.
  case negate = "Neg"
  /// Product.
  case multiply = "Mul"
  /// Quotient, an integer for integers.
  case divide = "Div"
  /// Quotient with a fraction.
  case divideBy = "DivBy"
  /// Remainder.
  case modulo = "Mod"
}

/// A property of a record.
package struct EdmPropertyValue: EdmAnnotatable, EdmElement, Hashable {
  /// The property's name.
  package var property: String
  /// The value; nil if the document uses the property's default.
  package var value: EdmExpression?
  /// The annotations written inside the element.
  package var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a property value.
  package init(property: String, value: EdmExpression? = nil) {
    self.property = property
    self.value = value
  }
}

extension EdmExpression {
  /// The expression without the annotations on it.
  package var bare: EdmExpression {
    var expression = self
    while case .annotated(let inner, _) = expression { expression = inner }
    return expression
  }
}
