internal import LarderHTTP
internal import LarderOData

// Writes a payload of any version and format as one normalised JSON document.
extension JSONOutput {
  /// Writes the decoded payload, with its kind first.
  ///
  /// `url` is that of the request: it determines the type of a value that does not state it.
  mutating func write(_ payload: ODataPayload, url: String? = nil) throws(OutputError) {
    try writeObject(payload, url: url)
    try endLine()
  }

  /// Writes a response whose status says more than its content; `payload` is the content, if there is one.
  mutating func write(
    _ recorded: RecordedPayload, kind: String, payload: ODataPayload?, url: String?
  ) throws(OutputError) {
    beginObject()
    member("kind", kind)
    member("status", recorded.status)
    member("location", recorded.fields[.location])
    member("entityID", recorded.fields["OData-EntityId"] ?? recorded.fields["DataServiceId"])
    member("etag", recorded.fields[.etag])
    member("retryAfter", recorded.fields[.retryAfter])
    member("contentRange", recorded.fields["Content-Range"])
    if let payload {
      name("content")
      try writeObject(payload, url: url)
    }
    endObject()
    try endLine()
  }

  private mutating func writeObject(_ payload: ODataPayload, url: String?) throws(OutputError) {
    beginObject()
    switch payload {
    case .entity(let entity):
      member("kind", "entity")
      try writeContent(entity)
    case .collection(let collection):
      member("kind", "collection")
      try writeContent(collection)
    case .property(let property): try writeContent(property, type(of: property, url))
    case .reference(let reference):
      member("kind", "reference")
      member("id", reference.id)
      try writeAnnotations(reference.annotations)
    case .references(let references): try writeContent(references)
    case .count(let count):
      member("kind", "count")
      member("count", count)
    case .delta(let delta):
      member("kind", "delta")
      try writeContent(delta)
    case .serviceDocument(let document): try writeContent(document)
    case .error(let error): try writeContent(error)
    }
    endObject()
  }

  /// The type that the payload states, or to which its context's path or its URL leads.
  private func type(of property: ODataPropertyPayload, _ url: String?) -> EdmTypeReference? {
    if let typeName = property.typeName { return EdmTypeReference(typeName) }
    guard let model else { return nil }
    if let context = property.context, let hash = context.firstIndex(of: "#"),
      let shape = ResourceShape(path: String(context[context.index(after: hash)...]), model: model),
      shape.kind == .property
    {
      return shape.type
    }
    guard let shape = url.flatMap({ ResourceShape(url: $0, model: model) }), shape.kind == .property else { return nil }
    return shape.type
  }

  private mutating func writeContent(
    _ property: ODataPropertyPayload, _ type: EdmTypeReference?
  ) throws(OutputError) {
    member("kind", "property")
    member("context", property.context)
    member("name", property.name)
    member("type", property.typeName ?? property.value.typeLabel(declared: type))
    member("count", property.count)
    member("nextLink", property.nextLink)
    name("value")
    try write(property.value, declared: type)
    try writeAnnotations(property.annotations)
  }

  private mutating func writeContent(_ references: ODataReferenceCollection) throws(OutputError) {
    member("kind", "references")
    member("context", references.context)
    member("count", references.count)
    member("nextLink", references.nextLink)
    try member("references", references.references, always: true) { (json, reference) throws(OutputError) in
      json.beginObject()
      json.member("id", reference.id)
      try json.writeAnnotations(reference.annotations)
      json.endObject()
    }
    try writeAnnotations(references.annotations)
  }

  private mutating func writeContent(_ document: ODataServiceDocument) throws(OutputError) {
    member("kind", "serviceDocument")
    member("context", document.context)
    try member("elements", document.elements, always: true) { (json, element) throws(OutputError) in
      json.beginObject()
      json.member("name", element.name)
      switch element.kind {
      case .entitySet: json.member("kind", "entitySet")
      case .singleton: json.member("kind", "singleton")
      case .functionImport: json.member("kind", "functionImport")
      case .serviceDocument: json.member("kind", "serviceDocument")
      case .other(let kind): json.member("kind", kind)
      }
      json.member("url", element.url)
      json.member("title", element.title)
      try json.writeAnnotations(element.annotations)
      json.endObject()
    }
    try writeAnnotations(document.annotations)
  }

  private mutating func writeContent(_ error: ODataErrorPayload) throws(OutputError) {
    member("kind", "error")
    member("code", error.code)
    member("message", error.message)
    member("messageLanguage", error.messageLanguage)
    member("target", error.target)
    try member("details", error.details) { (json, detail) throws(OutputError) in
      json.beginObject()
      json.member("code", detail.code)
      json.member("message", detail.message)
      json.member("target", detail.target)
      json.member("severity", detail.severity?.label)
      json.member("longTextURL", detail.longTextURL)
      try json.writeAnnotations(detail.annotations)
      json.endObject()
    }
    if let inner = error.innerError {
      name("innerError")
      try write(inner)
    }
    member("transactionID", error.transactionID)
    try member("errorResolution", error.errorResolution) { (json, property) throws(OutputError) in
      try json.write(property)
    }
    try writeAnnotations(error.annotations)
  }

  /// Writes a message of a `sap-message(s)` header.
  mutating func write(_ message: ODataMessage) throws(OutputError) {
    beginObject()
    member("code", message.code)
    member("message", message.text)
    member("severity", message.severity?.label)
    member("target", message.target)
    try member("additionalTargets", message.additionalTargets) { (json, target) in json.string(target) }
    member("transition", message.isTransition ? true : nil)
    member("longTextURL", message.longTextURL)
    try member("details", message.details) { (json, detail) throws(OutputError) in try json.write(detail) }
    endObject()
  }
}

extension ODataMessage.Severity {
  /// The severity as a word.
  var label: String {
    switch self {
    case .success: "success"
    case .info: "info"
    case .warning: "warning"
    case .error: "error"
    case .other(let text): text
    }
  }
}
