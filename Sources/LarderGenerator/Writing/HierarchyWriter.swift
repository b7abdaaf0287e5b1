/// Writes the parts of a type that others derive from: its derived values, and its coding by the name of the type.
struct HierarchyWriter {
  let plan: StructurePlan
  let stored: [MemberPlan]

  func write(_ text: inout SwiftText) {
    text.line("")
    coding(&text)
    text.line("")
    derived(&text)
    text.line("")
    text.line("/// The value as the directly derived type; nil if it is of no derived type that is known.")
    text.declareBlock("var odataDerivedValue: (any ODataDescribed)?") { text in
      text.block("switch odataDerived") { text in
        for derived in plan.derived { text.line("case .\(SwiftIdentifier.declared(derived.name))(let value)?: value") }
        text.line("case nil: nil")
      }
    }
  }

  private func coding(_ text: inout SwiftText) {
    text.line("/// Decodes the value, and also the derived value that its type names.")
    text.declareBlock("init(from decoder: any Decoder) throws") { text in
      text.line("let container = try decoder.container(keyedBy: CodingKeys.self)")
      text.line("odataType = try container.decodeIfPresent(String.self, forKey: .odataType)")
      for member in stored {
        let name = member.isIndirect ? "_" + member.name : SwiftIdentifier.declared(member.name)
        let type = member.isIndirect ? "ODataIndirect<\(member.type)>" : member.valueType
        let decode = member.isOptional ? "decodeIfPresent" : "decode"
        text.line("self.\(name) = try container.\(decode)(\(type).self, forKey: .\(name))")
      }
      text.line("odataDerived = try Derived(odataType, from: decoder)")
    }
    text.line("")
    text.line("/// Encodes the value, or the derived value.")
    text.declareBlock("func encode(to encoder: any Encoder) throws") { text in
      text.line("if let odataDerived { return try odataDerived.encode(to: encoder) }")
      text.line("var container = encoder.container(keyedBy: CodingKeys.self)")
      text.line("try container.encodeIfPresent(odataType, forKey: .odataType)")
      for member in stored {
        let name = member.isIndirect ? "_" + member.name : SwiftIdentifier.declared(member.name)
        let encode = member.isOptional ? "encodeIfPresent" : "encode"
        text.line("try container.\(encode)(self.\(name), forKey: .\(name))")
      }
    }
  }

  private func derived(_ text: inout SwiftText) {
    text.line("/// A value of a type that derives from this one.")
    text.declareBlock("indirect enum Derived: Hashable, Sendable") { text in
      for derived in plan.derived {
        text.line("/// A `\(derived.type)`, or a value of a type that derives from it.")
        text.line("case \(SwiftIdentifier.declared(derived.name))(\(derived.type))")
      }
      text.line("")
      text.block("init?(_ typeName: String?, from decoder: any Decoder) throws") { text in
        text.block("switch typeName") { text in
          for derived in plan.derived {
            let names = derived.serviceNames.map { SwiftText.literal("#" + $0) + "?" }
            let name = SwiftIdentifier.declared(derived.name)
            text.line(
              "case \(names.joined(separator: ", ")): self = .\(name)(try \(derived.type)(from: decoder))")
          }
          text.line("default: return nil")
        }
      }
      text.line("")
      text.block("fileprivate func encode(to encoder: any Encoder) throws") { text in
        each(&text) { "try value.encode(to: encoder)" }
      }
      if !plan.isEntity {
        text.line("")
        text.block("fileprivate var odataValue: ODataValue") { text in each(&text) { "value.odataValue" } }
      }
    }
  }

  private func each(_ text: inout SwiftText, _ statement: () -> String) {
    text.block("switch self") { text in
      for derived in plan.derived {
        text.line("case .\(SwiftIdentifier.declared(derived.name))(let value): \(statement())")
      }
    }
  }
}
