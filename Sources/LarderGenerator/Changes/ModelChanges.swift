package import LarderOData

/// A difference between the code that is generated from two versions of a model.
package struct ModelChange: Sendable, Hashable {
  /// The declaration in Swift, such as `Order.note`.
  package var declaration: String
  /// The declaration's type before the change; nil if it did not exist.
  package var before: String?
  /// The declaration's type after the change; nil if it no longer exists.
  package var after: String?
  /// Whether code that used the declaration may no longer compile.
  package var isBreaking: Bool

  /// The patterns of options that match nothing in a model.
  package static func unmatchedPatterns(in model: EdmModel, options: GeneratorOptions) -> [String] {
    ModelSelection.unmatchedPatterns(in: model, options: options).map(\.text)
  }

  /// Whether nothing is generated from a model. A pattern that matches nothing selects nothing.
  package static func isEmpty(_ model: EdmModel, options: GeneratorOptions) -> Bool {
    guard let matched = ModelSelection.matched(options, in: model) else { return true }
    do throws(GeneratorError) {
      _ = try ModelSelection(model, options: matched)
      return false
    } catch {
      return true
    }
  }

  /// Compares two models. The result is in the order of the declarations' names. Members of a declaration that is added
  /// or removed are not in it. A pattern that matches nothing in one of the models selects nothing there.
  package static func changes(
    from old: EdmModel, to new: EdmModel, options: GeneratorOptions
  ) throws(GeneratorError) -> [ModelChange] {
    let (old, new) = (try Declarations(of: old, options).all, try Declarations(of: new, options).all)
    return Set(old.keys).union(new.keys).sorted().compactMap { name in
      let (before, after) = (old[name], new[name])
      let owner = before?.owner ?? after?.owner
      let isOfOld = owner.map { old[$0] != nil } ?? true
      let isOfNew = owner.map { new[$0] != nil } ?? true
      guard isOfOld, isOfNew, let effect = Declaration.effect(from: before, to: after) else { return nil }
      return ModelChange(
        declaration: name, before: before?.text, after: after?.text, isBreaking: effect == .breaking)
    }
  }
}

/// A generated declaration, with what can change in it.
private struct Declaration {
  enum Kind: Equatable {
    /// A type, or a member of one.
    case symbol
    /// A property or another member.
    case property(type: String, isAssignable: Bool)
    /// A property of a creation or an update.
    case changeProperty(isRequired: Bool)
    /// The statement that something is not allowed.
    case restriction
    /// An initializer. A call that gives fewer arguments gives them in the same order.
    case initializer([Parameter])
    /// A type and its base type.
    case structure(isEntity: Bool, base: String?)
    /// The protocols that a type conforms to.
    case conformances(Set<String>)
  }

  struct Parameter: Equatable {
    var name: String
    var isRequired: Bool
  }

  enum Effect { case harmless, breaking }

  /// What is compared and shown: a type, or a kind of declaration such as `enumeration`.
  var text: String
  /// The name of the declaration that contains it.
  var owner: String?
  var kind = Kind.symbol

  /// The effect of a change on code that uses the declaration; nil if nothing has changed.
  static func effect(from old: Declaration?, to new: Declaration?) -> Effect? {
    guard old?.text != new?.text else { return nil }
    guard let old else {
      // A new property is required in calls of an initializer that exists.
      return new?.kind == .restriction || new?.kind == .changeProperty(isRequired: true) ? .breaking : .harmless
    }
    guard let new else { return old.kind == .restriction ? .harmless : .breaking }
    switch (old.kind, new.kind) {
    case (.initializer(let before), .initializer(let after)):
      // Added and removed properties are changes themselves.
      return breaksCalls(before, after) ? .breaking : nil
    case (.structure(let before, nil), .structure(let after, _?)): return before == after ? .harmless : .breaking
    case (.conformances(let before), .conformances(let after)):
      return before.isSubset(of: after) ? .harmless : .breaking
    case (.property(let before, isAssignable: false), .property(let after, isAssignable: true)):
      return before == after ? .harmless : .breaking
    default: return .breaking
    }
  }

  private static func breaksCalls(_ old: [Parameter], _ new: [Parameter]) -> Bool {
    let (oldNames, newNames) = (Set(old.map(\.name)), Set(new.map(\.name)))
    let isReordered = old.map(\.name).filter(newNames.contains) != new.map(\.name).filter(oldNames.contains)
    let wereRequired = Set(old.filter(\.isRequired).map(\.name))
    return isReordered || new.contains { $0.isRequired && !wereRequired.contains($0.name) }
  }
}

/// The generated declarations that applications use, by their names in Swift.
private struct Declarations {
  private(set) var all: [String: Declaration] = [:]

  init(of model: EdmModel, _ options: GeneratorOptions) throws(GeneratorError) {
    guard let matched = ModelSelection.matched(options, in: model) else { return }
    var planner: Planner
    do throws(GeneratorError) { planner = try Planner(model, options: matched) } catch .nothingSelected { return }
    let plan = planner.plan()
    plan.structures.forEach { add($0) }
    for type in plan.enumerations {
      add(type.name, type.isFlags ? "flags" : "enumeration")
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

  private mutating func add(
    _ name: String, _ text: String, in owner: String? = nil, _ kind: Declaration.Kind = .symbol
  ) {
    all[name] = Declaration(text: text, owner: owner, kind: kind)
  }

  private mutating func add(_ type: StructurePlan) {
    let base = type.base.map { " derived from \($0)" } ?? ""
    add(
      type.name, (type.isEntity ? "entity type" : "complex type") + base,
      .structure(isEntity: type.isEntity, base: type.base))
    let conformances = type.conformances
    add(
      "\(type.name) conformances", conformances.joined(separator: ", "), in: type.name,
      .conformances(Set(conformances + StructurePlan.inherited(by: conformances))))
    let stored = type.members.filter { $0.kind != .stream && !$0.isComputed }
    addInitializer(
      of: type.name, stored.map { ($0.name, !$0.isOptional && !$0.isCollection) }, isOpen: type.isOpen)
    for member in type.members {
      let name = "\(type.name).\(member.name)"
      addProperty(name, member.declaredType, of: type, isAssignable: type.isVariable(member))
      let places = [
        ("filters", member.isFilterable), ("orders", member.isSortable), ("expansions", member.isExpandable),
      ]
      for (place, isAllowed) in places where !isAllowed { addRestriction("\(name) in \(place)", in: name) }
    }
    if type.isOpen {
      addProperty(
        "\(type.name).odataDynamic", "ODataDynamicProperties", of: type, isAssignable: type.isDynamicVariable)
    }
    if !type.isDeletable { addRestriction("\(type.name) in deletions", in: type.name) }
    if type.isMedia, !type.isMediaCreatable { addRestriction("\(type.name) in creations from bytes", in: type.name) }
    if !type.key.isEmpty {
      add("\(type.name).Key", type.key.map { "\($0.name): \($0.type)" }.joined(separator: ", "), in: type.name)
    }
    for (name, members) in [("Create", type.create), ("Update", type.update)] {
      guard let members else { continue }
      let owner = "\(type.name).\(name)"
      add(owner, "structure", in: type.name)
      // A member that becomes required is listed as a change of that member.
      addInitializer(of: owner, members.map { ($0.member.name, false) }, isOpen: type.isOpen)
      for change in members {
        add(
          "\(owner).\(change.member.name)", (change.isRequired ? "required " : "") + change.valueType, in: owner,
          .changeProperty(isRequired: change.isRequired))
      }
    }
  }

  private mutating func addProperty(_ name: String, _ type: String, of owner: StructurePlan, isAssignable: Bool) {
    add(
      name, type + (isAssignable ? " (assignable)" : ""), in: owner.name,
      .property(type: type, isAssignable: isAssignable))
  }

  private mutating func addRestriction(_ name: String, in owner: String) {
    add(name, "not allowed", in: owner, .restriction)
  }

  private mutating func addInitializer(
    of owner: String, _ parameters: [(name: String, isRequired: Bool)], isOpen: Bool
  ) {
    var parameters = parameters.map { Declaration.Parameter(name: $0.name, isRequired: $0.isRequired) }
    if isOpen { parameters.append(.init(name: "odataDynamic", isRequired: false)) }
    let text = parameters.map { ($0.isRequired ? "required " : "") + $0.name }.joined(separator: ", ")
    add("\(owner).init", text, in: owner, .initializer(parameters))
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
