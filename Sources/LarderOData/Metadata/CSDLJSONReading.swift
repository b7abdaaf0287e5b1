/// The state while a CSDL JSON document is read: the document itself, references, schemas (CSDL JSON 4.01 §3 to §5).
struct CSDLJSONReading {
  private(set) var diagnostics: [EdmDiagnostic] = []

  mutating func report(_ kind: EdmDiagnostic.Kind, _ message: String, at path: String) {
    diagnostics.append(EdmDiagnostic(kind, message, at: MetadataLocation(path: path)))
  }

  /// The members of an object, each name once. Reports a diagnostic for each repeated name.
  mutating func distinct(_ members: [JSONNode.Member], at path: String) -> [JSONNode.Member] {
    var names: Set<String> = []
    return members.filter { member in
      if names.insert(member.name).inserted { return true }
      report(.duplicateName, "\(member.name) occurs twice in this object; the first one is used", at: path)
      return false
    }
  }

  /// The members of a value that must be an object; nil, with a diagnostic, if it is not.
  mutating func object(_ value: JSONNode, at path: String) -> CSDLJSONObject? {
    if let members = value.members { return CSDLJSONObject(members, path: path, &self) }
    report(.invalidValue, "expected an object; the value was ignored", at: path)
    return nil
  }

  mutating func document(_ members: [JSONNode.Member]) -> EdmModel {
    var object = CSDLJSONObject(members, path: "", &self)
    let text = object.string("$Version", &self)
    if text != "4.0", text != "4.01" {
      report(.unusualForm, "$Version \"\(text ?? "")\" is not known; 4.01 is used", at: "/$Version")
    }
    let container = object.string("$EntityContainer", &self)
    let references = object.take("$Reference").map { self.references($0) } ?? []
    _ = object.rest(&self)
    var schemas: [EdmSchema] = []
    for child in object.children {
      let path = "/" + child.name
      guard let content = self.object(child.value, at: path) else { continue }
      schemas.append(schema(child.name, content))
    }
    if let container {
      let names = EdmNames(schemas: schemas, references: references)
      markDefault(names.resolve(container), in: &schemas)
    }
    return EdmModel(
      version: text == "4.0" ? .v4 : .v401, references: references, schemas: schemas, diagnostics: diagnostics)
  }

  private mutating func markDefault(_ name: String, in schemas: inout [EdmSchema]) {
    for schema in schemas.indices {
      for place in schemas[schema].containers.indices
      where schemas[schema].containers[place].qualifiedName == name {
        schemas[schema].containers[place].isDefault = true
        return
      }
    }
    report(.unresolvedName, "the container \(name) is not declared in the document", at: "/$EntityContainer")
  }

  // MARK: References (§4)

  private mutating func references(_ value: JSONNode) -> [EdmReference] {
    guard let members = value.members else {
      report(.invalidValue, "expected an object; the value was ignored", at: "/$Reference")
      return []
    }
    // The names here are URIs, which may contain an @: they are not split.
    return distinct(members, at: "/$Reference").compactMap { member in
      let path = "/$Reference/" + member.name
      guard var object = self.object(member.value, at: path) else { return nil }
      var reference = EdmReference(uri: member.name)
      for item in object.items("$Include", &self) {
        guard var include = self.object(item, at: path + "/$Include") else { continue }
        guard let namespace = include.string("$Namespace", &self) else {
          report(.missingAttribute, "an include has no $Namespace; it was left out", at: path)
          continue
        }
        var taken = EdmInclude(namespace: namespace, alias: include.string("$Alias", &self))
        taken.annotations = include.annotations
        taken.foreignAttributes = include.rest(&self)
        reference.includes.append(taken)
      }
      for item in object.items("$IncludeAnnotations", &self) {
        guard var include = self.object(item, at: path + "/$IncludeAnnotations") else { continue }
        guard let namespace = include.string("$TermNamespace", &self) else {
          report(.missingAttribute, "an include has no $TermNamespace; it was left out", at: path)
          continue
        }
        reference.includeAnnotations.append(
          EdmIncludeAnnotations(
            termNamespace: namespace, qualifier: include.string("$Qualifier", &self),
            targetNamespace: include.string("$TargetNamespace", &self)))
        _ = include.rest(&self)
      }
      reference.annotations = object.annotations
      reference.foreignAttributes = object.rest(&self)
      return reference
    }
  }

  // MARK: Schemas (§5)

  private mutating func schema(_ namespace: String, _ content: CSDLJSONObject) -> EdmSchema {
    var object = content
    var schema = EdmSchema(namespace: namespace, alias: object.string("$Alias", &self))
    for group in object.members("$Annotations", &self) {
      let path = object.path + "/$Annotations/" + group.name
      guard let content = self.object(group.value, at: path) else { continue }
      _ = content.rest(&self)
      schema.annotationGroups.append(EdmAnnotationGroup(target: group.name, annotations: content.annotations))
    }
    schema.annotations = object.annotations
    schema.foreignAttributes = object.rest(&self)
    for child in object.children {
      let path = object.path + "/" + child.name
      if let overloads = child.value.items {
        for overload in overloads { readOperation(child.name, overload, at: path, into: &schema) }
      } else if let content = self.object(child.value, at: path) {
        declaration(child.name, content, into: &schema)
      }
    }
    return schema
  }

  private mutating func declaration(_ name: String, _ content: CSDLJSONObject, into schema: inout EdmSchema) {
    var object = content
    let kind = object.string("$Kind", &self)
    switch kind {
    case "EntityType": schema.entityTypes.append(entityType(name, object, in: schema.namespace))
    case "ComplexType": schema.complexTypes.append(complexType(name, object, in: schema.namespace))
    case "EnumType": schema.enumTypes.append(enumType(name, object, in: schema.namespace))
    case "TypeDefinition": schema.typeDefinitions.append(typeDefinition(name, object, in: schema.namespace))
    case "Term": schema.terms.append(term(name, object, in: schema.namespace))
    case "EntityContainer": schema.containers.append(container(name, object, in: schema.namespace))
    case nil: report(.missingAttribute, "\(name) has no $Kind; it was ignored", at: object.path)
    case let kind?: report(.unknownElement, "$Kind \(kind) is not known; it was ignored", at: object.path)
    }
  }
}
