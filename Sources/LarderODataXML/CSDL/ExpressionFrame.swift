internal import LarderOData

/// Reads an annotation expression in element notation (CSDL XML 4.01 §14.3, §14.4).
final class ExpressionFrame: CSDLFrame {
  private enum Kind {
    case constant(EdmConstantKind)
    case path(EdmPathKind)
    case operation(EdmOperator)
    case apply(String)
    case cast(EdmTypeReference, EdmFacets)
    case isOf(EdmTypeReference, EdmFacets)
    case collection
    case conditional
    case labeledElement(String)
    case labeledElementReference(String?)
    case null
    case record(String?)
    case urlRef
    case unknown
  }

  private let kind: Kind
  private var content = ""
  private var operands: [EdmExpression] = []
  private var values: [EdmPropertyValue] = []
  private var annotations: [EdmAnnotation] = []
  private let deliver: (EdmExpression) -> Void

  /// The frame of an expression; nil if the element is no expression. V3's elements that have no meaning in V4 are kept
  /// as text.
  init?(_ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmExpression) -> Void) {
    guard let kind = ExpressionFrame.kind(&element, reading) else { return nil }
    self.kind = kind
    self.deliver = deliver
    if case .labeledElement = kind, let value = AnnotationGrammar.attributeValue(&element) { operands.append(value) }
    if case .unknown = kind {
      reading.report(.unknownElement, "\(element.name) is not a known expression; its text is kept", at: element)
    }
    _ = element.rest(reading)
    super.init(element.name)
  }

  private static func kind(_ element: inout CSDLElement, _ reading: CSDLReading) -> Kind? {
    if let constant = AnnotationGrammar.constants[element.name] { return .constant(constant) }
    if let path = AnnotationGrammar.paths[element.name] { return .path(path) }
    if let operation = AnnotationGrammar.operators[element.name] { return .operation(operation) }
    switch element.name {
    case "Apply": return .apply(element.take("Function") ?? "")
    case "Cast", "AssertType": return .cast(element.takeType() ?? .abstract(.untyped), element.takeFacets(reading))
    case "IsOf", "IsType": return .isOf(element.takeType() ?? .abstract(.untyped), element.takeFacets(reading))
    case "Collection": return .collection
    case "If": return .conditional
    case "LabeledElement": return .labeledElement(element.take("Name") ?? "")
    case "LabeledElementReference": return .labeledElementReference(element.take("Name"))
    case "Null": return .null
    case "Record": return .record(element.take("Type")?.trimmed)
    case "UrlRef", "Url": return .urlRef
    case "EntitySetReference", "EnumMemberReference", "FunctionReference", "ParameterReference", "PropertyReference",
      "ValueTermReference":
      return .unknown
    default: return nil
    }
  }

  override var wantsText: Bool {
    switch kind {
    case .constant, .path, .labeledElementReference, .unknown: true
    default: false
    }
  }

  override func text(_ text: String) { content += text }

  override func child(_ element: inout CSDLElement, _ reading: CSDLReading) -> CSDLFrame? {
    if ["Annotation", "ValueAnnotation"].contains(element.name) {
      return AnnotationGrammar.annotation(&element, reading) { self.annotations.append($0) }
    }
    switch kind {
    case .record:
      guard element.name == "PropertyValue" else { return nil }
      return AnnotationGrammar.propertyValue(&element, reading) { self.values.append($0) }
    case .operation, .apply, .collection, .conditional:
      return ExpressionFrame(&element, reading) { self.operands.append($0) }
    case .cast, .isOf, .labeledElement, .urlRef:
      return AnnotationGrammar.single(operands.first, &element, reading) { self.operands.append($0) }
    case .constant, .path, .labeledElementReference, .null, .unknown:
      return nil
    }
  }

  override func end(_ reading: CSDLReading) {
    deliver(annotations.isEmpty ? expression : .annotated(expression, annotations))
  }

  private var expression: EdmExpression {
    switch kind {
    case .constant(.string): .constant(.string, content)
    case .constant(let kind): .constant(kind, content.trimmed)
    case .path(let kind): .path(kind, content.trimmed)
    case .operation(let operation): .operation(operation, operands)
    case .apply(let function): .apply(function: function, operands)
    case .cast(let type, let facets): .cast(type, facets, operands.first)
    case .isOf(let type, let facets): .isOf(type, facets, operands.first)
    case .collection: .collection(operands)
    case .conditional: .conditional(operands)
    case .labeledElement(let name): .labeledElement(name: name, operands.first)
    case .labeledElementReference(let name): .labeledElementReference(name ?? content.trimmed)
    case .null: .null
    case .record(let type): .record(type: type, values)
    case .urlRef: .urlRef(operands.first)
    case .unknown: .unknown(element: name, text: content.trimmed)
    }
  }
}
