internal import LarderOData

/// One line of a file of changes: the resource to change, and how.
struct ChangeLine {
  /// The kinds of change, with the names of the verbs that make a single one.
  enum Verb: String, CaseIterable {
    case create, update, delete, link, unlink, action
  }

  /// The line number in the file, from 1.
  let number: Int
  let verb: Verb
  let path: String
  private(set) var name: String?
  private(set) var target: String?
  private(set) var content: [UInt8]?
  private(set) var replaces = false
  private(set) var ifMatch: String?
  private(set) var tag: String?

  /// Reads the lines of a file; skips empty ones.
  static func lines(_ bytes: [UInt8], displayName: String) throws -> [ChangeLine] {
    var lines: [ChangeLine] = []
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
    where line.contains(where: { $0 > 0x20 }) {
      do { lines.append(try ChangeLine(Array(line), number: index + 1)) } catch let error as JSONError {
        throw CommandFailure(.storage, "\(displayName):\(index + 1): \(error)", hint: "Each line is a JSON object.")
      } catch let problem as Problem {
        throw CommandFailure(.usage, "\(displayName):\(index + 1): \(problem.message)", hint: problem.hint)
      }
    }
    guard !lines.isEmpty else {
      throw CommandFailure(
        .usage, "\(displayName) contains no changes",
        hint: #"For example {"update": "Products(1)", "content": {"Price": 1.25}}"#)
    }
    return lines
  }

  private struct Problem: Error {
    let message: String
    var hint: String?
  }

  private static let optionalMembers = ["content", "to", "as", "replace", "ifMatch", "tag"]

  private init(_ bytes: [UInt8], number: Int) throws {
    guard case .object(let members) = try JSONNode(bytes) else {
      throw Problem(message: "a change must be a JSON object")
    }
    let verbs = members.filter { Verb(rawValue: $0.name) != nil }
    let verbNames = Verb.allCases.map(\.rawValue)
    guard verbs.count == 1, let verb = Verb(rawValue: verbs[0].name) else {
      if let other = members.first(where: { !Self.optionalMembers.contains($0.name) && Verb(rawValue: $0.name) == nil })
      {
        throw Problem(
          message: "there is no change named '\(other.name)'", hint: Suggestion.hint(for: other.name, among: verbNames))
      }
      throw Problem(message: "a change must have exactly one of \(verbNames.joined(separator: ", "))")
    }
    self.number = number
    self.verb = verb
    guard case .string(let path) = verbs[0].value, !path.isEmpty else {
      throw Problem(message: "'\(verb.rawValue)' must be a string with a path")
    }
    self.path = path
    for member in members where member.name != verb.rawValue { try readMember(member.name, member.value) }
    if verb == .link || verb == .unlink, target == nil {
      throw Problem(message: "'\(verb.rawValue)' needs \"to\" with the other entity")
    }
    if verb == .create || verb == .update, content == nil {
      throw Problem(message: "'\(verb.rawValue)' needs \"content\"")
    }
  }

  private mutating func readMember(_ name: String, _ value: JSONNode) throws {
    switch (name, verb) {
    case ("content", .create), ("content", .update), ("content", .action):
      var writer = JSONWriter()
      writer.node(value)
      content = writer.bytes
    case ("to", .link), ("to", .unlink): target = try text(value, name)
    case ("as", .create):
      let text = try text(value, name)
      guard !text.isEmpty, text.utf8.allSatisfy(Self.isNameByte) else {
        throw Problem(message: "\"as\" must consist of letters, digits and _")
      }
      self.name = text
    case ("replace", .update):
      guard case .boolean(let flag) = value else { throw Problem(message: "\"replace\" must be true or false") }
      replaces = flag
    case ("ifMatch", _) where verb != .create: ifMatch = try text(value, name)
    case ("tag", _): tag = try text(value, name)
    default:
      let isKnown = Self.optionalMembers.contains(name)
      throw Problem(
        message: isKnown ? "'\(verb.rawValue)' does not accept \"\(name)\"" : "a change does not accept \"\(name)\"",
        hint: isKnown ? nil : Suggestion.hint(for: name, among: Self.optionalMembers))
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private func text(_ value: JSONNode, _ name: String) throws -> String {
    guard case .string(let text) = value else { throw Problem(message: "\"\(name)\" must be a string") }
    return text
  }
}
