/// The tokens of one JSON value, or of the members around a streamed array, in their order. The payload reader can go
/// back and forth in them. Offsets are into the reader's buffer.
struct JSONTape {
  struct Entry {
    let kind: JSONToken.Kind
    let isEscaped: Bool
    /// For names: the name's number in the reader's table, -1 until it is looked up.
    var name: Int32
    var start: UInt32
    /// For a complete value in brackets: the index after its closing bracket. For others: the end of its bytes.
    var end: UInt32
  }

  private(set) var entries: [Entry] = []
  private var open: [Int32] = []

  var count: Int { entries.count }
  var isEmpty: Bool { entries.isEmpty }

  subscript(index: Int) -> Entry {
    get { entries[index] }
    set { entries[index] = newValue }
  }

  /// Adds a token. The scanner keeps its offsets and the number of tokens below 2³¹.
  @inline(__always)
  mutating func append(_ token: JSONToken) {
    switch token.kind {
    case .beginObject, .beginArray: open.append(Int32(truncatingIfNeeded: entries.count))
    case .endObject, .endArray:
      if let begin = open.popLast() { entries[Int(begin)].end = UInt32(truncatingIfNeeded: entries.count + 1) }
    default: break
    }
    entries.append(
      Entry(
        kind: token.kind, isEscaped: token.isEscaped, name: -1, start: UInt32(truncatingIfNeeded: token.start),
        end: UInt32(truncatingIfNeeded: token.end)))
  }

  mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    open.removeAll(keepingCapacity: true)
  }

  mutating func setName(_ name: Int32, at index: Int) { entries[index].name = name }

  /// Returns the index after the value at an index.
  @inline(__always)
  func after(_ index: Int) -> Int {
    let entry = entries[index]
    return entry.kind == .beginObject || entry.kind == .beginArray ? Int(entry.end) : index + 1
  }

  /// Adjusts the offsets after `count` bytes were removed from the start of the buffer.
  mutating func advance(by count: Int) {
    let count = UInt32(truncatingIfNeeded: count)
    for index in entries.indices {
      entries[index].start &-= count
      if entries[index].kind != .beginObject, entries[index].kind != .beginArray { entries[index].end &-= count }
    }
  }

  /// The bytes of a scalar or name; empty for a bracket, whose `end` is not an offset.
  @inline(__always)
  func bytes(_ index: Int, in bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    let entry = entries[index]
    switch entry.kind {
    case .beginObject, .endObject, .beginArray, .endArray: return UnsafeBufferPointer(start: nil, count: 0)
    case .name, .string, .number, .true, .false, .null:
      return UnsafeBufferPointer(rebasing: bytes[Int(entry.start)..<Int(entry.end)])
    }
  }

  /// The text of a string, with escapes decoded; nil for other values.
  func text(_ index: Int, in bytes: UnsafeBufferPointer<UInt8>) -> String? {
    entries[index].kind == .string ? characters(index, in: bytes) : nil
  }

  /// The name of a member, with escapes decoded.
  func name(_ index: Int, in bytes: UnsafeBufferPointer<UInt8>) -> String { characters(index, in: bytes) }

  private func characters(_ index: Int, in bytes: UnsafeBufferPointer<UInt8>) -> String {
    JSONText.decode(self.bytes(index, in: bytes), isEscaped: entries[index].isEscaped)
  }

  /// Whether a name or string without escapes has exactly this text.
  func matches(_ index: Int, _ text: StaticString, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let tokenByteLimit = self.bytes(index, in: bytes)
    guard tokenByteLimit.count == text.utf8CodeUnitCount, !entries[index].isEscaped else { return false }
    for place in 0..<tokenByteLimit.count where tokenByteLimit[place] != text.utf8Start[place] { return false }
    return true
  }

  /// The text of a scalar, with escapes decoded; the JSON of another value.
  func rawText(_ index: Int, in bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    switch entries[index].kind {
    case .beginObject, .beginArray:
      let last = entries[Int(entries[index].end) - 1]
      return Array(bytes[Int(entries[index].start)..<Int(last.end)])
    default: return Array(characters(index, in: bytes).utf8)
    }
  }

  /// The value at an index as a tree, no deeper than the scanner's limit.
  func node(_ index: Int, in bytes: UnsafeBufferPointer<UInt8>) -> JSONNode {
    switch entries[index].kind {
    case .null, .endArray, .endObject: return .null
    case .true: return .boolean(true)
    case .false: return .boolean(false)
    case .number: return .number(characters(index, in: bytes))
    case .string, .name: return .string(characters(index, in: bytes))
    case .beginArray:
      var items: [JSONNode] = []
      var place = index + 1
      while entries[place].kind != .endArray {
        items.append(node(place, in: bytes))
        place = after(place)
      }
      return .array(items)
    case .beginObject:
      var members: [JSONNode.Member] = []
      var place = index + 1
      while entries[place].kind != .endObject {
        members.append(.init(name(place, in: bytes), node(place + 1, in: bytes)))
        place = after(place + 1)
      }
      return .object(members)
    }
  }

  /// The JSON path of the entry at an index, from the tape's first entry on, with a prefix before it.
  func path(_ target: Int, prefix: String, in bytes: UnsafeBufferPointer<UInt8>) -> String {
    var path = prefix
    var index = 0
    while index < min(target, count) {
      let entry = entries[index]
      switch entry.kind {
      case .beginObject, .beginArray:
        let inside = !isClosed(index) || Int(entry.end) > target
        guard inside else {
          index = Int(entry.end)
          continue
        }
        index += 1
        if entry.kind == .beginArray { index = item(containing: target, from: index, path: &path) }
      case .name:
        let value = index + 1
        guard value < count else { return path + step(index, in: bytes) }
        let next = isOpenBracket(value) ? (isClosed(value) ? Int(entries[value].end) : Int.max) : value + 1
        if target < next {
          path += step(index, in: bytes)
          index = value
        } else {
          index = next
        }
      default: index += 1
      }
    }
    if target < count, entries[target].kind == .name { path += step(target, in: bytes) }
    return path
  }

  private func item(containing target: Int, from first: Int, path: inout String) -> Int {
    var index = first
    var number = 0
    while index < count, entries[index].kind != .endArray {
      let next = isOpenBracket(index) ? (isClosed(index) ? Int(entries[index].end) : Int.max) : index + 1
      if target < next { break }
      index = next
      number += 1
    }
    path += "[\(number)]"
    return index
  }

  private func isOpenBracket(_ index: Int) -> Bool {
    entries[index].kind == .beginObject || entries[index].kind == .beginArray
  }

  private func isClosed(_ index: Int) -> Bool { !open.contains(Int32(truncatingIfNeeded: index)) }

  private func step(_ index: Int, in bytes: UnsafeBufferPointer<UInt8>) -> String {
    let name = name(index, in: bytes)
    let isPlain = name.utf8.allSatisfy {
      $0 == 0x5F || $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A || $0 >= 0x30 && $0 <= 0x39
    }
    return isPlain ? "." + name : "['" + name + "']"
  }
}
