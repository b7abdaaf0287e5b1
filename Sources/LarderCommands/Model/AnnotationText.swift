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
