/// Writes an entity or complex type.
struct StructureWriter {
  let plan: StructurePlan

  /// The members with a stored value.
  var stored: [MemberPlan] { plan.members.filter { $0.kind != .stream } }

  static func write(_ plan: StructurePlan, access: GeneratorOptions.Access) -> String {
    var text = SwiftText(access)
    StructureWriter(plan: plan).structure(&text)
    return text.text
  }

  private func structure(_ text: inout SwiftText) {
    let kind = plan.isEntity ? "entity" : "complex"
    text.document(plan.documentation, else: "The \(kind) type `\(plan.serviceName)`.")
    if !plan.documentation.isEmpty {
      text.line("///")
      text.line("/// The \(kind) type `\(plan.serviceName)`.")
    }
    for note in SwiftText.note(plan.deprecation) {
      text.line("///")
      text.line("/// " + note)
    }
    let protocols = plan.conformances + ["Codable", "Hashable", "Sendable"]
    text.declareBlock("struct \(plan.name): \(protocols.joined(separator: ", "))") { body(&$0) }
  }

  private func body(_ text: inout SwiftText) {
    text.line("/// The name of the type in the service.")
    text.declare("static let odataTypeName = \(SwiftText.literal(plan.serviceName))")
    if !plan.selection.isEmpty {
      text.line("/// The names for `$select` that read all declared properties.")
      text.list("\(text.access)static let odataSelection = [", plan.selection.map(SwiftText.literal), "]")
    }
    if !plan.isDeletable {
      text.line("/// The service does not delete entities of the type.")
      text.declare("typealias ODataDeletion = ODataForbidden")
    }
    if plan.isMedia, !plan.isMediaCreatable {
      text.line("/// The service does not create entities of the type.")
      text.declare("typealias ODataMediaCreation = ODataForbidden")
    }
    properties(&text)
    text.line("")
    initializer(&text)
    if !plan.key.isEmpty { key(&text) }
    text.line("")
    codingKeys(&text)
    if plan.isTracked { changes(&text) }
    if !plan.derived.isEmpty || plan.isOpen { CodingWriter(plan: plan, stored: stored).write(&text) }
    if !plan.isEntity { value(&text) }
    text.line("")
    fields(&text)
    ChangeWriter.write(plan, &text)
  }

  private func properties(_ text: inout SwiftText) {
    if plan.isInHierarchy {
      text.line("/// The name of the value's type, as the service sent it; nil if it sent none.")
      text.declare("let odataType: String?")
    }
    for member in stored {
      var documentation = member.documentation
      if documentation.isEmpty { documentation = ["The property `\(member.serviceName)`."] }
      documentation += SwiftText.note(member.deprecation)
      if member.isAbsentBeforeUpload { documentation.append("Nil only in an entity that has not been uploaded.") }
      if member.isComputed { documentation.append("The service sets it: a value that is made here has none.") }
      text.document(documentation, else: "")
      property(member, &text)
    }
    if plan.isVersioned {
      let assigned = plan.isTracked ? ", and the properties that have been assigned since" : ""
      text.line("/// The version that was read\(assigned).")
      text.declare("var odataState = ODataEntityState()")
    }
    if plan.isOpen {
      text.line("/// The properties that the type does not declare.")
      text.declare("\(plan.isDynamicVariable ? "var" : "let") odataDynamic: ODataDynamicProperties")
    }
    if !plan.derived.isEmpty {
      text.line("/// The whole value, if it is of a derived type.")
      text.declare("let odataDerived: ODataDerivedValue?")
    }
  }

  private func property(_ member: MemberPlan, _ text: inout SwiftText) {
    let name = SwiftIdentifier.declared(member.name)
    let isVariable = plan.isVariable(member)
    let assignment = plan.trackedNumber(of: member).map { "odataState.assign(\($0))" }
    guard member.isIndirect else {
      let tracking = assignment.map { " { didSet { \($0) } }" } ?? ""
      return text.declare("\(isVariable ? "var" : "let") \(name): \(member.declaredType)\(tracking)")
    }
    let optional = member.isOptional ? "?" : ""
    let value = "_\(member.name)\(optional).value"
    if isVariable {
      text.declareBlock("var \(name): \(member.declaredType)") { text in
        text.line("get { \(value) }")
        text.block("set") { text in
          text.line("_\(member.name) = \(StructureWriter.storedValue(of: member, "newValue"))")
          if let assignment { text.line(assignment) }
        }
      }
    } else {
      text.declare("var \(name): \(member.declaredType) { \(value) }")
    }
    text.line("private \(isVariable ? "var" : "let") _\(member.name): ODataIndirect<\(member.type)>\(optional)")
  }

  private func initializer(_ text: inout SwiftText) {
    text.line("/// Creates a value.")
    var parameters = stored.filter { !$0.isComputed }.map { member in
      "\(SwiftIdentifier.declared(member.name)): \(member.declaredType)"
        + (member.isOptional ? " = nil" : member.isCollection ? " = []" : "")
    }
    if plan.isOpen { parameters.append("odataDynamic: ODataDynamicProperties = [:]") }
    text.list("\(text.access)init(", parameters, ") {")
    for member in stored {
      let name = SwiftIdentifier.declared(member.name)
      let storedName = member.isIndirect ? "_" + member.name : name
      let none = member.isCollection ? "[]" : "nil"
      let value = member.isComputed ? none : StructureWriter.storedValue(of: member, name)
      text.line("  self.\(storedName) = \(value)")
    }
    if plan.isOpen { text.line("  self.odataDynamic = odataDynamic") }
    if plan.isOpen, plan.isTracked { text.line("  self.odataDynamic.forgetChanges()") }
    if plan.isInHierarchy { text.line("  odataType = \(SwiftText.literal("#" + plan.serviceName))") }
    if !plan.derived.isEmpty { text.line("  odataDerived = nil") }
    text.line("}")
  }

  /// The expression that stores the value of a member.
  static func storedValue(of member: MemberPlan, _ value: String) -> String {
    !member.isIndirect ? value : member.isOptional ? "ODataIndirect(\(value))" : ".value(\(value))"
  }

  private func key(_ text: inout SwiftText) {
    text.line("")
    text.line("/// The key: it identifies an entity in its set.")
    text.declareBlock("struct Key: \(plan.key.count == 1 ? "ODataSingleKey" : "ODataKey")") { text in
      for member in plan.key {
        text.document(member.documentation, else: "The property `\(member.serviceName)`.")
        text.declare("let \(SwiftIdentifier.declared(member.name)): \(member.type)")
      }
      text.line("")
      text.line("/// Creates a key.")
      text.list(
        "\(text.access)init(", plan.key.map { "\(SwiftIdentifier.declared($0.name)): \($0.type)" }, ") {")
      for member in plan.key {
        let name = SwiftIdentifier.declared(member.name)
        text.line("  self.\(name) = \(name)")
      }
      text.line("}")
      text.line("")
      if plan.key.count == 1, let member = plan.key.first {
        text.line("/// Creates a key.")
        let name = SwiftIdentifier.declared(member.name)
        text.declare("init(_ value: \(member.type)) { self.\(name) = value }")
        text.line("")
      }
      text.line("/// The properties with their names in the service.")
      let parts = plan.key.map { "(\(SwiftText.literal($0.serviceName)), self.\(SwiftIdentifier.declared($0.name)))" }
      text.declare("var odataParts: [(name: String, value: any ODataPrimitive)] { [\(parts.joined(separator: ", "))] }")
      text.line("")
      text.block("private enum CodingKeys: String, CodingKey") { text in
        for member in plan.key {
          text.line("case \(SwiftIdentifier.declared(member.name)) = \(SwiftText.literal(member.serviceName))")
        }
      }
    }
    text.line("")
    text.line("/// The entity's key.")
    let arguments = plan.key.map { "\(SwiftIdentifier.label($0.name)): self.\(SwiftIdentifier.declared($0.name))" }
    text.declare("var odataKey: Key { Key(\(arguments.joined(separator: ", "))) }")
    if !plan.members.contains(where: { $0.name == "id" }) {
      text.line("/// The entity's key.")
      text.declare("var id: Key { odataKey }")
    }
  }

  private func codingKeys(_ text: inout SwiftText) {
    guard !stored.isEmpty || plan.isInHierarchy else { return text.line("private enum CodingKeys: CodingKey {}") }
    text.block("private enum CodingKeys: String, CodingKey") { text in
      if plan.isInHierarchy { text.line("case odataType = \"@odata.type\"") }
      if plan.isVersioned { text.line("case odataState = \"@odata.etag\"") }
      for member in stored {
        let name = member.isIndirect ? "_" + member.name : SwiftIdentifier.declared(member.name)
        text.line("case \(name) = \(SwiftText.literal(member.serviceName))")
      }
    }
  }

  private func changes(_ text: inout SwiftText) {
    text.line("")
    text.line("/// The properties that have been assigned since the entity was read.")
    text.declareBlock("var odataChanges: [ODataProperty]") { text in
      text.line("\(plan.update?.isEmpty == false ? "var" : "let") odataList = ODataPropertyList()")
      for (number, change) in (plan.update ?? []).enumerated() {
        let name = SwiftIdentifier.declared(change.member.name)
        let serviceName = SwiftText.literal(change.member.serviceName)
        text.line("odataList.setIfAssigned(\(number), \(serviceName), self.\(name), in: odataState)")
      }
      text.line("return odataList.properties\(plan.isOpen ? " + odataDynamic.changes" : "")")
    }
    guard plan.isOpen else { return }
    text.line("")
    text.line("/// Forgets the assignments: they were sent, and the service has the given version.")
    text.declareBlock("mutating func odataSent(etag: String?)") { text in
      text.line("odataState = ODataEntityState(etag: etag)")
      text.line("odataDynamic.forgetChanges()")
    }
  }

  private func value(_ text: inout SwiftText) {
    text.line("")
    text.line("/// The value as a payload contains it.")
    text.declareBlock("var odataValue: ODataValue") { text in
      if !plan.derived.isEmpty {
        text.line("if let derived = odataDerived?.value as? any ODataComplex { return derived.odataValue }")
      }
      let properties = stored.filter { $0.kind != .entity && !$0.isComputed }
      let typeName = plan.isInHierarchy ? "Self.odataTypeName" : "nil"
      guard !properties.isEmpty || plan.isOpen else {
        return text.line("return .complex(ODataComplexValue(typeName: \(typeName)))")
      }
      text.line("\(properties.isEmpty ? "let" : "var") odataList = ODataPropertyList()")
      for member in properties {
        text.line(
          "odataList.\(member.isWriteOnly ? "setIfGiven" : "set")(\(SwiftText.literal(member.serviceName)), self.\(SwiftIdentifier.declared(member.name)))"
        )
      }
      let list = "odataList.properties" + (plan.isOpen ? " + odataDynamic.properties" : "")
      text.line("return .complex(ODataComplexValue(typeName: \(typeName), properties: \(list)))")
    }
  }

  private func fields(_ text: inout SwiftText) {
    text.line("/// The properties in queries.")
    text.declareBlock("struct Fields: ODataFields") { text in
      text.line("/// Creates the fields.")
      text.declare("init() {}")
      for member in plan.members {
        var type = StructureWriter.fieldType(member)
        var value = ".init(\(SwiftText.literal(member.serviceName)))"
        // A stream property has no operators anyway.
        let isStream = member.kind == .stream
        if !member.isFilterable && !isStream { (type, value) = ("Unfilterable<\(type)>", ".init(\(value))") }
        if !member.isSortable && !isStream { (type, value) = ("Unsortable<\(type)>", ".init(\(value))") }
        text.document(Array(member.documentation.prefix(1)), else: "The property `\(member.serviceName)`.")
        text.deprecate(member.deprecation)
        text.declare("var \(SwiftIdentifier.declared(member.name)): \(type) { \(value) }")
      }
    }
  }

  private static func fieldType(_ member: MemberPlan) -> String {
    let family =
      switch (member.kind, member.isCollection) {
      case (.stream, _): "StreamField"
      case (.primitive, false): "Field"
      case (.primitive, true): "CollectionField"
      case (.complex, false): "ComplexField"
      case (.complex, true): "ComplexCollection"
      case (.entity, false): member.isExpandable ? "Navigation" : "UnexpandableNavigation"
      case (.entity, true): member.isExpandable ? "NavigationCollection" : "UnexpandableCollection"
      }
    return member.kind == .stream ? family : "\(family)<\(member.type)>"
  }
}
