internal import LarderOData

/// A JSON writer that streams its output: written text is removed from memory in portions.
///
/// The output is indented by two spaces for people, or on one line. The caller must nest properly: every begin has its
/// end, and a member's name comes before its value.
struct JSONOutput {
  /// The model that gives payload values their declared types; nil shows only what the values contain.
  var model: EdmModel?
  private let port: OutputPort
  private let isIndented: Bool
  private var bytes: [UInt8] = []
  private var depth = 0
  private var isFirst = true
  private var isAfterName = false

  /// Creates a writer for a port. The output is indented on a terminal, unless `isIndented` says otherwise.
  init(_ port: OutputPort, isIndented: Bool? = nil) {
    self.port = port
    self.isIndented = isIndented ?? port.isTerminal
  }

  mutating func beginObject() { open(UInt8(ascii: "{")) }
  mutating func endObject() { close(UInt8(ascii: "}")) }
  mutating func beginArray() { open(UInt8(ascii: "[")) }
  mutating func endArray() { close(UInt8(ascii: "]")) }

  /// Writes a member's name.
  mutating func name(_ name: String) {
    separate()
    appendString(name)
    bytes.append(UInt8(ascii: ":"))
    if isIndented { bytes.append(0x20) }
    isAfterName = true
  }

  mutating func string(_ text: String) {
    separate()
    appendString(text)
  }

  mutating func boolean(_ flag: Bool) { raw(flag ? "true" : "false") }
  mutating func null() { raw("null") }
  mutating func integer(_ number: some BinaryInteger) { raw(String(number)) }

  /// Writes the characters of a number or word unchanged.
  mutating func raw(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
  }

  /// Writes the characters of a value unchanged.
  mutating func raw(_ text: UnsafeBufferPointer<UInt8>) {
    separate()
    bytes.append(contentsOf: text)
  }

  /// Writes a member's name whose characters come from between the quotes of other JSON.
  mutating func rawName(_ text: UnsafeBufferPointer<UInt8>) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: text)
    bytes.append(contentsOf: isIndented ? "\": ".utf8 : "\":".utf8)
    isAfterName = true
  }

  /// Writes a string whose characters come from between the quotes of other JSON.
  mutating func rawString(_ text: UnsafeBufferPointer<UInt8>) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: text)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes the buffered text to the port, if there is enough of it.
  mutating func drain() throws(OutputError) { if bytes.count >= 1 << 16 { try flush() } }

  /// Writes all buffered text to the port.
  mutating func flush() throws(OutputError) {
    try port.write(bytes)
    bytes.removeAll(keepingCapacity: true)
  }

  /// Writes a line feed, then all buffered text to the port.
  mutating func endLine() throws(OutputError) {
    bytes.append(0x0A)
    isFirst = true
    try flush()
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    depth += 1
    isFirst = true
  }

  private mutating func close(_ bracket: UInt8) {
    depth = max(depth - 1, 0)
    if isIndented, !isFirst { newLine() }
    bytes.append(bracket)
    isFirst = false
  }

  private mutating func separate() {
    if isAfterName {
      isAfterName = false
      return
    }
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    if isIndented, depth > 0 { newLine() }
    isFirst = false
  }

  private mutating func newLine() {
    bytes.append(0x0A)
    for _ in 0..<depth { bytes.append(contentsOf: [0x20, 0x20]) }
  }

  private mutating func appendString(_ text: String) {
    var writer = JSONWriter()
    writer.string(text)
    bytes.append(contentsOf: writer.bytes)
  }
}

// Writes members with a value; members without one are left out.
extension JSONOutput {
  mutating func member(_ name: String, _ text: String?) {
    guard let text else { return }
    self.name(name)
    string(text)
  }

  mutating func member(_ name: String, _ flag: Bool?) {
    guard let flag else { return }
    self.name(name)
    boolean(flag)
  }

  mutating func member(_ name: String, _ number: (some BinaryInteger)?) {
    guard let number else { return }
    self.name(name)
    integer(number)
  }

  /// Writes an array member, which is left out if it is empty, unless `always` is true.
  mutating func member<Item>(
    _ name: String, _ items: [Item], always: Bool = false,
    _ write: (inout JSONOutput, Item) throws(OutputError) -> Void
  ) throws(OutputError) {
    guard always || !items.isEmpty else { return }
    self.name(name)
    beginArray()
    for item in items {
      try write(&self, item)
      try drain()
    }
    endArray()
  }
}
