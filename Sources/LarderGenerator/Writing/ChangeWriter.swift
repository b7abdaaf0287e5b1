/// Writes the values for creating and changing entities of a type.
enum ChangeWriter {
  static func write(_ plan: StructurePlan, _ text: inout SwiftText) {
    if let create = plan.create {
      text.line("")
      text.line("/// The properties of a new entity. The service sets those that are nil.")
      write(create, named: "Create", isOpen: plan.isOpen, &text)
    }
    if let update = plan.update {
      text.line("")
      text.line("/// The properties to change. Those that are nil stay as they are; `.some(nil)` sets one to null.")
      write(update, named: "Update", isOpen: plan.isOpen, &text)
    }
  }

  private static func write(_ members: [ChangeMember], named name: String, isOpen: Bool, _ text: inout SwiftText) {
    text.declareBlock("struct \(name): ODataChange") { text in
      for change in members {
        let member = change.member
        text.document(Array(member.documentation.prefix(1)), else: "The property `\(member.serviceName)`.")
        text.declare("var \(SwiftIdentifier.declared(member.name)): \(type(of: change))")
      }
      if isOpen {
        text.line("/// The properties that the type does not declare.")
        text.declare("var odataDynamic: ODataDynamicProperties")
      }
      text.line("")
      text.line("/// Creates the properties.")
      // Swift initializes with nil what a call does not give.
      var parameters = members.map { change in
        "\(SwiftIdentifier.declared(change.member.name)): \(type(of: change))" + (change.isRequired ? "" : " = nil")
      }
      if isOpen { parameters.append("odataDynamic: ODataDynamicProperties = [:]") }
      text.list("\(text.access)init(", parameters, ") {")
      for change in members {
        let name = SwiftIdentifier.declared(change.member.name)
        text.line("  self.\(name) = \(name)")
      }
      if isOpen { text.line("  self.odataDynamic = odataDynamic") }
      text.line("}")
      text.line("")
      text.line("/// The properties with their names in the service.")
      text.declareBlock("var odataProperties: [ODataProperty]") { text in
        let properties = members.filter { $0.member.kind != .entity }
        text.line("\(properties.isEmpty ? "let" : "var") odataList = ODataPropertyList()")
        for change in properties {
          let name = SwiftIdentifier.declared(change.member.name)
          text.line("odataList.setIfGiven(\(SwiftText.literal(change.member.serviceName)), self.\(name))")
        }
        text.line("return odataList.properties\(isOpen ? " + odataDynamic.properties" : "")")
      }
      links(members.filter { $0.member.kind == .entity }, &text)
    }
  }

  private static func links(_ members: [ChangeMember], _ text: inout SwiftText) {
    guard !members.isEmpty else { return }
    text.line("")
    text.line("/// The related entities, new or existing, by the names of their navigation properties in the service.")
    text.declareBlock("var odataLinks: [ODataNavigationLink]") { text in
      text.line("var odataList: [ODataNavigationLink] = []")
      for change in members {
        let name = SwiftIdentifier.declared(change.member.name)
        let link = "ODataNavigationLink(\(SwiftText.literal(change.member.serviceName)), to: \(name))"
        text.line("if let \(name) = self.\(name) { odataList.append(\(link)) }")
      }
      text.line("return odataList")
    }
  }

  private static func type(of change: ChangeMember) -> String {
    let type = change.valueType
    return change.isRequired ? type : change.isNullable ? type + "??" : type + "?"
  }
}
