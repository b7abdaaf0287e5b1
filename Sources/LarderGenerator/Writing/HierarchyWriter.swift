/// Writes the parts of a type that others derive from: its derived values, and its coding by the name of the type.
struct HierarchyWriter {
  let plan: StructurePlan
  let stored: [MemberPlan]

  func write(_ text: inout SwiftText) {
    text.line("")
    coding(&text)
    text.line("")
    derivedType(&text)
  }

  private func coding(_ text: inout SwiftText) {
    text.line("/// Decodes the value, and also the derived value that its type names.")
    text.declareBlock("init(from decoder: any Decoder) throws") { text in
      text.line("let container = try decoder.container(keyedBy: CodingKeys.self)")
      text.line("odataType = try container.decodeIfPresent(String.self, forKey: .odataType)")
      if plan.isVersioned { text.line("odataState = try container.decode(ODataEntityState.self, forKey: .odataState)") }
      for member in stored {
        let name = member.isIndirect ? "_" + member.name : SwiftIdentifier.declared(member.name)
        let type = member.isIndirect ? "ODataIndirect<\(member.type)>" : member.valueType
        let decode = member.isOptional ? "decodeIfPresent" : "decode"
        text.line("self.\(name) = try container.\(decode)(\(type).self, forKey: .\(name))")
      }
      text.line(
        "odataDerived = try odataType.flatMap(Self.derivedType).map { try ODataDerivedValue($0, from: decoder) }")
    }
    text.line("")
    text.line("/// Encodes the value, or the derived value.")
    text.declareBlock("func encode(to encoder: any Encoder) throws") { text in
      text.line("if let odataDerived { return try odataDerived.encode(to: encoder) }")
      text.line("var container = encoder.container(keyedBy: CodingKeys.self)")
      text.line("try container.encodeIfPresent(odataType, forKey: .odataType)")
      if plan.isVersioned { text.line("try container.encode(odataState, forKey: .odataState)") }
      for member in stored {
        let name = member.isIndirect ? "_" + member.name : SwiftIdentifier.declared(member.name)
        let encode = member.isOptional ? "encodeIfPresent" : "encode"
        text.line("try container.\(encode)(self.\(name), forKey: .\(name))")
      }
    }
  }

  private func derivedType(_ text: inout SwiftText) {
    text.block("private static func derivedType(_ name: String) -> (any ODataDerivedValue.Value.Type)?") { text in
      text.block("switch name") { text in
        for derived in plan.derived {
          let names = derived.serviceNames.map { SwiftText.literal("#" + $0) }
          text.line("case \(names.joined(separator: ", ")): return \(derived.type).self")
        }
        text.line("default: return nil")
      }
    }
  }
}
