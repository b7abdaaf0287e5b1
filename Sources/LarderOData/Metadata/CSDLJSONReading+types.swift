// Types and their properties (CSDL JSON 4.01 §6 to §11).
extension CSDLJSONReading {
  mutating func entityType(_ name: String, _ content: CSDLJSONObject, in namespace: String) -> EdmEntityType {
    var object = content
    var type = EdmEntityType(namespace: namespace, name: name, baseType: object.string("$BaseType", &self))
    type.isAbstract = object.bool("$Abstract", &self) ?? false
    type.isOpen = object.bool("$OpenType", &self) ?? false
    type.hasStream = object.bool("$HasStream", &self) ?? false
    for part in object.items("$Key", &self) {
      if let path = part.string {
        type.key.append(EdmPropertyRef(path: path))
      } else if let member = part.members?.first, let path = member.value.string {
        type.key.append(EdmPropertyRef(path: path, alias: member.name))
      } else {
        report(.invalidValue, "a part of the key is not a name; it was left out", at: object.path + "/$Key")
      }
    }
    type.annotations = object.annotations
    type.foreignAttributes = object.rest(&self)
    members(object, into: &type.properties, &type.navigationProperties)
    return type
  }

  mutating func complexType(_ name: String, _ content: CSDLJSONObject, in namespace: String) -> EdmComplexType {
    var object = content
    var type = EdmComplexType(namespace: namespace, name: name, baseType: object.string("$BaseType", &self))
    type.isAbstract = object.bool("$Abstract", &self) ?? false
    type.isOpen = object.bool("$OpenType", &self) ?? false
    type.annotations = object.annotations
    type.foreignAttributes = object.rest(&self)
    members(object, into: &type.properties, &type.navigationProperties)
    return type
  }

  private mutating func members(
    _ type: CSDLJSONObject, into properties: inout [EdmProperty], _ navigation: inout [EdmNavigationProperty]
  ) {
    for child in type.children {
      guard var object = object(child.value, at: type.path + "/" + child.name) else { continue }
      switch object.string("$Kind", &self) {
      case nil, "Property": properties.append(property(child, object))
      case "NavigationProperty": navigation.append(navigationProperty(child, object))
      case let kind?: report(.unknownElement, "$Kind \(kind) is not known; it was ignored", at: object.path)
      }
    }
  }

  private mutating func property(_ child: CSDLJSONObject.Child, _ content: CSDLJSONObject) -> EdmProperty {
    var object = content
    var property = EdmProperty(name: child.name, type: object.type(&self))
    property.nullable = object.bool("$Nullable", &self) ?? false
    property.facets = object.facets(of: property.type, &self)
    property.defaultValue = object.string("$DefaultValue", &self)
    property.annotations = object.annotations + child.annotations
    property.foreignAttributes = object.rest(&self)
    return property
  }

  private mutating func navigationProperty(
    _ child: CSDLJSONObject.Child, _ content: CSDLJSONObject
  ) -> EdmNavigationProperty {
    var object = content
    var property = EdmNavigationProperty(name: child.name, type: object.type(&self, default: "Edm.EntityType"))
    property.nullable = object.bool("$Nullable", &self) ?? false
    property.partner = object.string("$Partner", &self)
    property.containsTarget = object.bool("$ContainsTarget", &self) ?? false
    if let constraints = object.take("$ReferentialConstraint"),
      let pairs = self.object(constraints, at: object.path + "/$ReferentialConstraint")
    {
      for pair in pairs.children {
        guard let referenced = pair.value.string else {
          report(.invalidValue, "\(pair.name) does not refer to a property; it was left out", at: pairs.path)
          continue
        }
        var constraint = EdmReferentialConstraint(property: pair.name, referencedProperty: referenced)
        constraint.annotations = pair.annotations
        property.referentialConstraints.append(constraint)
      }
    }
    if let action = object.string("$OnDelete", &self) {
      property.onDelete = EdmOnDelete(action: action)
      property.onDelete?.annotations = object.controlAnnotations["$OnDelete"] ?? []
    }
    property.annotations = object.annotations + child.annotations
    property.foreignAttributes = object.rest(&self)
    return property
  }

  mutating func enumType(_ name: String, _ content: CSDLJSONObject, in namespace: String) -> EdmEnumType {
    var object = content
    var type = EdmEnumType(namespace: namespace, name: name)
    if let text = object.string("$UnderlyingType", &self) {
      if case .primitive(let underlying) = EdmTypeReference(text) {
        type.underlyingType = underlying
      } else {
        report(.invalidValue, "\(text) is not an integer type; Edm.Int32 is used", at: object.path)
      }
    }
    type.isFlags = object.bool("$IsFlags", &self) ?? false
    for child in object.children {
      let value = child.value.text.flatMap { Int64($0) }
      if value == nil {
        report(.invalidValue, "the value is not a 64-bit integer", at: object.path + "/" + child.name)
      }
      var member = EdmEnumMember(name: child.name, value: value ?? type.nextMemberValue)
      member.annotations = child.annotations
      type.members.append(member)
    }
    type.annotations = object.annotations
    type.foreignAttributes = object.rest(&self)
    return type
  }

  mutating func typeDefinition(
    _ name: String, _ content: CSDLJSONObject, in namespace: String
  ) -> EdmTypeDefinition {
    var object = content
    var definition = EdmTypeDefinition(namespace: namespace, name: name, underlyingType: .string)
    let text = object.string("$UnderlyingType", &self)
    if let text, case .primitive(let underlying) = EdmTypeReference(text) {
      definition.underlyingType = underlying
    } else {
      report(.invalidValue, "\(text ?? "nothing") is not a primitive type; Edm.String is used", at: object.path)
    }
    definition.facets = object.facets(of: .primitive(definition.underlyingType), &self)
    definition.annotations = object.annotations
    definition.foreignAttributes = object.rest(&self)
    return definition
  }

  mutating func term(_ name: String, _ content: CSDLJSONObject, in namespace: String) -> EdmTerm {
    var object = content
    var term = EdmTerm(namespace: namespace, name: name, type: object.type(&self))
    term.nullable = object.bool("$Nullable", &self) ?? false
    term.facets = object.facets(of: term.type, &self)
    term.baseTerm = object.string("$BaseTerm", &self)
    term.defaultValue = object.string("$DefaultValue", &self)
    term.appliesTo = object.items("$AppliesTo", &self).compactMap { item in
      if item.string == nil { report(.invalidValue, "an item of $AppliesTo is not a string", at: object.path) }
      return item.string
    }
    term.annotations = object.annotations
    term.foreignAttributes = object.rest(&self)
    return term
  }
}
