/// Writes JSON into bytes, in the order of the calls, and adds commas and colons. The text is compact, or indented by two
/// spaces.
///
/// The writer does not check that the calls nest properly: the caller must match every begin with an end, and write a
/// member's name before its value.
package struct JSONWriter {
  /// The bytes written so far.
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false
  private var isAfterName = false
  /// The number of open brackets; nil if the text is compact.
  private var depth: Int?

  /// Creates an empty writer.
  package init(isIndented: Bool = false) { depth = isIndented ? 0 : nil }

  /// Removes the bytes written so far, and keeps their memory. The text continues after them.
  package mutating func removeBytes() { bytes.removeAll(keepingCapacity: true) }

  /// Ends a text with a line feed; the next value begins a new text.
  package mutating func endLine() {
    bytes.append(0x0A)
    needsComma = false
  }

  /// `{`
  package mutating func beginObject() { open(UInt8(ascii: "{")) }
  /// `}`
  package mutating func endObject() { close(UInt8(ascii: "}")) }
  /// `[`
  package mutating func beginArray() { open(UInt8(ascii: "[")) }
  /// `]`
  package mutating func endArray() { close(UInt8(ascii: "]")) }

  /// A member's name and its colon.
  package mutating func name(_ name: String) {
    separate()
    quote(name)
    endName()
  }

  /// A member's name, with characters that come from between the quotes of other JSON.
  package mutating func rawName(_ text: UnsafeBufferPointer<UInt8>) {
    rawString(text)
    endName()
  }

  private mutating func endName() {
    bytes.append(UInt8(ascii: ":"))
    if depth != nil { bytes.append(0x20) }
    isAfterName = true
  }

  /// A string.
  package mutating func string(_ text: String) {
    separate()
    quote(text)
  }

  /// A string, with characters that come from between the quotes of other JSON.
  package mutating func rawString(_ text: UnsafeBufferPointer<UInt8>) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: text)
    bytes.append(UInt8(ascii: "\""))
  }

  /// `true` or `false`.
  package mutating func boolean(_ flag: Bool) { raw(flag ? "true" : "false") }
  /// `null`
  package mutating func null() { raw("null") }

  /// An integer.
  package mutating func integer(_ number: some BinaryInteger) { raw(String(number)) }

  /// Writes the characters of a number, or any JSON value, unchanged.
  package mutating func raw(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
  }

  /// Writes the bytes of any JSON value, unchanged.
  package mutating func raw(_ value: some Sequence<UInt8>) {
    separate()
    bytes.append(contentsOf: value)
  }

  /// Writes the bytes of any JSON value, unchanged.
  package mutating func raw(_ value: UnsafeBufferPointer<UInt8>) {
    separate()
    bytes.append(contentsOf: value)
  }

  /// A tree.
  package mutating func node(_ node: JSONNode) {
    switch node {
    case .null: null()
    case .boolean(let flag): boolean(flag)
    case .number(let text): raw(text)
    case .string(let text): string(text)
    case .array(let items):
      beginArray()
      for item in items { self.node(item) }
      endArray()
    case .object(let members):
      beginObject()
      for member in members {
        name(member.name)
        self.node(member.value)
      }
      endObject()
    }
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
    depth? += 1
  }

  private mutating func close(_ bracket: UInt8) {
    if let open = depth {
      depth = max(open - 1, 0)
      if needsComma { newLine() }
    }
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func separate() {
    if isAfterName {
      isAfterName = false
    } else {
      if needsComma { bytes.append(UInt8(ascii: ",")) }
      if let depth, depth > 0 { newLine() }
    }
    needsComma = true
  }

  private mutating func newLine() {
    bytes.append(0x0A)
    for _ in 0..<(depth ?? 0) { bytes.append(contentsOf: [0x20, 0x20]) }
  }

  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { text in
      let plain = JSONEscaping.plainPrefix(text)
      bytes.append(contentsOf: text[..<plain])
      if plain < text.count { JSONEscaping.escape(UnsafeBufferPointer(rebasing: text[plain...])) { bytes.append($0) } }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
