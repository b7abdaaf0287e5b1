/// Writes the coding of a type that others derive from, by the name of the value's type.
struct HierarchyWriter {
  let plan: StructurePlan
  let stored: [MemberPlan]

  func write(_ text: inout SwiftText) {
    text.line("")
    text.line("/// Decodes the derived value that the name of the type means, or else the value.")
    text.declareBlock("init(from decoder: any Decoder) throws") { decoding(&$0) }
    text.line("")
    text.line("/// Encodes the value, or the derived value.")
    text.declareBlock("func encode(to encoder: any Encoder) throws") { encoding(&$0) }
  }

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
        text.line("  odataDerived = ODataDerivedValue(odataValue)")
      }
      text.line("default:")
      if plan.isVersioned {
        text.line("  odataState = try container.decode(ODataEntityState.self, forKey: .odataState)")
      }
      for member in stored {
        let type = member.isIndirect ? "ODataIndirect<\(member.type)>" : member.valueType
        let decode = member.isOptional ? "decodeIfPresent" : "decode"
        let name = storedName(member)
        text.line("  self.\(name) = try container.\(decode)(\(type).self, forKey: .\(name))")
      }
      text.line("  odataDerived = nil")
    }
  }

  private func encoding(_ text: inout SwiftText) {
    text.line("if let odataDerived { return try odataDerived.encode(to: encoder) }")
    text.line("var container = encoder.container(keyedBy: CodingKeys.self)")
    text.line("try container.encodeIfPresent(odataType, forKey: .odataType)")
    if plan.isVersioned { text.line("try container.encode(odataState, forKey: .odataState)") }
    for member in stored {
      let name = storedName(member)
      let encode = member.isOptional ? "encodeIfPresent" : "encode"
      text.line("try container.\(encode)(self.\(name), forKey: .\(name))")
    }
  }

  private func storedName(_ member: MemberPlan) -> String {
    member.isIndirect ? "_" + member.name : SwiftIdentifier.declared(member.name)
  }
}
