internal import LarderOData

// Entity and complex types.
extension Planner {
  /// Plans a type with all inherited members.
  mutating func structure(_ type: some EdmStructuredType) -> StructurePlan? {
    guard let name = names[type.qualifiedName], let structure = model.structure(type.qualifiedName) else { return nil }
    let base = structure.chain.dropLast().last { selection.types.contains($0.name) }
    var plan = StructurePlan(
      name: name, serviceName: type.qualifiedName, isEntity: structure.isEntityType,
      documentation: annotations.documentation(of: type, target: type.qualifiedName),
      deprecation: annotations.deprecation(of: type.qualifiedName),
      base: base.flatMap { names[$0.name] })
    checkBase(type, structure)
    plan.isOpen = structure.isOpen
    plan.derived = derived(of: type.qualifiedName)
    let members = members(of: structure)
    plan.members = members.map(\.plan)
    plan.selection = selection(of: plan)
    guard structure.isEntityType else { return plan }
    plan.key = key(of: structure, members: plan.members)
    let restrictions = capabilities.restrictions(of: structure)
    plan.isDeletable = restrictions.isDeletable
    plan.isMedia = structure.hasStream
    plan.isMediaCreatable = structure.hasStream && restrictions.isInsertable && !type.isAbstract
    guard !type.isAbstract else { return plan }
    let keyNames = Set(plan.key.map(\.serviceName))
    let properties = members.compactMap { member in
      member.property.map { (member.plan, $0, "\(member.owner)/\($0.name)") }
    }
    plan.create = create(
      properties, restrictions, keyNames: keyNames, foreignKeys: dependentProperties(of: structure))
    plan.update = update(properties, restrictions, keyNames: keyNames)
    // A service takes the content of a creation as the bytes (OData Protocol 4.01 §11.4.7.1).
    if plan.isMedia { plan.create = nil }
    if !plan.isOpen {
      if plan.create?.isEmpty == true { plan.create = nil }
      if plan.update?.isEmpty == true { plan.update = nil }
    }
    return plan
  }

  /// The names for `$select` that read all declared properties, or `*`: values of derived types, and of open types,
  /// have more than are declared.
  private func selection(of plan: StructurePlan) -> [String] {
    let members = plan.members.filter { ($0.kind == .primitive || $0.kind == .complex) && !$0.isWriteOnly }
    guard plan.isEntity, !members.isEmpty else { return [] }
    return plan.isOpen || !plan.derived.isEmpty ? ["*"] : members.map(\.serviceName)
  }

  /// Reports a base type whose members the type does not have, or that is of another kind.
  private mutating func checkBase(_ type: some EdmStructuredType, _ structure: EdmStructure) {
    guard let base = type.baseType else { return }
    let isFollowed = structure.base?.name == model.resolve(base)
    if !isFollowed || structure.base?.isEntityType != structure.isEntityType { omit(.baseType, structure.name) }
  }

  /// A planned member, with the type that declares it and, for structural properties, its declaration.
  private typealias Member = (plan: MemberPlan, owner: String, property: EdmProperty?)

  private mutating func members(of structure: EdmStructure) -> [Member] {
    let restrictions = capabilities.restrictions(of: structure)
    let keyNames = Set(keyReferences(of: structure).map(\.name))
    var members: [Member] = []
    for level in levels(of: structure) {
      for (property, name) in level.properties {
        guard
          var plan = member(property, name: name, of: level.type, keyNames: keyNames, restrictions: restrictions)
        else { continue }
        if !structure.isEntityType, annotations.isComputed("\(level.type)/\(property.name)") {
          plan.isComputed = true
          if !plan.isCollection { plan.isOptional = true }
        }
        if !plan.isOptional, !plan.isCollection, !keyNames.contains(property.name),
          isAbsentBeforeUpload(property, of: level.type)
        {
          (plan.isOptional, plan.isAbsentBeforeUpload) = (true, true)
        }
        members.append((plan, level.type, property))
      }
      for (property, name) in level.navigation {
        guard let plan = member(property, name, of: level.type, restrictions) else { continue }
        members.append((plan, level.type, nil))
      }
      for name in level.repeatedNames { omit(.repeatedName, "\(level.type)/\(name)") }
    }
    return members
  }

  /// The properties and navigation properties of a type with their Swift names, for each level of its chain.
  func levels(of structure: EdmStructure) -> [MemberLevel] {
    let keyNames = Set(keyReferences(of: structure).map(\.name))
    // `id` is the key's name in every entity: only the key's one property can have it.
    let hasOwnID = keyNames.count == 1
    var table = NameTable(taken: names.all)
    var serviceNames: Set<String> = []
    return structure.chain.map { type in
      var repeatedNames: [String] = []
      func isFirst(_ name: String) -> Bool {
        let isFirst = serviceNames.insert(name).inserted
        if !isFirst { repeatedNames.append(name) }
        return isFirst
      }
      let properties = type.ownProperties.filter { isFirst($0.name) }
      let navigation = type.ownNavigationProperties.filter { isFirst($0.name) }
      let candidates =
        properties.map { property -> (name: String, candidates: [String]) in
          let candidates = NameTable.property(property.name)
          let isTaken =
            structure.isEntityType && candidates == ["id"] && !(hasOwnID && keyNames.contains(property.name))
          return (property.name, isTaken ? ["idProperty"] : candidates)
        }
        + navigation.map { property in
          (property.name, NameTable.navigation(property.name).filter { $0 != "id" })
        }
      let names = table.members(candidates)
      return MemberLevel(
        type: type.name, properties: Array(zip(properties, names)),
        navigation: Array(zip(navigation, names.dropFirst(properties.count))),
        repeatedNames: repeatedNames)
    }
  }

  private mutating func member(
    _ property: EdmProperty, name: String, of owner: String, keyNames: Set<String>, restrictions: SetRestrictions
  ) -> MemberPlan? {
    let target = "\(owner)/\(property.name)"
    guard isReadable(property.name, target) else { return nil }
    let isKey = keyNames.contains(property.name)
    let permissions = isKey ? EdmPermissions() : model.permissions(target: target)
    guard permissions.allowReading || permissions.allowWriting else { return nil }
    guard let (type, kind) = value(property.type, target), kind != .entity else { return nil }
    let isCollection = property.type.isCollection
    // A service does not send what is only written.
    let isOptional =
      kind == .stream || !permissions.allowReading || (!isCollection && property.isNullable && !isKey)
    return MemberPlan(
      name: name, serviceName: property.name, kind: kind, type: type, isCollection: isCollection,
      hasNullItems: isCollection && property.nullable == true && kind == .primitive, isOptional: isOptional,
      isWriteOnly: !permissions.allowReading,
      isFilterable: permissions.allowReading
        && isAllowed(
          "filterable", property: property, name: property.name, isGeneral: restrictions.isFilterable,
          restricted: restrictions.unfilterable),
      isSortable: permissions.allowReading
        && isAllowed(
          "sortable", property: property, name: property.name, isGeneral: restrictions.isSortable,
          restricted: restrictions.unsortable),
      documentation: annotations.documentation(of: property, target: target),
      deprecation: annotations.deprecation(of: target))
  }

  /// Whether a new entity of a type, or of one that derives from it, can be without a value of a property that `type`
  /// declares. The result is the same for all of them, because a value of a derived type is also one of its base types.
  private func isAbsentBeforeUpload(_ property: EdmProperty, of type: String) -> Bool {
    guard property.defaultValue == nil else { return false }
    return (descendants[type] ?? []).compactMap { model.structure($0) }.contains { structure in
      let restrictions = capabilities.restrictions(of: structure)
      return structure.isEntityType && restrictions.isInsertable
        && (structure.hasStream || isSetByService(property, "\(type)/\(property.name)", restrictions))
    }
  }

  /// Whether the service sets a property of a new entity, or may do so: a creation without it is complete.
  private func isSetByService(_ property: EdmProperty, _ target: String, _ restrictions: SetRestrictions) -> Bool {
    annotations.isComputed(target) || model.isTagged("Org.OData.Core.V1.ComputedDefaultValue", target: target)
      || property.sap("creatable") == "false" || restrictions.notInsertable.contains(property.name)
  }

  /// Whether the entity sets and the SAP attributes of a property allow a use of it.
  private func isAllowed(
    _ use: String, property: some EdmAnnotatable, name: String, isGeneral: Bool, restricted: Set<String>
  ) -> Bool { isGeneral && !restricted.contains(name) && property.sap(use) != "false" }

  /// A navigation property. Restrictions of filters and orders do not apply to it: they have the members of the related
  /// entity.
  private mutating func member(
    _ property: EdmNavigationProperty, _ name: String, of owner: String, _ restrictions: SetRestrictions
  ) -> MemberPlan? {
    let target = "\(owner)/\(property.name)"
    guard isReadable(property.name, target) else { return nil }
    let permissions = model.permissions(target: target)
    guard permissions.allowReading || permissions.allowWriting else { return nil }
    if let relationship = property.relationship, property.type.name == nil,
      model.association(relationship.association)?.end(relationship.toRole) == nil
    {
      omit(.unknownAssociation, target)
      return nil
    }
    guard let (type, kind) = value(property.type, target), kind == .entity else { return nil }
    return MemberPlan(
      name: name, serviceName: property.name, kind: kind, type: type, isCollection: property.isCollection,
      isOptional: true, isIndirect: !property.isCollection,
      isExpandable: permissions.allowReading && restrictions.isExpandable
        && !restrictions.notExpandable.contains(property.name),
      documentation: annotations.documentation(of: property, target: target),
      deprecation: annotations.deprecation(of: target))
  }

  /// Whether JSON can have a property of a name: names with `@` are those of annotations (JSON Format 4.01 §4.6).
  private mutating func isReadable(_ name: String, _ target: String) -> Bool {
    let isAnnotation = name.contains("@")
    if isAnnotation { omit(.annotationName, target) }
    return !isAnnotation
  }

  private mutating func value(_ type: EdmTypeReference, _ target: String) -> (type: String, kind: MemberPlan.Kind)? {
    switch types.form(type) {
    case .value(let swiftType, let kind): return (swiftType, kind)
    case .omitted(let reason): omit(reason, target)
    case .excluded: break
    }
    return nil
  }

  /// The key of a type: that of the first type of its chain with one that has a Swift form. A type that derives from
  /// one with a key declares none (CSDL 4.01 §6.5): a base value and its derived value have one key.
  private func keyReferences(of structure: EdmStructure) -> [EdmPropertyRef] {
    structure.chain.map(\.key).first { key in
      !key.isEmpty
        && key.allSatisfy { reference in
          guard let type = structure.property(reference.name)?.type, !type.isCollection,
            case .value(_, .primitive) = types.form(type)
          else { return false }
          return true
        }
    } ?? structure.key
  }

  private mutating func key(of structure: EdmStructure, members: [MemberPlan]) -> [MemberPlan] {
    let declared = keyReferences(of: structure)
    let references = first(declared, of: structure.name, named: \.name)
    let key = references.compactMap { reference in
      members.first { $0.serviceName == reference.name && $0.kind == .primitive && !$0.isCollection }
    }
    let isComplete = key.count == references.count
    let isReplaced = structure.key != declared && structure.key != structure.base?.key
    if !isComplete || isReplaced { omit(.key, structure.name) }
    return isComplete ? key : []
  }

  private func derived(of name: String) -> [DerivedPlan] {
    (children[name] ?? []).compactMap { child in
      guard let name = names[child], let structure = model.structure(child) else { return nil }
      var memberNames: [String: String] = [:]
      for level in levels(of: structure) {
        for (property, name) in level.properties { memberNames[property.name] = name }
        for (property, name) in level.navigation { memberNames[property.name] = name }
      }
      return DerivedPlan(type: name, serviceNames: descendants[child] ?? [], memberNames: memberNames)
    }
  }
}

// What a creation and an update contain.
extension Planner {
  private typealias Property = (plan: MemberPlan, property: EdmProperty, target: String)

  /// Properties of a creation. The service may assign the key, so it is required only if the restrictions say so. Foreign
  /// keys never are: a binding of the related entity sets them.
  private func create(
    _ properties: [Property], _ restrictions: SetRestrictions, keyNames: Set<String>, foreignKeys: Set<String>
  ) -> [ChangeMember]? {
    guard restrictions.isInsertable else { return nil }
    return properties.compactMap { plan, property, target -> ChangeMember? in
      guard isWritable(plan, target), property.sap("creatable") != "false",
        !restrictions.notInsertable.contains(property.name)
      else { return nil }
      let isRequired =
        restrictions.required.contains(property.name)
        || !property.isNullable && !plan.isCollection && property.defaultValue == nil
          && !keyNames.contains(property.name) && !isSetByService(property, target, restrictions)
      return ChangeMember(
        member: plan, isRequired: isRequired && !foreignKeys.contains(property.name), isNullable: false)
    }
  }

  /// The names of properties that repeat those of related entities (CSDL 4.01 §8.5, [MC-CSDL] §2.1.11): a binding or a
  /// deep insert sets them. An association also names them if only the other end has a navigation property.
  private func dependentProperties(of structure: EdmStructure) -> Set<String> {
    let types = Set(structure.chain.map(\.name))
    var names = structure.navigationProperties.flatMap { $0.referentialConstraints.map(\.property) }
    for association in model.schemas.flatMap(\.associations) {
      guard let constraint = association.referentialConstraint, let end = association.end(constraint.dependentRole),
        types.contains(model.resolve(end.type))
      else { continue }
      names += constraint.dependentProperties
    }
    return Set(names)
  }

  /// Adds the related entities that a new entity can be bound to, or that are created with it (OData Protocol 4.01
  /// §11.4.2.1, §11.4.2.2). Contained entities exist only in their owner: they are only created.
  func addRelatedCreations(_ structures: inout [StructurePlan]) {
    let creatable = Set(structures.filter { $0.create != nil }.map(\.name))
    for place in structures.indices where structures[place].create != nil {
      guard let structure = model.structure(structures[place].serviceName) else { continue }
      let restrictions = capabilities.restrictions(of: structure)
      let allowsNew = capabilities.allowsDeepInsert && restrictions.allowsDeepInsert
      for member in structures[place].members where member.kind == .entity {
        guard
          let level = structure.chain.last(where: {
            $0.ownNavigationProperties.contains { $0.name == member.serviceName }
          }),
          let property = level.navigationProperty(member.serviceName),
          !restrictions.notInsertable.contains(member.serviceName), property.sap("creatable") != "false"
        else { continue }
        let isNew = allowsNew && capabilities.allowsCreation(through: property.name, of: level.name)
        guard !property.containsTarget || isNew && creatable.contains(member.type) else { continue }
        structures[place].create?.append(
          ChangeMember(member: member, isRequired: false, isNullable: false, isExisting: !isNew))
      }
    }
  }

  private func update(
    _ properties: [Property], _ restrictions: SetRestrictions, keyNames: Set<String>
  ) -> [ChangeMember]? {
    guard restrictions.isUpdatable else { return nil }
    return properties.compactMap { plan, property, target -> ChangeMember? in
      guard isWritable(plan, target), !annotations.isImmutable(target), property.sap("updatable") != "false",
        !restrictions.notUpdatable.contains(property.name), !keyNames.contains(property.name)
      else { return nil }
      return ChangeMember(member: plan, isRequired: false, isNullable: !plan.isCollection && property.isNullable)
    }
  }

  private func isWritable(_ plan: MemberPlan, _ target: String) -> Bool {
    plan.kind != .stream && !annotations.isComputed(target)
  }
}
