internal import LarderOData

/// Runs `larder parse --lines`: reads one JSON object from each line of standard input and writes one result for each
/// to standard output, in their order. All results for the input so far are written before it waits for more.
struct ParseLines {
  /// The longest line that is read, in bytes.
  static let limit = 16 << 20

  /// Parses a text. If that fails, returns a message and the place.
  let check: @Sendable (_ rule: ODataGrammarRule?, _ input: String) -> Refusal?
  private var pending: [UInt8] = []
  private var isTooLong = false
  private var answers: [UInt8] = []

  /// Why a text was rejected.
  struct Refusal: Sendable, Hashable {
    /// The number of bytes of the text before the place; nil if the place is not known.
    var offset: Int?
    var message: String
  }

  init(check: @escaping @Sendable (ODataGrammarRule?, String) -> Refusal?) { self.check = check }

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
    try context.output.write(answers)
    answers.removeAll(keepingCapacity: true)
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
    guard !isTooLong else { return refuse("the line is longer than \(ParseLines.limit) bytes") }
    let question: JSONNode
    do throws(JSONError) { question = try JSONNode(pending) } catch { return refuse("the line is not JSON: \(error)") }
    guard let input = question["input"]?.string else {
      return refuse("the line must be an object with the string 'input', and with 'rule' if the input is not a URL")
    }
    var rule: ODataGrammarRule?
    switch question["rule"] {
    case nil, .null?: break
    case .string(let name)?:
      rule = ODataGrammarRule(name)
      if rule == nil {
        let hint = Suggestion.hint(for: name, among: ODataGrammarRule.all.map(\.name))
        return refuse("the grammar has no rule '\(name)'" + (hint.map { ". \($0)" } ?? ""))
      }
    default: return refuse("'rule' is not a string")
    }
    guard let refusal = check(rule, input) else { return answer(nil, at: nil) }
    answer(refusal.message, at: refusal.offset.map { ParseLines.characters(in: input, before: $0) })
  }

  private mutating func refuse(_ message: String) { answer(message, at: nil, isRefused: true) }

  private mutating func answer(_ message: String?, at place: Int?, isRefused: Bool = false) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("ok")
    writer.boolean(message == nil && !isRefused)
    writer.name("failAt")
    if let place { writer.integer(place) } else { writer.null() }
    writer.name("message")
    if let message { writer.string(message) } else { writer.null() }
    writer.endObject()
    answers += writer.bytes
    answers.append(0x0A)
  }

  /// The number of characters (scalars) before a byte.
  static func characters(in text: String, before offset: Int) -> Int {
    text.utf8.prefix(offset).reduce(into: 0) { count, byte in if byte & 0xC0 != 0x80 { count += 1 } }
  }

  /// Removes and returns the results so far, for callers that process them piece by piece.
  mutating func takeResults() -> [UInt8] {
    defer { answers.removeAll() }
    return answers
  }
}
