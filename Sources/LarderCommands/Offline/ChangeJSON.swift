internal import LarderHTTP
internal import LarderOData

/// The content of a change from the command line: JSON, `@FILE`, or `-` for standard input.
struct ChangeJSON {
  /// The size limit: more JSON is not useful on a command line.
  private static let limit = 64 << 20

  /// The JSON's bytes.
  let bytes: [UInt8]
  /// The name of the content in error messages.
  private let displayName: String
  private let isArgument: Bool

  /// Reads an operand, and the file that it names.
  init(_ given: String, _ context: CommandContext) async throws {
    isArgument = given != "-" && !given.hasPrefix("@")
    guard !isArgument else {
      (bytes, displayName) = (Array(given.utf8), "the JSON")
      return
    }
    let file = given == "-" ? "-" : String(given.dropFirst())
    guard !file.isEmpty else {
      throw CommandFailure(.usage, "the file name after @ is missing", hint: "For example @order.json.")
    }
    displayName = file == "-" ? "standard input" : file
    bytes = try await RequestContent.read(file, context, limit: Self.limit, until: nil)
  }

  /// Runs `read` with the bytes, and describes the place of an error in them.
  func reading<Value>(_ read: ([UInt8]) async throws -> Value) async throws -> Value {
    do { return try await read(bytes) } catch let error as PayloadError { throw failure(error) }
  }

  /// The problem, its place, and the text around it with a caret.
  private func failure(_ error: PayloadError) -> CommandFailure {
    let text = String(decoding: bytes, as: UTF8.self)
    let position = ODataSyntaxError(.unexpected(expected: []), offset: error.offset, in: text)
    var message = "\(displayName): \(error.problem)"
    if error.path != "$" { message += " (\(error.path))" }
    var hint = "  \(position.excerpt)\n  \(String(repeating: " ", count: position.column))^"
    var status = CommandStatus.usage
    if case .json = error.problem {
      if !isArgument { status = .storage }
      if text.allSatisfy(\.isWhitespace) {
        message = "\(displayName) is empty"
        hint = #"An object is expected, such as {"Name": "Flour"}."#
      } else if isArgument, text.first != "{", text.contains("{") == false {
        hint +=
          "\nEnclose JSON in quotes for the shell: '{\"Name\": \"Flour\"}'; @FILE reads a file, - reads standard input."
      }
    }
    return CommandFailure(status, message, hint: hint)
  }
}
