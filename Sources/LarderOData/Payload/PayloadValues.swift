// Converts the bytes of scalars to values.
extension PayloadScalar {
  /// Decodes the value by its type; without one, text stays text and numbers keep their digits.
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
  /// Converts any JSON value to data: numbers keep their digits, arrays become collections, objects complex values.
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
    var places: [String: Int] = [:]
    for member in members where !member.name.contains("@") {
      places[member.name] = properties.count
      properties.append(ODataProperty(member.name, try ODataValue(untyped: member.value)))
    }
    for member in members {
      guard let at = member.name.firstIndex(of: "@") else { continue }
      let value = try ODataValue(untyped: member.value)
      let (target, term) = (String(member.name[..<at]), String(member.name[member.name.index(after: at)...]))
      if case .string(let name) = value, target.isEmpty, term == "odata.type" || term == "type" {
        typeName = PayloadTypes.name(name)
      } else if let place = places[target] {
        properties[place].annotations.append(ODataAnnotation(term: term, value: value))
      } else {
        // An annotation of the value itself, or of an absent property.
        annotations.append(ODataAnnotation(term: target.isEmpty ? term : member.name, value: value))
      }
    }
  }
}
