import LarderOData

/// A value of a payload for one cell: a collection, a complex value stored as JSON, or an undeclared property.
struct ValueTree {
  /// An open complex value or collection. It grows in place, because taking it out of the array would copy it each
  /// time.
  private struct Frame {
    let isComplex: Bool
    let name: String?
    var complex = ODataComplexValue()
    var values: [ODataValue] = []
  }

  private var frames: [Frame] = []

  var isOpen: Bool { !frames.isEmpty }
  var depth: Int { frames.count }

  /// Discards all open values.
  mutating func removeAll() { frames.removeAll() }

  mutating func beginComplex(_ name: String?) { frames.append(Frame(isComplex: true, name: name)) }
  mutating func beginValues(_ name: String?) { frames.append(Frame(isComplex: false, name: name)) }

  mutating func setType(_ name: String) {
    guard let top = frames.indices.last, frames[top].isComplex else { return }
    frames[top].complex.typeName = name
  }

  /// Adds a value to the open one.
  mutating func add(_ value: ODataValue, _ name: String?) {
    guard let top = frames.indices.last else { return }
    if !frames[top].isComplex {
      frames[top].values.append(value)
    } else if let name {
      frames[top].complex.properties.append(ODataProperty(name, value))
    }
  }

  /// Ends the open value. Returns the whole value if this was the outermost one.
  mutating func end() -> ODataValue? {
    guard let last = frames.popLast() else { return nil }
    let value: ODataValue = last.isComplex ? .complex(last.complex) : .collection(last.values)
    if frames.isEmpty { return value }
    add(value, last.name)
    return nil
  }
}
