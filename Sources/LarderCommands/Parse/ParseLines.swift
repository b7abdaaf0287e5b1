internal import LarderOData

/// Runs `larder parse --lines`: reads one JSON object from each line of standard input and writes one result for each
/// to standard output, in their order. All results for the input so far are written before it waits for more.
struct ParseLines {
  /// The longest line that is read, in bytes.
  static let limit = 16 << 20

  /// Parses a text. If that fails, returns a message and the place.
  let check: @Sendable (_ rule: ODataGrammarRule?, _ input: String) -> ParseFailure?
  private var pending: [UInt8] = []
  private var isTooLong = false
  private var results: [UInt8] = []

  /// Why a text was rejected.
  struct ParseFailure: Sendable, Hashable {
    /// The number of bytes of the text before the place; nil if the place is not known.
    var offset: Int?
    var message: String
  }

  init(check: @escaping @Sendable (ODataGrammarRule?, String) -> ParseFailure?) { self.check = check }

  /// Processes lines until the input ends.
  mutating func run(_ context: CommandContext) async throws {
    switch try context.input.take() {
    case .bytes(let bytes): take(bytes)
    case .descriptor(let number):
      do {
        let reader = try InputReader(InputDescriptor(borrowing: number))
        while let chunk = try await reader.next() {
          take(chunk)
          try flush(context)
        }
      } catch let reason as FileError.Reason {
        throw FileError(path: "standard input", reason: reason.text)
      }
    }
    if !pending.isEmpty || isTooLong { endLine() }
    try flush(context)
  }

  private mutating func flush(_ context: CommandContext) throws(OutputError) {
    try context.output.write(results)
    results.removeAll(keepingCapacity: true)
  }

  /// Adds bytes as they arrive; a line may arrive in pieces.
  mutating func take(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while let end = rest.firstIndex(of: 0x0A) {
      add(rest[..<end])
      endLine()
      rest = rest[(end + 1)...]
    }
    add(rest)
  }

  private mutating func add(_ part: ArraySlice<UInt8>) {
    guard !isTooLong, pending.count + part.count <= ParseLines.limit else {
      isTooLong = true
      pending = []
      return
    }
    pending += part
  }

  private mutating func endLine() {
    defer {
      pending.removeAll(keepingCapacity: true)
      isTooLong = false
    }
    guard !isTooLong else { return writeError("the line is longer than \(ParseLines.limit) bytes") }
    let request: JSONNode
    do throws(JSONError) { request = try JSONNode(pending) } catch {
      return writeError("the line is not JSON: \(error)")
    }
    guard let input = request["input"]?.string else {
      return writeError("the line must be an object with the string 'input', and with 'rule' if the input is not a URL")
    }
    var rule: ODataGrammarRule?
    switch request["rule"] {
    case nil, .null?: break
    case .string(let name)?:
      rule = ODataGrammarRule(name)
      if rule == nil {
        let hint = Suggestion.hint(for: name, among: ODataGrammarRule.all.map(\.name))
        return writeError("the grammar has no rule '\(name)'" + (hint.map { ". \($0)" } ?? ""))
      }
    default: return writeError("'rule' is not a string")
    }
    guard let failure = check(rule, input) else { return writeResult(nil, at: nil) }
    writeResult(failure.message, at: failure.offset.map { ParseLines.characters(in: input, before: $0) })
  }

  private mutating func writeError(_ message: String) { writeResult(message, at: nil, isInvalidLine: true) }

  private mutating func writeResult(_ message: String?, at failureOffset: Int?, isInvalidLine: Bool = false) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("ok")
    writer.boolean(message == nil && !isInvalidLine)
    writer.name("failAt")
    if let failureOffset { writer.integer(failureOffset) } else { writer.null() }
    writer.name("message")
    if let message { writer.string(message) } else { writer.null() }
    writer.endObject()
    results += writer.bytes
    results.append(0x0A)
  }

  /// The number of characters (scalars) before a byte.
  static func characters(in text: String, before offset: Int) -> Int {
    text.utf8.prefix(offset).reduce(into: 0) { count, byte in if byte & 0xC0 != 0x80 { count += 1 } }
  }

  /// Removes and returns the results so far, for callers that process them piece by piece.
  mutating func takeResults() -> [UInt8] {
    defer { results.removeAll() }
    return results
  }
}
