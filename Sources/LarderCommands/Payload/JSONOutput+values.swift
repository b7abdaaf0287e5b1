internal import LarderOData

// Writes values as JSON without loss: numbers keep their digits, other values their lexical form. Readers limit the
// depth of complex values, so recursion is safe.
extension JSONOutput {
  /// Writes a property: name, declared or detected type, value.
  ///
  /// `type` is the structured type that the property belongs to.
  mutating func write(_ property: ODataProperty, of type: String? = nil) throws(OutputError) {
    var declared = type.flatMap { model?.structure($0)?.property(property.name)?.type }
    if case .string(let typeName)? = property.annotations.first(where: { $0.term == "odata.type" })?.value {
      declared = EdmTypeReference(payload: typeName)
    }
    beginObject()
    member("name", property.name)
    member("type", property.value.typeLabel(declared: declared))
    name("value")
    try write(property.value, declared: declared)
    try writeAnnotations(property.annotations)
    endObject()
    try drain()
  }

  /// Writes a value alone; a complex value without a type name uses that of its declared type.
  mutating func write(_ value: ODataValue, declared: EdmTypeReference? = nil) throws(OutputError) {
    switch value {
    case .null: null()
    case .boolean(let flag): boolean(flag)
    case .string(let text), .enumeration(let text): string(text)
    case .collection(let items):
      beginArray()
      for item in items { try write(item, declared: declared?.item) }
      endArray()
    case .complex(let complex):
      let type = complex.typeName ?? declared?.name
      beginObject()
      member("type", type)
      try member("properties", complex.properties, always: true) { (json, property) throws(OutputError) in
        try json.write(property, of: type)
      }
      try writeAnnotations(complex.annotations)
      endObject()
    case .geo(let geo): string(geo.wellKnownText)
    default: writeScalar(value)
    }
    try drain()
  }

  mutating func writeScalar(_ value: ODataValue) {
    if let text = try? value.json(.v4(ieee754Compatible: false)) {
      raw(text)
    } else if let text = try? value.text() {
      // The value is an `Edm.DateTime`, for which V4's JSON has no form.
      string(text)
    } else {
      null()
    }
  }

  /// Writes instance annotations, which are left out if there are none.
  mutating func writeAnnotations(_ annotations: [ODataAnnotation]) throws(OutputError) {
    try member("annotations", annotations) { (json, annotation) throws(OutputError) in
      json.beginObject()
      json.member("term", annotation.term)
      json.name("value")
      try json.write(annotation.value)
      json.endObject()
    }
  }
}

extension EdmTypeReference {
  /// A type as payloads name it: `#Decimal`, `#Ns.Color`, `#Collection(String)`, or with the URL of a metadata document
  /// before the `#` (JSON Format 4.01 §4.6.3).
  fileprivate init(payload text: String) {
    self.init(text.firstIndex(of: "#").map { String(text[text.index(after: $0)...]) } ?? text)
  }
}

extension ODataValue {
  /// The type for people: the value's own, refined by the declared one; nil if neither states it.
  func typeLabel(declared: EdmTypeReference? = nil) -> String? {
    switch self {
    case .null: declared?.description
    case .enumeration: declared?.name ?? "enumeration"
    case .untypedNumber: "number"
    case .complex(let value): value.typeName ?? declared?.name ?? "complex"
    case .collection(let items):
      if let declared, declared.isCollection {
        declared.description
      } else {
        items.firstLabel.map { "Collection(\($0))" }
      }
    default: declared?.name ?? type?.qualifiedName
    }
  }
}

extension [ODataValue] {
  /// The label of the first item that has one. `lazy` would compute it twice, which doubles the work with each nested
  /// array.
  fileprivate var firstLabel: String? {
    for item in self { if let label = item.typeLabel() { return label } }
    return nil
  }
}
