internal import LarderOData

/// Formats types and signatures briefly: `String(40)`, `Decimal(15,2)`, without `Edm.` and the schema's own namespace.
enum TypeText {
  static func text(_ type: EdmTypeReference, _ facets: EdmFacets, in namespace: String) -> String {
    let inner = short(type.item.description, in: namespace) + facetText(facets)
    return type.isCollection ? "[\(inner)]" : inner
  }

  static func signature(_ parameters: [EdmParameter], _ returnType: EdmReturnType?, in namespace: String) -> String {
    let inputs = parameters.map { "\($0.name): \(text($0.type, $0.facets, in: namespace))" }
    let output = returnType.map { " -> " + text($0.type, $0.facets, in: namespace) } ?? ""
    return "(" + inputs.joined(separator: ", ") + ")" + output
  }

  static func short(_ name: String, in namespace: String) -> String {
    for prefix in ["Edm.", namespace + "."] where prefix.count > 1 && name.hasPrefix(prefix) {
      return String(name.dropFirst(prefix.count))
    }
    return name
  }

  private static func facetText(_ facets: EdmFacets) -> String {
    var parts: [String] = []
    switch facets.maxLength {
    case .limit(let length): parts.append("\(length)")
    case .max: parts.append("max")
    case nil: break
    }
    if let precision = facets.precision { parts.append("\(precision)") }
    switch facets.scale {
    case .digits(let digits): parts.append("\(digits)")
    case .variable: parts.append("variable")
    case .floating: parts.append("floating")
    case nil: break
    }
    switch facets.srid {
    case .reference(let number): parts.append("SRID \(number)")
    case .variable: parts.append("SRID variable")
    case nil: break
    }
    return parts.isEmpty ? "" : "(" + parts.joined(separator: ",") + ")"
  }
}
