import LarderOData

/// The changes that the model allows for the entities of a table (`sap:creatable` and similar attributes; the
/// Capabilities and Core vocabularies). For each restriction it names the annotation.
struct ChangeRules: Sendable {
  /// The names of annotations by the properties that they restrict.
  typealias Reasons = [String: String]

  private(set) var insertRestriction: String?
  private(set) var updateRestriction: String?
  private(set) var deleteRestriction: String?
  /// The annotations that reject one of PUT and PATCH: updates that replace the entity, and other updates.
  private(set) var replaceRestriction: String?
  private(set) var patchRestriction: String?
  /// Properties that the service computes, which are never sent, by name. A part of a complex property has its path.
  private(set) var computed: Reasons = [:]
  /// Properties that can be set only when an entity is created.
  private(set) var immutable: Reasons = [:]
  /// Properties that cannot be set when an entity is created.
  private(set) var notInsertable: Reasons = [:]
  /// Properties that must be set when an entity is created.
  private(set) var required: Reasons = [:]
  /// Navigation properties that cannot be set in the body of a creation, with new or existing entities.
  private(set) var notInsertableLinks: Reasons = [:]
  /// Navigation properties that cannot be bound to other entities.
  private(set) var notUpdatableLinks: Reasons = [:]
  /// Navigation properties whose links cannot be removed.
  private(set) var notDeletableLinks: Reasons = [:]
  /// The restrictions of the entities behind a navigation property, by its path.
  private(set) var behind: [String: Restrictions] = [:]

  /// Properties that an update cannot change, and those that cannot be set when an entity is created.
  private(set) var fixed: Reasons = [:]
  private(set) var notGiven: Reasons = [:]

  /// - Parameter containing: the table whose entities contain those of this one, and its rules.
  init(_ table: EntityTable, _ model: EdmModel, containing: (parent: EntityTable, rules: ChangeRules)? = nil) {
    readSource(table, model)
    if case .containment(_, let path) = table.place, let containing {
      let name = path.joined(separator: "/")
      if let navigationRules = containing.rules.behind[name] { take(navigationRules) }
      for type in containing.parent.types {
        for declaring in type.chain { take(Restrictions(of: declaring.name + "/" + name, model)) }
      }
    }
    for type in table.types {
      for property in type.properties { read(property, of: type, model) }
      for navigation in type.navigationProperties where navigation.sap("creatable") == "false" {
        notInsertableLinks[navigation.name] = "sap:creatable"
        behind[navigation.name, default: Restrictions()].insertRestriction = "sap:creatable"
      }
    }
    fixed = immutable.merging(computed) { _, reason in reason }
    notGiven = notInsertable.merging(computed) { _, reason in reason }
  }

  private mutating func readSource(_ table: EntityTable, _ model: EdmModel) {
    let name: String
    switch table.place {
    case .entitySet(let set), .singleton(let set): name = set
    case .containment, .type: return
    }
    if let set = model.entitySet(name) {
      if set.sap("creatable") == "false" { insertRestriction = "sap:creatable" }
      if set.sap("updatable") == "false" { updateRestriction = "sap:updatable" }
      if set.sap("deletable") == "false" { deleteRestriction = "sap:deletable" }
    }
    guard let container = model.defaultContainer?.qualifiedName else { return }
    let target = container + "/" + name
    take(Restrictions(of: target, model))
    let term = "NavigationRestrictions"
    let navigations = model.annotation(Restrictions.vocabulary + term, target: target)?.expression?.members
    for item in navigations?.records("RestrictedProperties") ?? [] {
      guard let path = item.path("NavigationProperty") else { continue }
      behind[path] = Restrictions(item, in: "Capabilities.\(term)")
    }
  }

  private mutating func take(_ restrictions: Restrictions) {
    insertRestriction = insertRestriction ?? restrictions.insertRestriction
    updateRestriction = updateRestriction ?? restrictions.updateRestriction
    deleteRestriction = deleteRestriction ?? restrictions.deleteRestriction
    replaceRestriction = replaceRestriction ?? restrictions.replaceRestriction
    patchRestriction = patchRestriction ?? restrictions.patchRestriction
    notInsertable.merge(restrictions.notInsertable) { first, _ in first }
    immutable.merge(restrictions.notUpdatable) { first, _ in first }
    required.merge(restrictions.required) { first, _ in first }
    notInsertableLinks.merge(restrictions.notInsertableLinks) { first, _ in first }
    notUpdatableLinks.merge(restrictions.notUpdatableLinks) { first, _ in first }
    notDeletableLinks.merge(restrictions.notDeletableLinks) { first, _ in first }
  }

  private mutating func read(_ property: EdmProperty, of type: EdmStructure, _ model: EdmModel) {
    if property.sap("creatable") == "false" { notInsertable[property.name] = "sap:creatable" }
    if property.sap("updatable") == "false" { immutable[property.name] = "sap:updatable" }
    for declaring in type.chain {
      let target = declaring.name + "/" + property.name
      if isSet("Org.OData.Core.V1.Computed", target, model) { computed[property.name] = "Core.Computed" }
      if isSet("Org.OData.Core.V1.Immutable", target, model) { immutable[property.name] = "Core.Immutable" }
      if !model.permissions(target: target).allowWriting { computed[property.name] = "Core.Permissions" }
    }
  }

  /// Whether a term is set whose default is true.
  private func isSet(_ term: String, _ target: String, _ model: EdmModel) -> Bool {
    guard let annotation = model.annotation(term, target: target) else { return false }
    if case .constant(_, "false")? = annotation.expression { return false }
    return true
  }
}

extension ChangeRules {
  /// The properties of a body that are restricted, also in complex values, with the annotations.
  static func all(in property: ODataProperty, among reasons: Reasons) -> [(path: String, reason: String)] {
    reasons.isEmpty ? [] : all(in: property, at: property.name, among: reasons, depth: 0)
  }

  private static func all(
    in property: ODataProperty, at path: String, among reasons: Reasons, depth: Int
  ) -> [(path: String, reason: String)] {
    if let reason = reasons[path] { return [(path, reason)] }
    guard depth < 50, case .complex(let complex) = property.value else { return [] }
    return complex.properties.flatMap { all(in: $0, at: "\(path)/\($0.name)", among: reasons, depth: depth + 1) }
  }

  /// The annotation that restricts a path of properties: its own, or that of a property that contains it.
  static func reason(of path: [String], among reasons: Reasons) -> String? {
    guard !reasons.isEmpty else { return nil }
    return path.indices.lazy.compactMap { reasons[path[...$0].joined(separator: "/")] }.first
  }
}

extension OfflineODataError {
  /// An error for a change that the model does not allow, with the annotation.
  static func restricted(_ name: OfflineODataErrorName, _ subject: String, by annotation: String) -> OfflineODataError {
    OfflineODataError(name, "\(subject) (\(annotation))")
  }
}
