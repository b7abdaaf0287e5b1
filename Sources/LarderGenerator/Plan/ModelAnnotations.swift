internal import LarderOData

/// What the annotations of a model say about its elements: V4 vocabularies and SAP's attributes of V2.
struct ModelAnnotations {
  let model: EdmModel
  /// The annotations that are written separately, by their targets without spaces.
  private let separate: [String: [EdmAnnotation]]

  init(model: EdmModel) {
    self.model = model
    let groups = model.schemas.flatMap(\.annotationGroups).filter { $0.qualifier == nil }
    separate = Dictionary(grouping: groups) { $0.target.filter { $0 != " " } }.mapValues { $0.flatMap(\.annotations) }
  }

  /// The annotations inside elements, then those with separate targets. Overloads of an operation have one name, so an
  /// annotation inside one of them is not found by that name here.
  func annotations(of elements: [any EdmAnnotatable], targets: [String]) -> [EdmAnnotation] {
    elements.flatMap(\.annotations) + targets.flatMap { separate[$0] ?? [] }
  }

  /// Texts for documentation: a description, then a label that says something else.
  func documentation(of element: some EdmAnnotatable, target: String) -> [String] {
    documentation(of: element, in: model.annotations(target: target))
  }

  /// Texts for documentation from annotations, and from SAP's attributes of an element.
  func documentation(of element: any EdmAnnotatable, in annotations: [EdmAnnotation]) -> [String] {
    func text(_ term: String) -> String? { annotations.first { $0.term == term && $0.qualifier == nil }?.value?.string }
    let label = text("com.sap.vocabularies.Common.v1.Label") ?? element.sap("label")
    let texts = [
      text("Org.OData.Core.V1.Description") ?? text("com.sap.vocabularies.Common.v1.QuickInfo")
        ?? element.sap("quickinfo") ?? label,
      text("Org.OData.Core.V1.LongDescription"), label,
    ]
    var lines: [String] = []
    for text in texts {
      let text = (text ?? "").split(whereSeparator: { $0.isWhitespace || $0.isNewline }).joined(separator: " ")
      if !text.isEmpty, !lines.contains(text) { lines.append(text) }
    }
    return lines
  }

  /// Whether the service alone sets a property.
  func isComputed(_ target: String) -> Bool {
    model.isTagged("Org.OData.Core.V1.Computed", target: target) || !model.permissions(target: target).allowWriting
  }

  /// Whether a property never changes after the creation of its entity.
  func isImmutable(_ target: String) -> Bool { model.isTagged("Org.OData.Core.V1.Immutable", target: target) }

  /// Whether a call of an operation may be without a parameter (Core vocabulary, `OptionalParameter`).
  func isOmittable(_ parameter: EdmParameter, of operation: [String]) -> Bool {
    annotations(of: [parameter], targets: operation.map { "\($0)/\(parameter.name)" })
      .contains { $0.term == "Org.OData.Core.V1.OptionalParameter" && $0.qualifier == nil }
  }
}
