package import LarderOData

/// A difference between the code that is generated from two versions of a model.
package struct ModelChange: Sendable, Hashable {
  /// The declaration in Swift, such as `Order.note`.
  package var declaration: String
  /// What it was and is: a type, or nil where there is no such declaration.
  package var (before, after): (String?, String?)
  /// Whether code that used the declaration may no longer compile.
  package var isBreaking: Bool

  /// Compares two models. The result is in the order of the declarations' names.
  package static func changes(
    from old: EdmModel, to new: EdmModel, options: GeneratorOptions
  ) throws(GeneratorError) -> [ModelChange] {
    let (old, new) = (try declarations(of: old, options), try declarations(of: new, options))
    return Set(old.keys).union(new.keys).sorted().compactMap { name in
      let (before, after) = (old[name], new[name])
      guard before != after else { return nil }
      // A new property is required in calls of an initializer that exists.
      let isRequired = before == nil && after?.hasPrefix("required ") == true
      let owner = name.split(separator: ".").dropLast().joined(separator: ".")
      return ModelChange(
        declaration: name, before: before, after: after,
        isBreaking: before != nil || isRequired && old[owner] != nil)
    }
  }

  /// The generated declarations that applications use, with their types.
  private static func declarations(
    of model: EdmModel, _ options: GeneratorOptions
  ) throws(GeneratorError) -> [String: String] {
    var planner = try Planner(model, options: options)
    let plan = planner.plan()
    var all: [String: String] = [:]
    for type in plan.structures {
      all[type.name] = type.isEntity ? "entity type" : "complex type"
      for member in type.members {
        let assignable = type.trackedNumber(of: member) == nil ? "" : " (assignable)"
        all["\(type.name).\(member.name)"] = member.declaredType + assignable
        if !member.isFilterable { all["\(type.name).\(member.name) in filters"] = "not allowed" }
        if !member.isSortable { all["\(type.name).\(member.name) in orders"] = "not allowed" }
      }
      if !type.key.isEmpty {
        all["\(type.name).Key"] = type.key.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
      }
      for (name, members) in [("Create", type.create), ("Update", type.update)] {
        guard let members else { continue }
        all["\(type.name).\(name)"] = "structure"
        for change in members {
          all["\(type.name).\(name).\(change.member.name)"] =
            (change.isRequired ? "required " : "") + change.member.valueType
        }
      }
    }
    for type in plan.enumerations {
      all[type.name] = "enumeration"
      for member in type.members { all["\(type.name).\(member.name)"] = "member" }
    }
    for type in plan.definitions { all[type.name] = type.type }
    for service in plan.services {
      all[service.name] = "service"
      for set in service.sets {
        all["\(service.name).\(set.name)"] = (set.isSingleton ? "singleton of " : "entity set of ") + set.type
      }
    }
    return all
  }
}

extension ModelChange: CustomStringConvertible {
  /// One line: what has changed, and whether it is breaking.
  package var description: String {
    let what =
      switch (before, after) {
      case (nil, let after?): "added \(declaration): \(after)"
      case (let before?, nil): "removed \(declaration): \(before)"
      case (let before?, let after?): "changed \(declaration): \(before), now \(after)"
      case (nil, nil): declaration
      }
    return isBreaking ? what + " (breaking)" : what
  }
}
