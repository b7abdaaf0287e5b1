internal import LarderOData

/// `Association` and `AssociationSet` of V1 to V3 ([MC-CSDL] §2.1.9 to §2.1.13, §2.1.19).
enum CSDLAssociationGrammar {
  static func association(
    _ element: inout CSDLElement, _ namespace: String, _ reading: CSDLReading,
    deliver: @escaping (EdmAssociation) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
    var association = EdmAssociation(namespace: namespace, name: name)
    association.foreignAttributes = element.rest(reading)
    return ElementFrame("Association", name, association) { element, frame, reading in
      switch element.name {
      case "End": return end(&element, reading) { frame.element.ends.append($0) }
      case "ReferentialConstraint": return constraint(&element, reading) { frame.element.referentialConstraint = $0 }
      default: return nil
      }
    } deliver: {
      deliver($0)
    }
  }

  private static func end(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmAssociationEnd) -> Void
  ) -> CSDLFrame {
    guard let type = element.takeRequired("Type", reading)?.trimmed else { return SkippedFrame(element.name) }
    let shortName = type.split(separator: ".").last.map(String.init) ?? type
    let role = element.take("Role") ?? shortName
    let text = element.take("Multiplicity")
    let multiplicity = text.flatMap { EdmMultiplicity(rawValue: $0.trimmed) }
    if multiplicity == nil {
      reading.report(.invalidValue, "Multiplicity=\"\(text ?? "")\" is not known; * is used", at: element)
    }
    var end = EdmAssociationEnd(role: role, type: type, multiplicity: multiplicity ?? .many)
    end.foreignAttributes = element.rest(reading)
    return ElementFrame("End", role, end) { element, frame, reading in
      guard element.name == "OnDelete" else { return nil }
      return CSDLTypeGrammar.onDelete(&element, reading) { frame.element.onDelete = $0 }
    } deliver: {
      deliver($0)
    }
  }

  private static func constraint(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmAssociationConstraint) -> Void
  ) -> CSDLFrame {
    var constraint = EdmAssociationConstraint(
      principalRole: "", principalProperties: [], dependentRole: "", dependentProperties: [])
    constraint.foreignAttributes = element.rest(reading)
    return ElementFrame("ReferentialConstraint", nil, constraint) { element, frame, reading in
      switch element.name {
      case "Principal":
        frame.element.principalRole = element.take("Role") ?? ""
        return properties(element.name) { frame.element.principalProperties.append($0) }
      case "Dependent":
        frame.element.dependentRole = element.take("Role") ?? ""
        return properties(element.name) { frame.element.dependentProperties.append($0) }
      default: return nil
      }
    } deliver: {
      deliver($0)
    }
  }

  private static func properties(_ name: String, deliver: @escaping (String) -> Void) -> CSDLFrame {
    BracketFrame(name) { element, reading in
      guard element.name == "PropertyRef" else { return nil }
      guard let property = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
      deliver(property)
      _ = element.rest(reading)
      return BracketFrame("PropertyRef")
    }
  }

  static func associationSet(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmAssociationSet) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading),
      let association = element.takeRequired("Association", reading)
    else { return SkippedFrame(element.name) }
    var set = EdmAssociationSet(name: name, association: association.trimmed)
    set.foreignAttributes = element.rest(reading)
    return ElementFrame("AssociationSet", name, set) { element, frame, reading in
      guard element.name == "End" else { return nil }
      guard let entitySet = element.takeRequired("EntitySet", reading) else { return SkippedFrame(element.name) }
      var end = EdmAssociationSetEnd(role: element.take("Role") ?? "", entitySet: entitySet)
      end.foreignAttributes = element.rest(reading)
      return ElementFrame("End", end.role, end) { frame.element.ends.append($0) }
    } deliver: {
      deliver($0)
    }
  }
}
