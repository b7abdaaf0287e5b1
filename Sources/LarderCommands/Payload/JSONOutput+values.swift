internal import OData

// Values as JSON, exact: numbers keep their digits, everything else its lexical form. Readers bound the depth of
// complex values, so recursion is safe.
extension JSONOutput {
  /// A property: name, type as understood, value.
  mutating func write(_ property: ODataProperty) throws(OutputError) {
    beginObject()
    member("name", property.name)
    member("type", property.value.typeLabel)
    name("value")
    try write(property.value)
    try writeAnnotations(property.annotations)
    endObject()
    try drain()
  }

  /// A value alone.
  mutating func write(_ value: ODataValue) throws(OutputError) {
    switch value {
    case .null: null()
    case .boolean(let flag): boolean(flag)
    case .string(let text), .enumeration(let text): string(text)
    case .collection(let items):
      beginArray()
      for item in items { try write(item) }
      endArray()
    case .complex(let complex):
      beginObject()
      member("type", complex.typeName)
      try member("properties", complex.properties, always: true) { (json, property) throws(OutputError) in
        try json.write(property)
      }
      try writeAnnotations(complex.annotations)
      endObject()
    case .geo(let geo): string(geo.wellKnownText)
    default: writeScalar(value)
    }
    try drain()
  }

  private mutating func writeScalar(_ value: ODataValue) {
    if let text = try? value.json(.v4(ieee754Compatible: false)) {
      raw(text)
    } else if let text = try? value.text() {
      // `Edm.DateTime`, which V4's JSON has no form for.
      string(text)
    } else {
      null()
    }
  }

  /// Instance annotations, left out where there are none.
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

extension ODataValue {
  /// The type as understood, for people; nil for null.
  var typeLabel: String? {
    switch self {
    case .null: nil
    case .enumeration: "enumeration"
    case .untypedNumber: "number"
    case .complex(let value): value.typeName ?? "complex"
    case .collection(let items): "Collection(\(items.lazy.compactMap(\.typeLabel).first ?? ""))"
    default: type?.qualifiedName
    }
  }
}
