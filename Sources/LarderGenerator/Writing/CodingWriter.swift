/// Writes the coding of a type that others derive from, by the name of the value's type, and of an open type, whose values
/// have members that it does not declare.
struct CodingWriter {
  let plan: StructurePlan
  let stored: [MemberPlan]

  func write(_ text: inout SwiftText) {
    let isBase = !plan.derived.isEmpty
    text.line("")
    text.line(
      "/// Decodes the \(isBase ? "derived value that the name of the type means, or else the value" : "value").")
    text.declareBlock("init(from decoder: any Decoder) throws") { isBase ? decoding(&$0) : members(&$0) }
    text.line("")
    text.line("/// Encodes the value\(isBase ? ", or the derived value" : "").")
    text.declareBlock("func encode(to encoder: any Encoder) throws") { encoding(&$0) }
  }

  /// Whether the type declares members that are coded.
  private var hasKeys: Bool { !stored.isEmpty || plan.isInHierarchy }

  /// A derived value is decoded once: the value copies its own members from it.
  private func decoding(_ text: inout SwiftText) {
    text.line("let container = try decoder.container(keyedBy: CodingKeys.self)")
    text.line("odataType = try container.decodeIfPresent(String.self, forKey: .odataType)")
    text.block("switch odataType") { text in
      for derived in plan.derived {
        text.line("case \(derived.serviceNames.map { SwiftText.literal("#" + $0) }.joined(separator: ", ")):")
        text.line("  let odataValue = try \(derived.type)(from: decoder)")
        if plan.isVersioned { text.line("  odataState = odataValue.odataState") }
        for member in stored {
          let value = "odataValue.\(SwiftIdentifier.declared(derived.memberNames[member.serviceName] ?? member.name))"
          text.line("  self.\(storedName(member)) = \(StructureWriter.storedValue(of: member, value))")
        }
        if plan.isOpen { text.line("  odataDynamic = odataValue.odataDynamic") }
        text.line("  odataDerived = ODataDerivedValue(odataValue)")
      }
      text.line("default:")
      ownMembers(&text, indentation: "  ")
      text.line("  odataDerived = nil")
    }
  }

  private func members(_ text: inout SwiftText) {
    if hasKeys { text.line("let container = try decoder.container(keyedBy: CodingKeys.self)") }
    if plan.isInHierarchy {
      text.line("odataType = try container.decodeIfPresent(String.self, forKey: .odataType)")
    }
    ownMembers(&text, indentation: "")
  }

  private func ownMembers(_ text: inout SwiftText, indentation: String) {
    if plan.isVersioned {
      text.line(indentation + "odataState = try container.decode(ODataEntityState.self, forKey: .odataState)")
    }
    for member in stored {
      let type = member.isIndirect ? "ODataIndirect<\(member.type)>" : member.valueType
      let decode = member.isOptional ? "decodeIfPresent" : "decode"
      let name = storedName(member)
      text.line("\(indentation)self.\(name) = try container.\(decode)(\(type).self, forKey: .\(name))")
    }
    if plan.isOpen {
      text.line(indentation + "odataDynamic = try ODataDynamicProperties(from: decoder, besides: CodingKeys.self)")
    }
  }

  private func encoding(_ text: inout SwiftText) {
    if !plan.derived.isEmpty { text.line("if let odataDerived { return try odataDerived.encode(to: encoder) }") }
    if hasKeys { text.line("var container = encoder.container(keyedBy: CodingKeys.self)") }
    if plan.isInHierarchy { text.line("try container.encodeIfPresent(odataType, forKey: .odataType)") }
    if plan.isVersioned { text.line("try container.encode(odataState, forKey: .odataState)") }
    for member in stored {
      let name = storedName(member)
      let encode = member.isOptional ? "encodeIfPresent" : "encode"
      text.line("try container.\(encode)(self.\(name), forKey: .\(name))")
    }
    if plan.isOpen { text.line("try odataDynamic.encode(to: encoder)") }
  }

  private func storedName(_ member: MemberPlan) -> String {
    member.isIndirect ? "_" + member.name : SwiftIdentifier.declared(member.name)
  }
}
