@_spi(Stores) import LarderCore
import LarderOData

// Properties that the service sets: those with the annotations `Core.Computed` and `Core.ComputedDefaultValue`.
extension RowReader {
  /// The value of a property that a client has left out; nil if the service does not set it.
  func computed(_ property: EdmProperty, of structure: EdmStructure) throws(ServiceFault) -> JSONNode? {
    guard isTagged("Computed", property, of: structure) || isTagged("ComputedDefaultValue", property, of: structure),
      let node = computedNode(property)
    else { return nil }
    return try value(node, of: property)
  }

  /// The names of the properties that the service alone sets.
  func computedNames(of structure: EdmStructure) -> [String] {
    structure.properties.filter { isTagged("Computed", $0, of: structure) }.map(\.name)
  }

  private func isTagged(_ term: String, _ property: EdmProperty, of structure: EdmStructure) -> Bool {
    structure.chain.contains {
      model.model.isTagged("Org.OData.Core.V1.\(term)", target: "\($0.name)/\(property.name)")
    }
  }

  /// The time of the service's clock, in whole seconds; a new GUID; the empty text; zero; false.
  private func computedNode(_ property: EdmProperty) -> JSONNode? {
    if let type = property.type.name.flatMap({ model.model.enumType($0) }) {
      return type.members.first.map { .string($0.name) }
    }
    let now = ODataDateTimeOffset(secondsSince1970: clock.environment.unixSeconds)
    switch model.model.underlying(property.type).type.primitive {
    case .dateTimeOffset: return now.map { .string($0.description) }
    case .date: return now.map { .string($0.date.description) }
    case .timeOfDay: return now.map { .string($0.time.description) }
    case .duration: return .string("PT0S")
    case .guid: return .string(RowReader.guid(number))
    case .string, .binary: return .string("")
    case .boolean: return .boolean(false)
    case .byte, .sbyte, .int16, .int32, .int64, .decimal, .double, .single: return .number("0")
    default: return nil
    }
  }

  /// The identifier that the service gives in a change.
  static func guid(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
  }
}
