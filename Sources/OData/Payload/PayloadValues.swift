// Where bytes become values: the one place where payload reading meets the spellings of the scalar types.
extension PayloadScalar {
  /// The value, decoded by its type; without one, text stays text and numbers keep their digits.
  package func value() throws(ODataValueError) -> ODataValue {
    guard isEscaped else { return try value(bytes) }
    let plain = JSONText.unescape(bytes)
    let result: Result<ODataValue, ODataValueError> = plain.withUnsafeBufferPointer { bytes in
      do throws(ODataValueError) { return .success(try value(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private func value(_ bytes: UnsafeBufferPointer<UInt8>) throws(ODataValueError) -> ODataValue {
    let scalar: JSONScalar =
      switch kind {
      case .null: .null
      case .true: .boolean(true)
      case .false: .boolean(false)
      case .number: .number(bytes)
      case .string: .string(bytes)
      }
    switch type {
    case .untyped: return try ODataValue(json: scalar, type: nil, dialect: dialect)
    case .primitive(let type): return try ODataValue(json: scalar, type: type, dialect: dialect)
    case .enumeration: return try ODataValue(enumeration: scalar)
    }
  }
}

extension ODataValue {
  /// Any JSON value as data: numbers keep their digits, arrays become collections, objects complex values.
  package init(untyped node: JSONNode) throws(ODataValueError) {
    switch node {
    case .array(let items):
      var values: [ODataValue] = []
      values.reserveCapacity(items.count)
      for item in items { values.append(try ODataValue(untyped: item)) }
      self = .collection(values)
    case .object(let members): self = .complex(try ODataComplexValue(untyped: members))
    default: try self.init(json: node, type: nil, dialect: .v4)
    }
  }
}

extension ODataComplexValue {
  init(untyped members: [JSONNode.Member]) throws(ODataValueError) {
    self.init()
    for member in members {
      let value = try ODataValue(untyped: member.value)
      switch (member.name, value) {
      case ("@odata.type", .string(let name)), ("@type", .string(let name)): typeName = PayloadTypes.name(name)
      case (let name, let value) where name.hasPrefix("@"):
        annotations.append(ODataAnnotation(term: String(name.dropFirst()), value: value))
      case (let name, let value): properties.append(ODataProperty(name, value))
      }
    }
  }
}
