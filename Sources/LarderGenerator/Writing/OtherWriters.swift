/// Writes enumerations, type definitions and containers.
enum OtherWriters {
  /// An enumeration type: a structure with its known members, which also holds the members of later versions.
  static func write(_ plan: EnumerationPlan, access: GeneratorOptions.Access) -> String {
    var text = SwiftText(access)
    text.document(plan.documentation, else: "The enumeration type `\(plan.serviceName)`.")
    let name = plan.name
    let kind = plan.isFlags ? "ODataFlags" : "ODataEnumeration"
    text.declareBlock("struct \(name): \(kind), RawRepresentable, CaseIterable, Codable, Hashable, Sendable") { text in
      text.line("/// The name of the type in the service.")
      text.declare("static let odataTypeName = \(SwiftText.literal(plan.serviceName))")
      text.line("/// The member's name, which may be one that this version of the metadata does not declare.")
      text.declare("let rawValue: String")
      text.line("")
      text.line("/// Creates a member by its name.")
      text.declare("init(rawValue: String) { self.rawValue = rawValue }")
      text.line("")
      for member in plan.members {
        text.document(member.documentation, else: "The member `\(member.serviceName)`.")
        text.deprecate(member.deprecation)
        let value = OtherWriters.value(of: member, name)
        text.declare("static var \(SwiftIdentifier.declared(member.name)): \(name) { \(value) }")
      }
      text.line("/// The declared members.")
      let all = plan.members.map { member in
        // A use of a deprecated declaration is a warning.
        member.deprecation == nil
          ? "\(name).\(SwiftIdentifier.declared(member.name))" : OtherWriters.value(of: member, name)
      }
      text.list("\(text.access)static var allCases: [\(name)] { [", all, "] }")
      if plan.isFlags { flags(plan, &text) }
    }
    return text.text
  }

  private static func value(of member: EnumerationPlan.Member, _ type: String) -> String {
    "\(type)(rawValue: \(SwiftText.literal(member.serviceName)))"
  }

  /// What compares values with several members.
  private static func flags(_ plan: EnumerationPlan, _ text: inout SwiftText) {
    text.line("/// The values of the declared members, by their names in the service.")
    let values = plan.members.map { "\(SwiftText.literal($0.serviceName)): \($0.value)" }
    let head = "\(text.access)static let odataMemberValues: [String: Int64] = ["
    text.list(head, values, values.isEmpty ? ":]" : "]")
    text.line("")
    text.line("/// Whether two values have the same members.")
    text.declare(
      "static func == (left: \(plan.name), right: \(plan.name)) -> Bool { left.odataIdentity == right.odataIdentity }")
    text.line("/// Hashes the members, whatever their order.")
    text.declare("func hash(into hasher: inout Hasher) { hasher.combine(odataIdentity) }")
  }

  static func write(_ definitions: [DefinitionPlan], access: GeneratorOptions.Access) -> String {
    var text = SwiftText(access)
    for plan in definitions {
      text.document(plan.documentation, else: "The type definition `\(plan.serviceName)`.")
      text.declare("typealias \(plan.name) = \(plan.type)")
    }
    return text.text
  }

  static func write(_ plan: ServicePlan, access: GeneratorOptions.Access) -> String {
    var text = SwiftText(access)
    text.document(plan.documentation, else: "The entity container `\(plan.serviceName)`, accessed through a store.")
    text.declareBlock("struct \(plan.name): Sendable") { text in
      text.line("/// The store that is read and changed.")
      text.declare("let store: any ODataStore")
      text.line("")
      text.line("/// Whether reads name the declared properties in `$select`.")
      text.declare("let selectsDeclared: Bool")
      text.line("")
      text.line(
        "/// Accesses the service through an online or offline store. `selectsDeclared`: whether reads name the")
      text.line("/// declared properties in `$select`, for a service that otherwise returns only some of them.")
      text.declareBlock("init(_ store: any ODataStore, selectsDeclared: Bool = false)") { text in
        text.line("self.store = store")
        text.line("self.selectsDeclared = selectsDeclared")
      }
      for set in plan.sets {
        text.line("")
        text.document(set.documentation, else: "\(set.isSingleton ? "The singleton" : "The entity set") `\(set.path)`.")
        text.deprecate(set.deprecation)
        let type = "\(set.isSingleton ? "ODataEntityReference" : "ODataEntitySet")<\(set.type)>"
        let query = "ODataQuery<\(set.type)>(\(SwiftText.literal(set.path)))"
        text.declareBlock("var \(SwiftIdentifier.declared(set.name)): \(type)") { text in
          text.line(".init(self.store, \(query), selectsDeclared: self.selectsDeclared)")
        }
      }
      for operation in plan.operations {
        text.line("")
        OperationWriter.write(operation, "ODataCall(self.store, \(SwiftText.literal(operation.serviceName)))", &text)
      }
    }
    return text.text
  }
}
