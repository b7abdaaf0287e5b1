internal import LarderOData

// Annotations and their expressions as JSON data: one member names the kind of expression and holds its operands.
// Readers limit the depth of expressions, so recursion is safe.
extension JSONOutput {
  mutating func writeAnnotations(_ annotations: [EdmAnnotation]) throws(OutputError) {
    try member("annotations", annotations) { (json, annotation) throws(OutputError) in
      json.beginObject()
      json.member("term", annotation.term)
      json.member("qualifier", annotation.qualifier)
      if let value = annotation.expression {
        json.name("value")
        try json.write(value)
      }
      try json.end(annotation)
    }
  }

  mutating func write(_ expression: EdmExpression) throws(OutputError) {
    if case .null = expression { return null() }
    var annotations: [EdmAnnotation] = []
    var bare = expression
    while case .annotated(let inner, let more) = bare {
      annotations += more
      bare = inner
    }
    beginObject()
    try writeContent(bare)
    try writeAnnotations(annotations)
    endObject()
  }

  private mutating func writeContent(_ expression: EdmExpression) throws(OutputError) {
    switch expression {
    case .constant(let kind, let text): writeConstant(kind, text)
    case .annotated(let inner, _): try writeContent(inner)
    case .null: member("null", true)
    case .path(let kind, let path): member(Self.key(kind.rawValue), path)
    case .operation(let operation, let operands): try member(Self.key(operation.rawValue), operands)
    case .conditional(let parts): try member("if", parts)
    case .collection(let items): try member("collection", items)
    case .apply(let function, let arguments):
      name("apply")
      beginObject()
      member("function", function)
      try member("arguments", arguments)
      endObject()
    case .cast(let type, let facets, let value): try writeTyped("cast", type: type, facets: facets, value: value)
    case .isOf(let type, let facets, let value): try writeTyped("isOf", type: type, facets: facets, value: value)
    case .labeledElement(let label, let value):
      name("labeledElement")
      beginObject()
      member("name", label)
      try writeValue(value)
      endObject()
    case .labeledElementReference(let label): member("labeledElementReference", label)
    case .record(let type, let values): try writeRecord(type, values)
    case .urlRef(let value):
      name("urlRef")
      if let value { try write(value) } else { null() }
    case .unknown(let element, let text):
      name("unknown")
      beginObject()
      member("element", element)
      member("text", text)
      endObject()
    }
  }

  /// Writes Booleans and 64-bit integers as JSON's own, everything else as the text in the document.
  private mutating func writeConstant(_ kind: EdmConstantKind, _ text: String) {
    let key = Self.key(kind.rawValue)
    let value = EdmAnnotationValue(.constant(kind, text))
    if let flag = value.bool {
      member(key, flag)
    } else if let number = value.int {
      member(key, number)
    } else {
      member(key, text)
    }
  }

  private mutating func writeTyped(
    _ key: String, type: EdmTypeReference, facets: EdmFacets, value: EdmExpression?
  ) throws(OutputError) {
    name(key)
    beginObject()
    member("type", type.description)
    writeFacets(facets)
    try writeValue(value)
    endObject()
  }

  private mutating func writeRecord(_ type: String?, _ values: [EdmPropertyValue]) throws(OutputError) {
    name("record")
    beginObject()
    member("type", type)
    try member("propertyValues", values, always: true) { (json, value) throws(OutputError) in
      json.beginObject()
      json.member("property", value.property)
      try json.writeValue(value.value)
      try json.end(value)
    }
    endObject()
  }

  private mutating func writeValue(_ value: EdmExpression?) throws(OutputError) {
    guard let value else { return }
    name("value")
    try write(value)
  }

  private mutating func member(_ name: String, _ expressions: [EdmExpression]) throws(OutputError) {
    try member(name, expressions, always: true) { (json, item) throws(OutputError) in try json.write(item) }
  }

  /// Converts the name of an expression to a key, for example `AnnotationPath` to `annotationPath`.
  private static func key(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }
}
