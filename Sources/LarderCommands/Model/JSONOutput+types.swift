internal import LarderOData

// Types of a model as JSON.
extension JSONOutput {
  mutating func write(_ type: EdmEntityType) throws(OutputError) {
    beginObject()
    member("name", type.name)
    member("baseType", type.baseType)
    member("abstract", type.isAbstract)
    member("openType", type.isOpen)
    member("hasStream", type.hasStream)
    try member("key", type.key, always: true) { (json, reference) in
      guard let alias = reference.alias else { return json.string(reference.path) }
      json.beginObject()
      json.member("name", reference.path)
      json.member("alias", alias)
      json.endObject()
    }
    try writeMembers(type)
    try writeFeedMappings(type.feedMappings)
    try end(type)
  }

  mutating func write(_ type: EdmComplexType) throws(OutputError) {
    beginObject()
    member("name", type.name)
    member("baseType", type.baseType)
    member("abstract", type.isAbstract)
    member("openType", type.isOpen)
    try writeMembers(type)
    try end(type)
  }

  private mutating func writeMembers(_ type: some EdmStructuredType) throws(OutputError) {
    try member("properties", type.properties, always: true) { (json, property) throws(OutputError) in
      try json.write(property)
    }
    try member("navigationProperties", type.navigationProperties, always: true) {
      (json, property) throws(OutputError) in try json.write(property)
    }
  }

  private mutating func write(_ property: EdmProperty) throws(OutputError) {
    beginObject()
    member("name", property.name)
    member("type", property.type.description)
    member("nullable", property.isNullable)
    writeFacets(property.facets)
    member("defaultValue", property.defaultValue)
    member("concurrencyMode", property.concurrencyMode?.rawValue)
    member("collectionKind", property.collectionKind)
    try writeFeedMappings(property.feedMappings)
    try end(property)
  }

  private mutating func write(_ property: EdmNavigationProperty) throws(OutputError) {
    beginObject()
    member("name", property.name)
    member("type", property.type.description)
    member("nullable", property.isNullable)
    member("multiplicity", property.multiplicity.rawValue)
    member("partner", property.partner)
    member("containsTarget", property.containsTarget)
    try member("referentialConstraints", property.referentialConstraints) {
      (json, constraint) throws(OutputError) in
      json.beginObject()
      json.member("property", constraint.property)
      json.member("referencedProperty", constraint.referencedProperty)
      try json.end(constraint)
    }
    try member("onDelete", property.onDelete)
    if let relationship = property.relationship {
      member("relationship", relationship.association)
      member("fromRole", relationship.fromRole)
      member("toRole", relationship.toRole)
    }
    try end(property)
  }

  mutating func member(_ name: String, _ onDelete: EdmOnDelete?) throws(OutputError) {
    guard let onDelete else { return }
    self.name(name)
    beginObject()
    member("action", onDelete.action)
    try end(onDelete)
  }

  mutating func writeFacets(_ facets: EdmFacets) {
    switch facets.maxLength {
    case .limit(let length): member("maxLength", length)
    case .max: member("maxLength", "max")
    case nil: break
    }
    member("precision", facets.precision)
    switch facets.scale {
    case .digits(let digits): member("scale", digits)
    case .variable: member("scale", "variable")
    case .floating: member("scale", "floating")
    case nil: break
    }
    member("unicode", facets.isUnicode)
    switch facets.srid {
    case .reference(let number): member("srid", number)
    case .variable: member("srid", "variable")
    case nil: break
    }
    member("fixedLength", facets.isFixedLength)
    member("collation", facets.collation)
  }

  private mutating func writeFeedMappings(_ mappings: [EdmFeedMapping]) throws(OutputError) {
    try member("feedMappings", mappings) { (json, mapping) in
      json.beginObject()
      json.member("sourcePath", mapping.sourcePath)
      json.member("targetPath", mapping.targetPath)
      json.member("keepInContent", mapping.keepsInContent)
      json.member("contentKind", mapping.contentKind)
      json.member("nsPrefix", mapping.namespacePrefix)
      json.member("nsUri", mapping.namespaceURI)
      json.endObject()
    }
  }

  mutating func write(_ type: EdmEnumType) throws(OutputError) {
    beginObject()
    member("name", type.name)
    member("underlyingType", type.underlyingType.qualifiedName)
    member("isFlags", type.isFlags)
    try member("members", type.members, always: true) { (json, item) throws(OutputError) in
      json.beginObject()
      json.member("name", item.name)
      json.member("value", item.value)
      try json.end(item)
    }
    try end(type)
  }

  mutating func write(_ type: EdmTypeDefinition) throws(OutputError) {
    beginObject()
    member("name", type.name)
    member("underlyingType", type.underlyingType.qualifiedName)
    writeFacets(type.facets)
    try end(type)
  }

  mutating func write(_ association: EdmAssociation) throws(OutputError) {
    beginObject()
    member("name", association.name)
    try member("ends", association.ends, always: true) { (json, end) throws(OutputError) in
      json.beginObject()
      json.member("role", end.role)
      json.member("type", end.type)
      json.member("multiplicity", end.multiplicity.rawValue)
      try json.member("onDelete", end.onDelete)
      try json.end(end)
    }
    if let constraint = association.referentialConstraint {
      name("referentialConstraint")
      beginObject()
      try writeEnd("principal", constraint.principalRole, constraint.principalProperties)
      try writeEnd("dependent", constraint.dependentRole, constraint.dependentProperties)
      try end(constraint)
    }
    try end(association)
  }

  private mutating func writeEnd(_ name: String, _ role: String, _ properties: [String]) throws(OutputError) {
    self.name(name)
    beginObject()
    member("role", role)
    try member("propertyRefs", properties, always: true) { (json, property) in json.string(property) }
    endObject()
  }
}
