package import LarderOData

/// A difference between the code that is generated from two versions of a model.
package struct ModelChange: Sendable, Hashable {
  /// The declaration in Swift, such as `Order.note`.
  package var declaration: String
  /// What it was and is: a type, or nil where there is no such declaration.
  package var (before, after): (String?, String?)
  /// Whether code that used the declaration may no longer compile.
  package var isBreaking: Bool

  /// The patterns of options that match nothing in a model.
  package static func unmatchedPatterns(in model: EdmModel, options: GeneratorOptions) -> [String] {
    ModelSelection.unmatchedPatterns(in: model, options: options).map(\.text)
  }

  /// Compares two models. The result is in the order of the declarations' names. Members of a declaration that is added
  /// or removed are not in it. A pattern that matches nothing in one of the models selects nothing there.
  package static func changes(
    from old: EdmModel, to new: EdmModel, options: GeneratorOptions
  ) throws(GeneratorError) -> [ModelChange] {
    let (old, new) = (try Declarations(of: old, options).all, try Declarations(of: new, options).all)
    return Set(old.keys).union(new.keys).sorted().compactMap { name in
      let (before, after) = (old[name], new[name])
      guard before?.text != after?.text else { return nil }
      let owner = before?.owner ?? after?.owner
      let isOfOld = owner.map { old[$0] != nil } ?? true
      let isOfNew = owner.map { new[$0] != nil } ?? true
      guard isOfOld && isOfNew else { return nil }
      let isBreaking: Bool
      if before?.isRestriction ?? after?.isRestriction == true {
        isBreaking = before == nil
      } else {
        // A new property is required in calls of an initializer that exists.
        isBreaking = before != nil || after?.text.hasPrefix("required ") == true
      }
      return ModelChange(declaration: name, before: before?.text, after: after?.text, isBreaking: isBreaking)
    }
  }
}

/// The generated declarations that applications use, by their names in Swift.
private struct Declarations {
  struct Declaration {
    /// The type, or what else can change.
    var text: String
    /// The name of the declaration that contains it.
    var owner: String?
    var isRestriction = false
  }

  private(set) var all: [String: Declaration] = [:]

  init(of model: EdmModel, _ options: GeneratorOptions) throws(GeneratorError) {
    let unmatched = Set(ModelSelection.unmatchedPatterns(in: model, options: options))
    var matched = options
    matched.only.removeAll(where: unmatched.contains)
    matched.except.removeAll(where: unmatched.contains)
    guard options.only.isEmpty || !matched.only.isEmpty else { return }
    var planner: Planner
    do throws(GeneratorError) { planner = try Planner(model, options: matched) } catch .nothingSelected { return }
    let plan = planner.plan()
    plan.structures.forEach { add($0) }
    for type in plan.enumerations {
      add(type.name, "enumeration")
      for member in type.members { add("\(type.name).\(member.name)", "member", in: type.name) }
    }
    for type in plan.definitions { add(type.name, type.type) }
    for service in plan.services {
      add(service.name, "service")
      for set in service.sets {
        let kind = set.isSingleton ? "singleton of " : "entity set of "
        add("\(service.name).\(set.name)", kind + set.type, in: service.name)
      }
      for operation in service.operations { add(operation, in: service.name) }
    }
    for operation in plan.operations {
      switch operation.binding {
      case .entity(let type), .entities(let type): add(operation, in: type)
      case .service: break
      }
    }
  }

  private mutating func add(_ name: String, _ text: String, in owner: String? = nil) {
    all[name] = Declaration(text: text, owner: owner)
  }

  private mutating func add(_ type: StructurePlan) {
    add(type.name, type.isEntity ? "entity type" : "complex type")
    for member in type.members {
      let name = "\(type.name).\(member.name)"
      let assignable = type.trackedNumber(of: member) == nil ? "" : " (assignable)"
      add(name, member.declaredType + assignable, in: type.name)
      let places = [
        ("filters", member.isFilterable), ("orders", member.isSortable), ("expansions", member.isExpandable),
      ]
      for (place, isAllowed) in places where !isAllowed {
        all["\(name) in \(place)"] = Declaration(text: "not allowed", owner: name, isRestriction: true)
      }
    }
    if type.isOpen { add("\(type.name).odataDynamic", "ODataDynamicProperties", in: type.name) }
    if !type.isDeletable {
      all["\(type.name) in deletions"] = Declaration(text: "not allowed", owner: type.name, isRestriction: true)
    }
    if !type.key.isEmpty {
      add("\(type.name).Key", type.key.map { "\($0.name): \($0.type)" }.joined(separator: ", "), in: type.name)
    }
    for (name, members) in [("Create", type.create), ("Update", type.update)] {
      guard let members else { continue }
      let owner = "\(type.name).\(name)"
      add(owner, "structure", in: type.name)
      for change in members {
        add(
          "\(owner).\(change.member.name)", (change.isRequired ? "required " : "") + change.valueType, in: owner)
      }
    }
  }

  /// Adds a method: its name has the labels of its parameters, and overloads with the same labels are one declaration.
  private mutating func add(_ operation: OperationPlan, in owner: String) {
    var receiver = owner
    if case .entities = operation.binding { receiver = "[\(owner)]" }
    let name = "\(receiver).\(operation.name)(\(operation.parameters.map { $0.name + ":" }.joined()))"
    let parameters = operation.parameters.map { $0.type + ($0.isOptional ? "?" : "") }.joined(separator: ", ")
    let result = operation.result.map { $0 + (operation.isResultOptional ? "?" : "") } ?? "Void"
    let text = "(\(parameters)) -> \(result)"
    add(name, all[name].map { $0.text + " and " + text } ?? text, in: owner)
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
