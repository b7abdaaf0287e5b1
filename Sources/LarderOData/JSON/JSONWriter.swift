/// Writes compact JSON into bytes, in the order of the calls, and adds commas and colons.
///
/// The writer does not check that the calls nest properly: the caller must match every begin with an end, and write a
/// member's name before its value.
package struct JSONWriter {
  /// The bytes written so far.
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// Creates an empty writer.
  package init() {}

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
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// A string.
  package mutating func string(_ text: String) {
    separate()
    quote(text)
    needsComma = true
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
    needsComma = true
  }

  /// Writes the bytes of any JSON value, unchanged.
  package mutating func raw(_ value: some Sequence<UInt8>) {
    separate()
    bytes.append(contentsOf: value)
    needsComma = true
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
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func separate() { if needsComma { bytes.append(UInt8(ascii: ",")) } }

  /// Quotes a text. Escapes what RFC 8259 §7 demands; U+2028 and U+2029 are written unescaped.
  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
      case 0x0A: bytes.append(contentsOf: "\\n".utf8)
      case 0x0D: bytes.append(contentsOf: "\\r".utf8)
      case 0x09: bytes.append(contentsOf: "\\t".utf8)
      case 0x00..<0x20:
        bytes.append(contentsOf: byte < 0x10 ? "\\u000".utf8 : "\\u00".utf8)
        bytes.append(contentsOf: String(byte, radix: 16).utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
