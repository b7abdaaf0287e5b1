internal import LarderHTTP
internal import LarderOData

/// A ``JSONWriter`` that streams its output: written text is removed from memory in portions.
struct JSONOutput {
  /// The model that gives payload values their declared types; nil shows only what the values contain.
  var model: EdmModel?
  private let port: OutputPort
  private var json: JSONWriter

  /// Creates a writer for a port. The output is indented on a terminal, unless `isIndented` says otherwise.
  init(_ port: OutputPort, isIndented: Bool? = nil) {
    self.port = port
    json = JSONWriter(isIndented: isIndented ?? port.isTerminal)
  }

  mutating func beginObject() { json.beginObject() }
  mutating func endObject() { json.endObject() }
  mutating func beginArray() { json.beginArray() }
  mutating func endArray() { json.endArray() }
  /// Writes a member's name.
  mutating func name(_ name: String) { json.name(name) }
  mutating func string(_ text: String) { json.string(text) }
  mutating func boolean(_ flag: Bool) { json.boolean(flag) }
  mutating func null() { json.null() }
  mutating func integer(_ number: some BinaryInteger) { json.integer(number) }
  /// Writes the characters of a number or word unchanged.
  mutating func raw(_ text: String) { json.raw(text) }
  /// Writes the characters of a value unchanged.
  mutating func raw(_ text: UnsafeBufferPointer<UInt8>) { json.raw(text) }
  /// Writes a tree.
  mutating func node(_ node: JSONNode) { json.node(node) }
  /// Writes a member's name whose characters come from between the quotes of other JSON.
  mutating func rawName(_ text: UnsafeBufferPointer<UInt8>) { json.rawName(text) }
  /// Writes a string whose characters come from between the quotes of other JSON.
  mutating func rawString(_ text: UnsafeBufferPointer<UInt8>) { json.rawString(text) }

  /// Writes the buffered text to the port, if there is enough of it.
  mutating func drain() throws(OutputError) { if json.bytes.count >= 1 << 16 { try flush() } }

  /// Writes all buffered text to the port.
  mutating func flush() throws(OutputError) {
    try port.write(json.bytes)
    json.removeBytes()
  }

  /// Writes a line feed, then all buffered text to the port.
  mutating func endLine() throws(OutputError) {
    json.endLine()
    try flush()
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

  /// Writes header fields as an object: each name once, with its values joined.
  mutating func member(_ name: String, _ fields: HTTPFields) {
    self.name(name)
    beginObject()
    var writtenNames: Set<HTTPFieldName> = []
    for field in fields where writtenNames.insert(field.name).inserted {
      member(field.name.rawName, fields.values(of: field.name).joined(separator: ", "))
    }
    endObject()
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
