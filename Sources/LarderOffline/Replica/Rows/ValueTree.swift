import LarderOData

/// A value of a payload that stands in one cell: a collection, a complex value as JSON, an undeclared property.
struct ValueTree {
  /// A complex value or a collection that is open. It grows in its place: taken out to grow, it would be copied each time.
  private struct Frame {
    let isComplex: Bool
    let name: String?
    var complex = ODataComplexValue()
    var values: [ODataValue] = []
  }

  private var frames: [Frame] = []

  var isOpen: Bool { !frames.isEmpty }

  mutating func beginComplex(_ name: String?) { frames.append(Frame(isComplex: true, name: name)) }
  mutating func beginValues(_ name: String?) { frames.append(Frame(isComplex: false, name: name)) }

  mutating func setType(_ name: String) {
    guard let top = frames.indices.last, frames[top].isComplex else { return }
    frames[top].complex.typeName = name
  }

  /// Adds a value to the one that is open.
  mutating func add(_ value: ODataValue, _ name: String?) {
    guard let top = frames.indices.last else { return }
    if !frames[top].isComplex {
      frames[top].values.append(value)
    } else if let name {
      frames[top].complex.properties.append(ODataProperty(name, value))
    }
  }

  /// Ends the value that is open; answers the whole one where it was the outermost.
  mutating func end() -> ODataValue? {
    guard let last = frames.popLast() else { return nil }
    let value: ODataValue = last.isComplex ? .complex(last.complex) : .collection(last.values)
    if frames.isEmpty { return value }
    add(value, last.name)
    return nil
  }
}
