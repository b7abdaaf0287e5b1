package import LarderOData

/// The changes that the model allows for the entities of a set, a singleton or a containment navigation property
/// (`sap:creatable` and similar attributes; the Capabilities and Core vocabularies). For each restriction it names the
/// annotation.
package struct ChangeRules: Sendable {
  /// The names of annotations by the properties that they restrict.
  package typealias Reasons = ChangeRestrictions.Reasons

  /// The restrictions of the set's entities, those of SAP's attributes included.
  package private(set) var restrictions = ChangeRestrictions()
  /// The restrictions of the entities behind a navigation property, by its path.
  package private(set) var behind: [String: ChangeRestrictions] = [:]
  /// Properties that the service computes, by name. Their values in a change are ignored (OData Protocol 4.01 §11.4.2).
  private var computed: Reasons = [:]
  /// What SAP's attributes say about properties, wherever the entities are.
  private var attributes = ChangeRestrictions()
  /// Properties that the Core vocabulary allows to be set only when an entity is created.
  private var immutable: Reasons = [:]

  /// Properties that an update cannot change, and those that cannot be set when an entity is created.
  package private(set) var fixed: Reasons = [:]
  package private(set) var notGiven: Reasons = [:]

  /// The entities that contain those of a containment navigation property: its path, their types and their rules.
  package struct Container {
    let path: String
    let types: [EdmStructure]
    let rules: ChangeRules

    package init(path: String, types: [EdmStructure], rules: ChangeRules) {
      (self.path, self.types, self.rules) = (path, types, rules)
    }
  }

  /// - Parameters:
  ///   - source: the name of the set or singleton; nil for contained entities, and those of no set.
  ///   - types: the types of the entities.
  package init(source: String?, types: [EdmStructure], _ model: EdmModel, in container: Container? = nil) {
    if let source { readSource(source, types, model) }
    if let container {
      if let navigationRules = container.rules.behind[container.path] { restrictions.merge(navigationRules) }
      for declaring in container.types.flatMap(\.chain) {
        restrictions.merge(ChangeRestrictions(of: declaring.name + "/" + container.path, model))
      }
    }
    for type in types {
      for property in type.properties { read(property, of: type, model) }
      for navigation in type.navigationProperties { read(navigation, of: type, model) }
    }
    combine()
  }

  /// The rules of the entities behind a navigation property: what the property says counts before what their set says.
  package func overridden(by navigation: ChangeRestrictions?) -> ChangeRules {
    guard let navigation else { return self }
    var rules = self
    rules.restrictions = restrictions.overridden(by: navigation)
    rules.combine()
    return rules
  }

  /// Adds what the properties themselves say.
  private mutating func combine() {
    restrictions.addLists(of: attributes)
    for name in computed.keys { restrictions.required[name] = nil }
    fixed = restrictions.notUpdatable.merging(immutable) { first, _ in first }.merging(computed) { _, reason in reason }
    notGiven = restrictions.notInsertable.merging(computed) { _, reason in reason }
  }

  private mutating func readSource(_ name: String, _ types: [EdmStructure], _ model: EdmModel) {
    if let set = model.entitySet(name) {
      if set.sap("creatable") == "false" { restrictions.insertRestriction = "sap:creatable" }
      if set.sap("updatable") == "false" { restrictions.updateRestriction = "sap:updatable" }
      if set.sap("deletable") == "false" { restrictions.deleteRestriction = "sap:deletable" }
    }
    guard let target = model.target(ofSource: name) else { return }
    restrictions.merge(ChangeRestrictions(of: target, model))
    for navigation in types.flatMap(\.navigationProperties) {
      behind[navigation.name, default: ChangeRestrictions()].merge(
        ChangeRestrictions(of: target + "/" + navigation.name, model))
    }
    for (path, record) in model.navigationRestrictions(target, of: types) {
      behind[path, default: ChangeRestrictions()].merge(ChangeRestrictions(record, in: EdmModel.navigationPlace))
    }
  }

  private mutating func read(_ property: EdmProperty, of type: EdmStructure, _ model: EdmModel) {
    if property.sap("creatable") == "false" { attributes.notInsertable[property.name] = "sap:creatable" }
    if property.sap("updatable") == "false" { attributes.notUpdatable[property.name] = "sap:updatable" }
    for declaring in type.chain {
      let target = declaring.name + "/" + property.name
      if isSet("Org.OData.Core.V1.Computed", target, model) { computed[property.name] = "Core.Computed" }
      if isSet("Org.OData.Core.V1.Immutable", target, model) { immutable[property.name] = "Core.Immutable" }
      if !model.permissions(target: target).allowWriting { computed[property.name] = "Core.Permissions" }
    }
  }

  private mutating func read(_ navigation: EdmNavigationProperty, of type: EdmStructure, _ model: EdmModel) {
    for declaring in type.chain {
      let annotated = ChangeRestrictions(of: declaring.name + "/" + navigation.name, model)
      behind[navigation.name, default: ChangeRestrictions()].merge(annotated)
    }
    if model.createsOwnedEntities(navigation) || navigation.sap("creatable-path") != nil {
      behind[navigation.name, default: ChangeRestrictions()].allowInsert()
    }
    if navigation.sap("creatable") == "false" {
      attributes.notInsertableLinks[navigation.name] = "sap:creatable"
      behind[navigation.name, default: ChangeRestrictions()].insertRestriction = "sap:creatable"
    }
  }

  /// Whether a term is set whose default is true.
  private func isSet(_ term: String, _ target: String, _ model: EdmModel) -> Bool {
    guard let annotation = model.annotation(term, target: target) else { return false }
    return annotation.value?.bool != false
  }
}

extension ChangeRules {
  /// The properties of a body that are restricted, also in complex values, with the annotations.
  package static func all(
    in property: ODataProperty, among reasons: Reasons
  ) -> [(path: String, reason: String)] {
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
  package static func reason(of path: [String], among reasons: Reasons) -> String? {
    guard !reasons.isEmpty else { return nil }
    return path.indices.lazy.compactMap { reasons[path[...$0].joined(separator: "/")] }.first
  }
}

extension EdmModel {
  /// Where messages say that a restriction of `NavigationRestrictions` is.
  static let navigationPlace = "Capabilities.NavigationRestrictions"

  /// The name of a set or singleton as a target of annotations.
  func target(ofSource name: String) -> String? { defaultContainer.map { $0.qualifiedName + "/" + name } }

  /// The restrictions of navigation properties that the `NavigationRestrictions` of a set or singleton contain for
  /// entities of these types, with their paths. A cast at the beginning of a path is left out.
  func navigationRestrictions(
    _ target: String, of types: [EdmStructure]
  ) -> [(path: String, record: EdmAnnotationValue)] {
    let records = annotation(EdmModel.capabilities + "NavigationRestrictions", target: target)?.value
    return (records?["RestrictedProperties"]?.items ?? []).compactMap { record in
      guard let path = record["NavigationProperty"]?.text else { return nil }
      let cast = path.prefix { $0 != "/" }
      guard cast.contains(".") else { return (path, record) }
      let name = resolve(String(cast))
      guard types.contains(where: { $0.chain.contains { $0.name == name } }) else { return nil }
      return (String(path.dropFirst(cast.count + 1)), record)
    }
  }
}
