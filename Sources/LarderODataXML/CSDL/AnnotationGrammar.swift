internal import LarderOData

/// `Annotation` and the expressions that can be its value (CSDL XML 4.01 §14; V3's `ValueAnnotation`,
/// `TypeAnnotation`).
enum AnnotationGrammar {
  static func annotation(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmAnnotation) -> Void
  ) -> CSDLFrame {
    guard let term = element.takeRequired("Term", reading)?.trimmed else { return SkippedFrame(element.name) }
    var annotation = EdmAnnotation(term: term, qualifier: element.take("Qualifier"))
    if element.name == "TypeAnnotation" {
      annotation.foreignAttributes = element.rest(reading)
      return typeAnnotation(annotation, deliver: deliver)
    }
    annotation.expression = attributeValue(&element)
    annotation.foreignAttributes = element.rest(reading)
    return ElementFrame(element.name, term, annotation) { element, frame, reading in
      single(frame.element.expression, &element, reading) { frame.element.expression = $0 }
    } deliver: {
      deliver($0)
    }
  }

  /// Reads V3's annotation with a structured value as an annotation with a record.
  private static func typeAnnotation(
    _ annotation: EdmAnnotation, deliver: @escaping (EdmAnnotation) -> Void
  ) -> CSDLFrame {
    var values: [EdmPropertyValue] = []
    return ElementFrame("TypeAnnotation", annotation.term, annotation) { element, _, reading in
      guard element.name == "PropertyValue" else { return nil }
      return propertyValue(&element, reading) { values.append($0) }
    } deliver: { annotation in
      var annotation = annotation
      annotation.expression = .record(type: annotation.term, values)
      deliver(annotation)
    }
  }

  /// The frame of an element that contains one expression.
  static func single(
    _ present: EdmExpression?, _ element: inout CSDLElement, _ reading: CSDLReading,
    deliver: @escaping (EdmExpression) -> Void
  ) -> CSDLFrame? {
    guard let frame = ExpressionFrame(&element, reading, deliver: deliver) else { return nil }
    if present == nil { return frame }
    reading.report(.invalidValue, "a second value (\(element.name)) was ignored", at: element)
    return SkippedFrame(element.name)
  }

  static func propertyValue(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmPropertyValue) -> Void
  ) -> CSDLFrame {
    guard let property = element.takeRequired("Property", reading) else { return SkippedFrame(element.name) }
    var value = EdmPropertyValue(property: property, value: attributeValue(&element))
    value.foreignAttributes = element.rest(reading)
    return ElementFrame("PropertyValue", property, value) { element, frame, reading in
      single(frame.element.value, &element, reading) { frame.element.value = $0 }
    } deliver: {
      deliver($0)
    }
  }

  /// An expression in attribute notation: `Bool="true"`, `Path="Name"`.
  static func attributeValue(_ element: inout CSDLElement) -> EdmExpression? {
    element.takeFirst { name, value in
      if let kind = constants[name] { return .constant(kind, kind == .string ? value : value.trimmed) }
      if let kind = paths[name] { return .path(kind, value.trimmed) }
      return name == "UrlRef" ? .urlRef(.constant(.string, value)) : nil
    }
  }

  static let constants = Dictionary(uniqueKeysWithValues: EdmConstantKind.allCases.map { ($0.rawValue, $0) })
  static let paths = Dictionary(uniqueKeysWithValues: EdmPathKind.allCases.map { ($0.rawValue, $0) })
  static let operators = Dictionary(uniqueKeysWithValues: EdmOperator.allCases.map { ($0.rawValue, $0) })
}
