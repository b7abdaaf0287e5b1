/// The types of a model for a reader: for each type and name number the declaration of the member, looked up once.
struct PayloadTypes {
  /// The declaration of a member.
  struct Member: Equatable {
    enum Kind: UInt8 { case unresolved, undeclared, scalar, geo, structured, navigation, stream, untyped }
    var kind: Kind
    var scalar = PayloadScalarType.untyped
    /// The number of the structured type; -1 for none.
    var plan: Int32 = -1
    var isCollection = false

    static let unresolved = Member(kind: .unresolved)
    static let undeclared = Member(kind: .undeclared)
  }

  private struct Plan {
    let structure: EdmStructure
    /// The members by name number.
    var members: [Member] = []
  }

  let model: EdmModel?
  private var plans: [Plan] = []
  private var numbers: [String: Int32] = [:]
  private var lastText: [UInt8] = []
  private var lastMember = Member.undeclared

  init(model: EdmModel?) { self.model = model }

  func name(_ plan: Int32) -> String? { plan < 0 ? nil : plans[Int(plan)].structure.name }
  func isEntity(_ plan: Int32) -> Bool { plan >= 0 && plans[Int(plan)].structure.isEntityType }
  func isComplex(_ plan: Int32) -> Bool { plan >= 0 && !plans[Int(plan)].structure.isEntityType }

  /// The number of a structured type; -1 if the model has no type with the name.
  mutating func plan(_ name: String) -> Int32 {
    if let number = numbers[name] { return number }
    guard let structure = model?.structure(name) else {
      // Unknown names of a payload are not cached, because their number is unlimited.
      return -1
    }
    let number: Int32
    if let cachedNumber = numbers[structure.name] {
      number = cachedNumber
    } else {
      number = Int32(truncatingIfNeeded: plans.count)
      plans.append(Plan(structure: structure))
      numbers[structure.name] = number
    }
    numbers[name] = number
    return number
  }

  /// The declaration of a member in a type.
  @inline(__always)
  mutating func member(_ plan: Int32, _ name: Int32, _ names: PayloadNames) -> Member {
    guard plan >= 0 else { return .undeclared }
    let index = Int(name)
    if index < plans[Int(plan)].members.count {
      let member = plans[Int(plan)].members[index]
      if member.kind != .unresolved { return member }
    }
    return resolve(plan, name, names[name].name.text)
  }

  private mutating func resolve(_ plan: Int32, _ name: Int32, _ text: String) -> Member {
    let structure = plans[Int(plan)].structure
    var member = Member.undeclared
    if let property = structure.property(text) {
      member = self.member(of: property.type)
    } else if let navigation = structure.navigationProperty(text) {
      member = self.member(of: navigation.type)
      member.kind = .navigation
      member.isCollection = navigation.isCollection
    }
    let missing = Int(name) + 1 - plans[Int(plan)].members.count
    if missing > 0 { plans[Int(plan)].members.append(contentsOf: repeatElement(.unresolved, count: missing)) }
    plans[Int(plan)].members[Int(name)] = member
    return member
  }

  /// The declaration for a value of a type reference.
  mutating func member(of reference: EdmTypeReference) -> Member {
    var member = Member.undeclared
    member.isCollection = reference.isCollection
    switch reference.item {
    case .primitive(.stream): member.kind = .stream
    case .primitive(let type) where type.rawValue.hasPrefix("Geo"):
      member.kind = .geo
      member.scalar = .primitive(type)
    case .primitive(let type):
      member.kind = .scalar
      member.scalar = .primitive(type)
    case .abstract, .collection: member.kind = .untyped
    case .named(let name):
      if let definition = model?.typeDefinition(name) {
        let isCollection = member.isCollection
        member = self.member(of: .primitive(definition.underlyingType))
        member.isCollection = isCollection
      } else if model?.enumType(name) != nil {
        member.kind = .scalar
        member.scalar = .enumeration
      } else {
        member.plan = plan(name)
        member.kind = member.plan < 0 ? .undeclared : isEntity(member.plan) ? .navigation : .structured
      }
    }
    return member
  }

  /// The declaration for a type name of the payload: `#NS.Type`, `NS.Type`, `#Int64`, `Collection(Edm.String)`, or a URL before
  /// the `#`. Feeds repeat it, so the last result is cached.
  mutating func member(spelled bytes: UnsafeBufferPointer<UInt8>, isEscaped: Bool) -> Member {
    if !isEscaped, lastText.elementsEqual(bytes) { return lastMember }
    let member = self.member(of: EdmTypeReference(PayloadTypes.name(JSONText.decode(bytes, isEscaped: isEscaped))))
    if !isEscaped { (lastText, lastMember) = (Array(bytes), member) }
    return member
  }

  /// A type name without URL and `#`.
  static func name(_ text: String) -> String {
    guard let hash = text.lastIndex(of: "#") else { return text }
    return String(text[text.index(after: hash)...])
  }

  /// The declaration for the rows or the value that a context URL names; undeclared if the model does not have it.
  mutating func member(of context: ContextURL) -> Member {
    if let type = context.collectionOf {
      var member = self.member(of: EdmTypeReference(type))
      member.isCollection = true
      return member
    }
    guard let first = context.path.first else { return .undeclared }
    var member = Member.undeclared
    // A name without a dot is a set or singleton, even if it is also the name of a primitive type.
    guard let model else {
      return first.name.contains(".") ? self.member(of: EdmTypeReference(first.name)) : .undeclared
    }
    if let type = model.entityType(of: first.name) {
      member = Member(
        kind: .navigation, plan: plan(type.qualifiedName), isCollection: model.entitySet(first.name) != nil)
      if first.brackets != nil, context.path.count > 1 { member.isCollection = false }
    } else if let dot = first.name.lastIndex(of: ".") {
      member = self.member(of: EdmTypeReference(first.name))
      // V3 may qualify a set by its container.
      let set = String(first.name[first.name.index(after: dot)...])
      if member.kind == .undeclared, let type = model.entityType(of: set) {
        member = Member(kind: .navigation, plan: plan(type.qualifiedName), isCollection: model.entitySet(set) != nil)
      }
    }
    for step in context.path.dropFirst() {
      if step.name.contains(".") {
        let cast = plan(step.name)
        if cast >= 0 { member.plan = cast }
      } else if member.plan >= 0 {
        let structure = plans[Int(member.plan)].structure
        if let property = structure.property(step.name) {
          member = self.member(of: property.type)
        } else if let navigation = structure.navigationProperty(step.name) {
          member = self.member(of: navigation.type)
          member.kind = .navigation
        } else {
          return .undeclared
        }
      }
    }
    return member
  }
}
