internal import LarderOData

// A model as one JSON document: every element, keys in camel case as CSDL names them, in the document's order.
extension JSONOutput {
  /// Writes the complete model. Written parts are removed from memory as it proceeds.
  mutating func write(_ model: EdmModel) throws(OutputError) {
    beginObject()
    member("version", model.version.text)
    member("dataServiceVersion", model.dataServiceVersion)
    member("maxDataServiceVersion", model.maxDataServiceVersion)
    try member("references", model.references) { (json, reference) throws(OutputError) in try json.write(reference) }
    try member("schemas", model.schemas, always: true) { (json, schema) throws(OutputError) in
      try json.write(schema)
    }
    try member("diagnostics", model.diagnostics, always: true) { (json, diagnostic) in json.write(diagnostic) }
    endObject()
    try endLine()
  }

  private mutating func write(_ reference: EdmReference) throws(OutputError) {
    beginObject()
    member("uri", reference.uri)
    try member("includes", reference.includes) { (json, include) throws(OutputError) in try json.write(include) }
    try member("includeAnnotations", reference.includeAnnotations) { (json, include) in
      json.beginObject()
      json.member("termNamespace", include.termNamespace)
      json.member("qualifier", include.qualifier)
      json.member("targetNamespace", include.targetNamespace)
      json.endObject()
    }
    try end(reference)
  }

  private mutating func write(_ include: EdmInclude) throws(OutputError) {
    beginObject()
    member("namespace", include.namespace)
    member("alias", include.alias)
    try end(include)
  }

  private mutating func write(_ diagnostic: EdmDiagnostic) {
    beginObject()
    member("kind", diagnostic.kind.rawValue)
    member("message", diagnostic.message)
    member("line", diagnostic.location.line)
    member("column", diagnostic.location.column)
    member("path", diagnostic.location.path)
    endObject()
  }

  private mutating func write(_ schema: EdmSchema) throws(OutputError) {
    beginObject()
    member("namespace", schema.namespace)
    member("alias", schema.alias)
    try member("usings", schema.usings) { (json, using) throws(OutputError) in try json.write(using) }
    try member("entityTypes", schema.entityTypes) { (json, type) throws(OutputError) in try json.write(type) }
    try member("complexTypes", schema.complexTypes) { (json, type) throws(OutputError) in try json.write(type) }
    try member("enumTypes", schema.enumTypes) { (json, type) throws(OutputError) in try json.write(type) }
    try member("typeDefinitions", schema.typeDefinitions) { (json, type) throws(OutputError) in
      try json.write(type)
    }
    try member("associations", schema.associations) { (json, item) throws(OutputError) in try json.write(item) }
    try member("functions", schema.functions) { (json, function) throws(OutputError) in try json.write(function) }
    try member("actions", schema.actions) { (json, action) throws(OutputError) in try json.write(action) }
    try member("terms", schema.terms) { (json, term) throws(OutputError) in try json.write(term) }
    // V4 has one container. Earlier versions may have several: the default one takes the usual place.
    let main = schema.containers.firstIndex(where: \.isDefault) ?? schema.containers.startIndex
    if schema.containers.indices.contains(main) {
      name("entityContainer")
      try write(schema.containers[main])
    }
    let others = schema.containers.indices.filter { $0 != main }.map { schema.containers[$0] }
    try member("otherEntityContainers", others) { (json, container) throws(OutputError) in try json.write(container) }
    try member("annotationGroups", schema.annotationGroups) { (json, group) throws(OutputError) in
      json.beginObject()
      json.member("target", group.target)
      json.member("qualifier", group.qualifier)
      try json.writeAnnotations(group.annotations)
      json.endObject()
    }
    try end(schema)
  }

  /// Writes attributes of other namespaces and annotations, then the end of the element's object.
  mutating func end(_ element: some EdmElement) throws(OutputError) {
    if !element.foreignAttributes.isEmpty {
      name("attributes")
      beginObject()
      var writtenNames: Set<String> = []
      for attribute in element.foreignAttributes {
        let short = attribute.shortName
        let isNew = writtenNames.insert(short).inserted
        member(isNew ? short : "{\(attribute.namespace)}\(attribute.name)", attribute.value)
      }
      endObject()
    }
    try writeAnnotations(element.annotations)
    endObject()
  }
}

extension EdmForeignAttribute {
  /// The name with the prefix that is usual for the namespace, else the document's prefix.
  var shortName: String {
    switch namespace {
    case Self.sapNamespace: "sap:" + name
    case Self.metadataNamespace: "m:" + name
    default: prefix.isEmpty ? "{\(namespace)}\(name)" : prefix + ":" + name
    }
  }
}
