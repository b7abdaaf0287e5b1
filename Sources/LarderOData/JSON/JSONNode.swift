/// A JSON value as a tree, for the few places that need a whole value: documents of unknown shape, CSDL JSON.
///
/// Numbers keep their characters; members keep their order. Trees are no deeper than ``maximumDepth``, whatever the
/// scanner allows, so recursion over them is safe on the smallest thread stacks.
package indirect enum JSONNode: Sendable, Hashable {
  case null
  case boolean(Bool)
  /// The characters of a number, as written.
  case number(String)
  case string(String)
  case array([JSONNode])
  case object([Member])

  /// A name and a value.
  package struct Member: Sendable, Hashable {
    package var name: String
    package var value: JSONNode

    package init(_ name: String, _ value: JSONNode) {
      self.name = name
      self.value = value
    }
  }

  /// The depth to which arrays and objects may nest in a tree that is read.
  package static let maximumDepth = 128

  /// Reads a whole text. If a name occurs twice in one object, it throws, unless duplicate members are kept: then the
  /// object contains all of them, in their order.
  package init(
    _ bytes: [UInt8], limits: JSONLimits = JSONLimits(), keepsRepeatedNames: Bool = false
  ) throws(JSONError) {
    var scanner = JSONScanner(bytes, limits: limits)
    guard let token = try scanner.next() else {
      throw JSONError(.unexpectedEnd, offset: 0, line: 1, column: 1)
    }
    try self.init(token, &scanner, depth: 1, keepsRepeatedNames)
    _ = try scanner.next()
  }

  /// Reads the value that begins with a token. The scanner must have all its bytes.
  package init(_ token: JSONToken, _ scanner: inout JSONScanner) throws(JSONError) {
    try self.init(token, &scanner, depth: 1, false)
  }

  private init(
    _ token: JSONToken, _ scanner: inout JSONScanner, depth: Int, _ keepsRepeatedNames: Bool
  ) throws(JSONError) {
    let isNested = token.kind == .beginArray || token.kind == .beginObject
    guard !isNested || depth <= JSONNode.maximumDepth else {
      throw scanner.error(.tooDeep(limit: JSONNode.maximumDepth), at: token)
    }
    switch token.kind {
    case .null: self = .null
    case .true: self = .boolean(true)
    case .false: self = .boolean(false)
    case .number: self = .number(scanner.string(token))
    case .string, .name: self = .string(scanner.string(token))
    case .beginArray:
      var items: [JSONNode] = []
      while let next = try scanner.next(), next.kind != .endArray {
        items.append(try JSONNode(next, &scanner, depth: depth + 1, keepsRepeatedNames))
      }
      self = .array(items)
    case .beginObject: self = .object(try JSONNode.members(&scanner, depth: depth, keepsRepeatedNames))
    case .endArray, .endObject: throw scanner.error(.unexpectedEnd, at: token)
    }
  }

  private static func members(
    _ scanner: inout JSONScanner, depth: Int, _ keepsRepeatedNames: Bool
  ) throws(JSONError) -> [Member] {
    var members: [Member] = []
    var names: Set<String> = []
    while let token = try scanner.next(), token.kind == .name {
      let name = scanner.string(token)
      if !names.insert(name).inserted, !keepsRepeatedNames { throw scanner.error(.duplicateName(name), at: token) }
      guard let value = try scanner.next() else { throw scanner.error(.unexpectedEnd, at: token) }
      members.append(Member(name, try JSONNode(value, &scanner, depth: depth + 1, keepsRepeatedNames)))
    }
    return members
  }

  /// The member with a name; nil for other nodes and if there is none. Searches the members linearly.
  package subscript(name: String) -> JSONNode? {
    if case .object(let members) = self { members.first { $0.name == name }?.value } else { nil }
  }

  /// The text of a string; nil for other nodes.
  package var string: String? { if case .string(let text) = self { text } else { nil } }

  /// The items of an array; nil for other nodes.
  package var items: [JSONNode]? { if case .array(let items) = self { items } else { nil } }

  /// The members of an object; nil for other nodes.
  package var members: [Member]? { if case .object(let members) = self { members } else { nil } }

  /// The text of a string, number or boolean; nil for null, arrays and objects.
  package var text: String? {
    switch self {
    case .string(let text), .number(let text): text
    case .boolean(let flag): flag ? "true" : "false"
    case .null, .array, .object: nil
    }
  }
}
