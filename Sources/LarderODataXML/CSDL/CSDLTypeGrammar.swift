internal import LarderOData

/// `EntityType`, `ComplexType` and their properties (CSDL XML 4.01 §6 to §9; [MC-CSDL] §2.1.2 to §2.1.7).
enum CSDLTypeGrammar {
  static func entityType(
    _ element: inout CSDLElement, _ namespace: String, _ reading: CSDLReading,
    deliver: @escaping (EdmEntityType) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
    var type = EdmEntityType(namespace: namespace, name: name, baseType: element.take("BaseType")?.trimmed)
    type.isAbstract = element.takeBool("Abstract", reading) ?? false
    type.isOpen = element.takeBool("OpenType", reading) ?? false
    type.hasStream = element.takeBool("HasStream", reading) ?? false
    if let text = element.takeMetadata("HasStream") {
      type.hasStream = element.bool(text, "HasStream", reading) ?? type.hasStream
    }
    type.feedMappings = CSDLFeedMappingGrammar.mappings(&element, of: nil, reading)
    type.foreignAttributes = element.rest(reading)
    return ElementFrame("EntityType", name, type) { element, frame, reading in
      switch element.name {
      case "Key": return key(&element, reading) { frame.element.key.append($0) }
      case "Property": return property(&element, reading) { frame.element.properties.append($0) }
      case "NavigationProperty":
        return navigationProperty(&element, reading) { frame.element.navigationProperties.append($0) }
      default: return nil
      }
    } deliver: {
      deliver($0)
    }
  }

  static func complexType(
    _ element: inout CSDLElement, _ namespace: String, _ reading: CSDLReading,
    deliver: @escaping (EdmComplexType) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
    var type = EdmComplexType(namespace: namespace, name: name, baseType: element.take("BaseType")?.trimmed)
    type.isAbstract = element.takeBool("Abstract", reading) ?? false
    type.isOpen = element.takeBool("OpenType", reading) ?? false
    type.foreignAttributes = element.rest(reading)
    return ElementFrame("ComplexType", name, type) { element, frame, reading in
      switch element.name {
      case "Property": return property(&element, reading) { frame.element.properties.append($0) }
      case "NavigationProperty":
        return navigationProperty(&element, reading) { frame.element.navigationProperties.append($0) }
      default: return nil
      }
    } deliver: {
      deliver($0)
    }
  }

  private static func key(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmPropertyRef) -> Void
  ) -> CSDLFrame {
    _ = element.rest(reading)
    return BracketFrame("Key") { element, reading in
      guard element.name == "PropertyRef" else { return nil }
      guard let path = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
      deliver(EdmPropertyRef(path: path, alias: element.take("Alias")))
      _ = element.rest(reading)
      return BracketFrame("PropertyRef")
    }
  }

  static func property(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmProperty) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
    let type = element.takeType()
    var property = EdmProperty(name: name, type: type ?? .abstract(.untyped))
    property.nullable = element.takeBool("Nullable", reading)
    property.facets = element.takeFacets(reading)
    property.defaultValue = element.take("DefaultValue")
    if let text = element.take("ConcurrencyMode") {
      property.concurrencyMode = EdmConcurrencyMode(rawValue: text)
      if property.concurrencyMode == nil {
        reading.report(.invalidValue, "ConcurrencyMode=\"\(text)\" is not known", at: element)
      }
    }
    property.collectionKind = element.take("CollectionKind")
    if let kind = property.collectionKind, kind != "None", !property.type.isCollection {
      property.type = .collection(property.type)
    }
    property.feedMappings = CSDLFeedMappingGrammar.mappings(&element, of: name, reading)
    property.foreignAttributes = element.rest(reading)
    let start = element
    return ElementFrame("Property", name, property) { element, frame, reading in
      CSDLTypeElement.frame(&element, reading) { $0.apply(to: &frame.element) }
    } deliver: { property in
      if type == nil, property.type.item == .abstract(.untyped) {
        reading.report(.missingAttribute, "\(name) has no Type; it is treated as Edm.Untyped", at: start)
      }
      deliver(property)
    }
  }

  private static func navigationProperty(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmNavigationProperty) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
    let type = element.takeType()
    var property = EdmNavigationProperty(name: name, type: type ?? .abstract(.entityType))
    property.nullable = element.takeBool("Nullable", reading)
    property.partner = element.take("Partner")
    property.containsTarget = element.takeBool("ContainsTarget", reading) ?? false
    if let association = element.take("Relationship") {
      property.relationship = EdmRelationship(
        association: association.trimmed, fromRole: element.take("FromRole") ?? "",
        toRole: element.take("ToRole") ?? "")
    } else if type == nil {
      reading.report(.missingAttribute, "\(name) has no Type; it is treated as Edm.EntityType", at: element)
    }
    property.foreignAttributes = element.rest(reading)
    return ElementFrame("NavigationProperty", name, property, grammar: navigationChild, deliver: deliver)
  }

  private static func navigationChild(
    _ element: inout CSDLElement, _ frame: ElementFrame<EdmNavigationProperty>, _ reading: CSDLReading
  ) -> CSDLFrame? {
    switch element.name {
    case "ReferentialConstraint":
      guard let property = element.takeRequired("Property", reading),
        let referenced = element.takeRequired("ReferencedProperty", reading)
      else { return SkippedFrame(element.name) }
      var constraint = EdmReferentialConstraint(property: property, referencedProperty: referenced)
      constraint.foreignAttributes = element.rest(reading)
      return ElementFrame(element.name, property, constraint) { frame.element.referentialConstraints.append($0) }
    case "OnDelete": return onDelete(&element, reading) { frame.element.onDelete = $0 }
    default: return nil
    }
  }

  static func onDelete(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmOnDelete) -> Void
  ) -> CSDLFrame {
    guard let action = element.takeRequired("Action", reading) else { return SkippedFrame(element.name) }
    var onDelete = EdmOnDelete(action: action)
    onDelete.foreignAttributes = element.rest(reading)
    return ElementFrame("OnDelete", nil, onDelete, deliver: deliver)
  }
}
