internal import LarderOData

/// Formats an annotation on one line: `@Core.Description "…"`.
enum AnnotationText {
  static func line(_ annotation: EdmAnnotation) -> String {
    let qualifier = annotation.qualifier.map { "#" + $0 } ?? ""
    let value = annotation.expression.map { " " + text($0) } ?? ""
    return "@" + annotation.term + qualifier + value + nested(annotation.annotations)
  }

  private static func nested(_ annotations: [EdmAnnotation]) -> String {
    annotations.isEmpty ? "" : " (" + annotations.map(line).joined(separator: ", ") + ")"
  }

  static func text(_ expression: EdmExpression) -> String {
    switch expression {
    case .constant(.string, let text): "\"" + TerminalText.line(text) + "\""
    case .constant(_, let text): text
    case .null: "null"
    case .path(_, let path): path
    case .operation(let operation, let operands): call(operation.rawValue, operands)
    case .conditional(let parts): call("If", parts)
    case .apply(let function, let arguments): call(function, arguments)
    case .cast(let type, _, let value): "Cast(\(type)\(value.map { ", " + text($0) } ?? ""))"
    case .isOf(let type, _, let value): "IsOf(\(type)\(value.map { ", " + text($0) } ?? ""))"
    case .collection(let items): "[" + items.map(text).joined(separator: ", ") + "]"
    case .labeledElement(let name, let value): "\(name): " + (value.map { text($0) } ?? "")
    case .labeledElementReference(let name): name
    case .record(let type, let values):
      (type.map { $0 + " " } ?? "") + "{" + values.map(member).joined(separator: ", ") + "}"
    case .urlRef(let value): "UrlRef(\(value.map { text($0) } ?? ""))"
    case .annotated(let value, let annotations): text(value) + nested(annotations)
    case .unknown(let element, let content): "<\(element)>\(TerminalText.line(content))</\(element)>"
    }
  }

  private static func member(_ value: EdmPropertyValue) -> String {
    "\(value.property): \(value.value.map { text($0) } ?? "")" + nested(value.annotations)
  }

  private static func call(_ name: String, _ operands: [EdmExpression]) -> String {
    name + "(" + operands.map(text).joined(separator: ", ") + ")"
  }
}

/// Counts the annotations that `--annotations` would show.
enum AnnotationCount {
  static func of(_ model: EdmModel) -> Int {
    model.schemas.reduce(0) { $0 + of($1) }
  }

  private static func annotationCount(_ element: some EdmElement) -> Int {
    element.annotations.count + element.foreignAttributes.count
  }

  private static func sum(_ elements: [some EdmElement]) -> Int { elements.reduce(0) { $0 + annotationCount($1) } }

  private static func of(_ schema: EdmSchema) -> Int {
    var count = annotationCount(schema) + schema.annotationGroups.reduce(0) { $0 + $1.annotations.count }
    for type in schema.entityTypes {
      count += annotationCount(type) + sum(type.properties) + sum(type.navigationProperties)
    }
    for type in schema.complexTypes {
      count += annotationCount(type) + sum(type.properties) + sum(type.navigationProperties)
    }
    for type in schema.enumTypes { count += annotationCount(type) + sum(type.members) }
    for function in schema.functions { count += annotationCount(function) + sum(function.parameters) }
    for action in schema.actions { count += annotationCount(action) + sum(action.parameters) }
    for container in schema.containers {
      count += annotationCount(container) + sum(container.entitySets) + sum(container.singletons)
      count += sum(container.functionImports) + sum(container.actionImports)
    }
    return count + sum(schema.typeDefinitions) + sum(schema.terms)
  }
}
