internal import LarderOData

/// What the annotations of a model say about its elements: V4 vocabularies and SAP's attributes of V2.
struct ModelAnnotations {
  let model: EdmModel

  /// Texts for documentation: a description, then a label that says something else.
  func documentation(of element: some EdmAnnotatable, target: String) -> [String] {
    let annotations = model.annotations(target: target)
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
  func isOmittable(_ parameter: EdmParameter, of operation: String) -> Bool {
    let term = "Org.OData.Core.V1.OptionalParameter"
    return parameter.annotation(term) != nil
      || model.annotation(term, target: "\(operation)/\(parameter.name)") != nil
  }
}
