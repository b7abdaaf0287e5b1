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

  /// What the entity sets of a type do not allow. A type of several sets is restricted only where all of them are.
  func restrictions(ofSets targets: [(set: EdmEntitySet, target: String)]) -> SetRestrictions {
    guard let first = targets.first else { return SetRestrictions() }
    return targets.dropFirst().reduce(restrictions(of: first.set, first.target)) {
      $0.common(with: restrictions(of: $1.set, $1.target))
    }
  }

  private func restrictions(of set: EdmEntitySet, _ target: String) -> SetRestrictions {
    func record(_ name: String) -> EdmAnnotationValue? {
      model.annotation("Org.OData.Capabilities.V1." + name, target: target)?.value
    }
    func paths(_ value: EdmAnnotationValue?) -> Set<String> { Set((value?.items ?? []).compactMap(\.text)) }
    let (filter, sort) = (record("FilterRestrictions"), record("SortRestrictions"))
    let (insert, update) = (record("InsertRestrictions"), record("UpdateRestrictions"))
    let (delete, expand) = (record("DeleteRestrictions"), record("ExpandRestrictions"))
    return SetRestrictions(
      isFilterable: filter?["Filterable"]?.bool != false, isSortable: sort?["Sortable"]?.bool != false,
      isInsertable: insert?["Insertable"]?.bool != false && set.sap("creatable") != "false",
      isUpdatable: update?["Updatable"]?.bool != false && set.sap("updatable") != "false",
      isDeletable: delete?["Deletable"]?.bool != false && set.sap("deletable") != "false",
      isExpandable: expand?["Expandable"]?.bool != false,
      unfilterable: paths(filter?["NonFilterableProperties"]), unsortable: paths(sort?["NonSortableProperties"]),
      notInsertable: paths(insert?["NonInsertableProperties"]).union(
        paths(insert?["NonInsertableNavigationProperties"])),
      notUpdatable: paths(update?["NonUpdatableProperties"]),
      notExpandable: paths(expand?["NonExpandableProperties"]))
  }
}

/// What entity sets do not allow.
struct SetRestrictions {
  var isFilterable = true
  var isSortable = true
  var isInsertable = true
  var isUpdatable = true
  var isDeletable = true
  var isExpandable = true
  /// Names of properties.
  var unfilterable: Set<String> = []
  var unsortable: Set<String> = []
  var notInsertable: Set<String> = []
  var notUpdatable: Set<String> = []
  var notExpandable: Set<String> = []

  /// The restrictions that both have.
  func common(with other: SetRestrictions) -> SetRestrictions {
    SetRestrictions(
      isFilterable: isFilterable || other.isFilterable, isSortable: isSortable || other.isSortable,
      isInsertable: isInsertable || other.isInsertable, isUpdatable: isUpdatable || other.isUpdatable,
      isDeletable: isDeletable || other.isDeletable, isExpandable: isExpandable || other.isExpandable,
      unfilterable: unfilterable.intersection(other.unfilterable),
      unsortable: unsortable.intersection(other.unsortable),
      notInsertable: notInsertable.intersection(other.notInsertable),
      notUpdatable: notUpdatable.intersection(other.notUpdatable),
      notExpandable: notExpandable.intersection(other.notExpandable))
  }
}
