import OData

/// What the model allows to be done to the entities of a table (`sap:creatable` and its like; Capabilities, Core).
struct ChangeRules: Sendable {
  private(set) var isInsertable = true
  private(set) var isUpdatable = true
  private(set) var isDeletable = true
  /// Properties that the service works out: never sent.
  private(set) var computed: Set<String> = []
  /// Properties that are given when an entity is made, or never.
  private(set) var immutable: Set<String> = []
  /// Properties that are not given when an entity is made.
  private(set) var notInsertable: Set<String> = []

  init(_ table: EntityTable, _ model: EdmModel) {
    readSource(table, model)
    for type in table.types {
      for property in type.properties { read(property, of: type, model) }
    }
  }

  private mutating func readSource(_ table: EntityTable, _ model: EdmModel) {
    let name: String
    switch table.place {
    case .entitySet(let set), .singleton(let set): name = set
    case .containment, .type: return
    }
    if let set = model.entitySet(name) {
      isInsertable = set.sap("creatable") != "false"
      isUpdatable = set.sap("updatable") != "false"
      isDeletable = set.sap("deletable") != "false"
    }
    guard let container = model.defaultContainer?.qualifiedName else { return }
    let target = container + "/" + name
    let capabilities = "Org.OData.Capabilities.V1."
    if let insert = model.annotation(capabilities + "InsertRestrictions", target: target)?.value?.members {
      isInsertable = isInsertable && insert.flag("Insertable") != false
      notInsertable.formUnion(insert.paths("NonInsertableProperties"))
    }
    if let update = model.annotation(capabilities + "UpdateRestrictions", target: target)?.value?.members {
      isUpdatable = isUpdatable && update.flag("Updatable") != false
      immutable.formUnion(update.paths("NonUpdatableProperties"))
    }
    if let delete = model.annotation(capabilities + "DeleteRestrictions", target: target)?.value?.members {
      isDeletable = isDeletable && delete.flag("Deletable") != false
    }
  }

  private mutating func read(_ property: EdmProperty, of type: EdmStructure, _ model: EdmModel) {
    if property.sap("creatable") == "false" { notInsertable.insert(property.name) }
    if property.sap("updatable") == "false" { immutable.insert(property.name) }
    for declaring in type.chain {
      let target = declaring.name + "/" + property.name
      if isSet("Org.OData.Core.V1.Computed", target, model) { computed.insert(property.name) }
      if isSet("Org.OData.Core.V1.Immutable", target, model) { immutable.insert(property.name) }
      if case .constant(_, "Org.OData.Core.V1.Permission/Read")? =
        model.annotation("Org.OData.Core.V1.Permissions", target: target)?.value
      {
        computed.insert(property.name)
      }
    }
  }

  /// A term whose default is true.
  private func isSet(_ term: String, _ target: String, _ model: EdmModel) -> Bool {
    guard let annotation = model.annotation(term, target: target) else { return false }
    if case .constant(_, "false")? = annotation.value { return false }
    return true
  }
}

extension EdmExpression {
  /// The members of a record.
  fileprivate var members: [EdmPropertyValue]? {
    switch self {
    case .record(_, let members): members
    case .annotated(let inner, _): inner.members
    default: nil
    }
  }
}

extension [EdmPropertyValue] {
  fileprivate func flag(_ name: String) -> Bool? {
    guard case .constant(_, let text)? = first(where: { $0.property == name })?.value else { return nil }
    return text == "true"
  }

  fileprivate func paths(_ name: String) -> [String] {
    guard case .collection(let items)? = first(where: { $0.property == name })?.value else { return [] }
    return items.compactMap { item in
      switch item {
      case .path(_, let path): path
      case .constant(_, let path): path
      default: nil
      }
    }
  }
}
