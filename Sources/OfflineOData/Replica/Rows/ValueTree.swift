import OData

/// A value of a payload that stands in one cell: a collection, a complex value as JSON, an undeclared property.
struct ValueTree {
  private enum Frame {
    case complex(ODataComplexValue, name: String?)
    case values([ODataValue], name: String?)
  }

  private var frames: [Frame] = []

  var isOpen: Bool { !frames.isEmpty }

  mutating func beginComplex(_ name: String?) { frames.append(.complex(ODataComplexValue(), name: name)) }
  mutating func beginValues(_ name: String?) { frames.append(.values([], name: name)) }

  mutating func setType(_ name: String) {
    guard case .complex(var complex, let own)? = frames.last else { return }
    complex.typeName = name
    frames[frames.count - 1] = .complex(complex, name: own)
  }

  /// Adds a value to the one that is open.
  mutating func add(_ value: ODataValue, _ name: String?) {
    guard let last = frames.popLast() else { return }
    switch last {
    case .complex(var complex, let own):
      if let name { complex.properties.append(ODataProperty(name, value)) }
      frames.append(.complex(complex, name: own))
    case .values(var values, let own):
      values.append(value)
      frames.append(.values(values, name: own))
    }
  }

  /// Ends the value that is open; answers the whole one where it was the outermost.
  mutating func end() -> ODataValue? {
    guard let last = frames.popLast() else { return nil }
    let (value, name): (ODataValue, String?) =
      switch last {
      case .complex(let complex, let name): (.complex(complex), name)
      case .values(let values, let name): (.collection(values), name)
      }
    if frames.isEmpty { return value }
    add(value, name)
    return nil
  }
}
