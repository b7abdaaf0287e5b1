internal import LarderOData

// What the documentation of an entity set says about reading it.
extension ModelAnnotations {
  /// Texts for documentation: those of the element, then what the service does not return.
  func documentation(ofSet element: any EdmAnnotatable, named name: String, target: String) -> [String] {
    let texts = documentation(of: element, target: target)
    guard element is EdmEntitySet else { return texts }
    let notes = [reading(of: element, target), filters(of: element, target)].compactMap(\.self)
    return texts.isEmpty && !notes.isEmpty ? ["The entity set `\(name)`."] + notes : texts + notes
  }

  private func reading(of element: any EdmAnnotatable, _ target: String) -> String? {
    if element.sap("addressable") == "false" { return "Entities are only read through those that refer to them." }
    let restrictions = model.annotation("Org.OData.Capabilities.V1.ReadRestrictions", target: target)?.value
    guard restrictions?["Readable"]?.bool == false else { return nil }
    let isReadableByKey = restrictions?["ReadByKeyRestrictions"]?["Readable"]?.bool == true
    return isReadableByKey
      ? "Entities are only read by their keys." : "The service does not return entities of the set."
  }

  private func filters(of element: any EdmAnnotatable, _ target: String) -> String? {
    let restrictions = model.annotation("Org.OData.Capabilities.V1.FilterRestrictions", target: target)?.value
    guard element.sap("requires-filter") == "true" || restrictions?["RequiresFilter"]?.bool == true else { return nil }
    let names = (restrictions?["RequiredProperties"]?.items ?? []).compactMap(\.text).map { "`\($0)`" }
    return names.isEmpty ? "A query needs a filter." : "A query needs a filter by \(names.joined(separator: " and "))."
  }
}
