internal import LarderHTTP
internal import LarderOData

/// The readable form of a batch.
///
///     # a comment
///     GET Products?$top=2
///     ---
///     changeset {
///     POST Products
///     Content-ID: 1
///
///     {"Name": "Chai"}
///     ---
///     DELETE Products(7)
///     If-Match: *
///     }
///
/// A block is a request line, header lines, and after an empty line the content. A line `---` separates blocks.
/// `changeset {` opens a change set and a line `}` closes it, unless it ends JSON content.
struct BatchText {
  /// One request as the file has it.
  struct Request: Hashable, Sendable {
    var method: HTTPMethod
    var path: String
    var fields = HTTPFields()
    var content: [UInt8] = []
    var line: Int
  }

  /// One part of the batch.
  enum Part: Hashable, Sendable {
    case single(Request)
    case changeSet([Request])
  }

  /// An error in a line of the file.
  struct Problem: Error, Hashable, CustomStringConvertible {
    let line: Int
    let reason: String
    var description: String { "line \(line): \(reason)" }
  }

  private enum Section { case between, fields, content }

  private var parts: [Part] = []
  private var changeSet: [Request]?
  private var request: Request?
  private var section = Section.between
  private var json: JSONScanner?
  private var lineNumber = 0

  /// Reads a complete text.
  static func read(_ bytes: [UInt8]) throws(Problem) -> [Part] {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Problem(line: 1, reason: "the file is not UTF-8 text")
    }
    var reader = BatchText()
    // Swift counts a CR LF pair as one character.
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
      reader.lineNumber += 1
      try reader.read(String(line))
    }
    return try reader.end()
  }

  private mutating func read(_ line: String) throws(Problem) {
    if section == .content, let isIncomplete = isJSONIncomplete(), isIncomplete { return addContent(line) }
    switch line.trimmed {
    case "---": finishRequest()
    case "}" where changeSet != nil: try closeChangeSet()
    case "}" where section != .content: throw problem("} without a change set")
    case "changeset {" where section != .content || changeSet == nil && request == nil: try openChangeSet()
    default:
      switch section {
      case .between: try readRequestLine(line)
      case .fields: try readField(line)
      case .content: addContent(line)
      }
    }
  }

  private mutating func readRequestLine(_ line: String) throws(Problem) {
    let text = line.trimmed
    if text.isEmpty || text.hasPrefix("#") { return }
    let words = text.split(separator: " ", maxSplits: 1)
    let method = words.first.map(String.init) ?? ""
    guard words.count == 2, ["GET", "POST", "PUT", "PATCH", "MERGE", "DELETE"].contains(method) else {
      let hint = Suggestion.hint(for: method, among: ["GET", "POST", "PUT", "PATCH", "MERGE", "DELETE"])
      throw problem(
        "'\(TerminalText.line(text))' is not a request line, such as GET Products(1)" + (hint.map { ". " + $0 } ?? ""))
    }
    if changeSet != nil, method == "GET" { throw problem("a change set must not contain GET") }
    request = Request(method: HTTPMethod(rawValue: method), path: String(words[1]).trimmed, line: lineNumber)
    section = .fields
  }

  private mutating func readField(_ line: String) throws(Problem) {
    guard !line.trimmed.isEmpty else {
      section = .content
      json = nil
      return
    }
    guard let colon = line.firstIndex(of: ":") else {
      throw problem("'\(TerminalText.line(line))' is not a header field; an empty line must precede the content")
    }
    let field = HTTPField(
      name: HTTPFieldName(String(line[..<colon])), value: String(line[line.index(after: colon)...]).trimmed)
    guard field.isValid else { throw problem("'\(TerminalText.line(line))' is not a valid header field") }
    request?.fields.append(field.name, field.value)
  }

  private mutating func addContent(_ line: String) {
    if request?.content.isEmpty ?? true, let first = line.trimmed.first, first == "{" || first == "[" {
      json = JSONScanner()
    }
    request?.content += Array(line.utf8) + [0x0A]
    json?.feed(Array(line.utf8) + [0x0A])
  }

  /// Whether the content so far is incomplete JSON; nil if it is not JSON.
  private mutating func isJSONIncomplete() -> Bool? {
    guard json != nil else { return nil }
    do {
      while try json?.next() != nil {}
      return json.map { !$0.isComplete }
    } catch {
      json = nil
      return nil
    }
  }

  private mutating func finishRequest() {
    if var request {
      while let last = request.content.last, last == 0x0A || last == 0x0D { request.content.removeLast() }
      if changeSet != nil { changeSet?.append(request) } else { parts.append(.single(request)) }
    }
    request = nil
    json = nil
    section = .between
  }

  private mutating func openChangeSet() throws(Problem) {
    guard changeSet == nil else { throw problem("a change set must not contain another change set") }
    guard request == nil else { throw problem("--- is missing before the change set") }
    changeSet = []
  }

  private mutating func closeChangeSet() throws(Problem) {
    finishRequest()
    guard let requests = changeSet, !requests.isEmpty else { throw problem("the change set is empty") }
    parts.append(.changeSet(requests))
    changeSet = nil
  }

  private mutating func end() throws(Problem) -> [Part] {
    finishRequest()
    guard changeSet == nil else { throw problem("the change set is not closed by }") }
    guard !parts.isEmpty else { throw problem("the file contains no request") }
    return parts
  }

  private func problem(_ reason: String) -> Problem { Problem(line: lineNumber, reason: reason) }
}

extension String {
  fileprivate var trimmed: String {
    let start = drop(while: \.isWhitespace)
    return String(start.reversed().drop(while: \.isWhitespace).reversed())
  }
}
