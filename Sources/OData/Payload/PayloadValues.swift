// Where bytes become values: the one place that payload reading and the scalars' own spellings meet.

struct PayloadValueError: Error { let description: String }

extension PayloadScalar {
  /// The value, decoded by its type; without one, text stays text and numbers keep their digits.
  package func value() throws -> ODataValue {
    switch kind {
    case .null: return .null
    case .true: return .boolean(true)
    case .false: return .boolean(false)
    case .string, .number: return .string(string)
    }
  }
}

extension ODataValue {
  init(untyped node: JSONNode) {
    switch node {
    case .null: self = .null
    case .boolean(let flag): self = .boolean(flag)
    case .number(let text): self = .string(text)
    case .string(let text): self = .string(text)
    case .array(let items): self = .collection(items.map(ODataValue.init(untyped:)))
    case .object(let members): self = .complex(ODataComplexValue(untyped: members))
    }
  }

  static func geo(_ node: JSONNode, type: EdmPrimitiveType, dialect: ODataDialect) throws -> ODataValue {
    ODataValue(untyped: node)
  }
}

extension ODataComplexValue {
  init(untyped members: [JSONNode.Member]) {
    self.init()
    for member in members {
      let value = ODataValue(untyped: member.value)
      switch (member.name, value) {
      case ("@odata.type", .string(let name)), ("@type", .string(let name)): typeName = PayloadTypes.name(name)
      case let (name, value) where name.hasPrefix("@"):
        annotations.append(ODataAnnotation(term: String(name.dropFirst()), value: value))
      case let (name, value): properties.append(ODataProperty(name, value))
      }
    }
  }
}
