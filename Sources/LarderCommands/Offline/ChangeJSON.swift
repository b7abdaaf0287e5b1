internal import LarderHTTP
internal import LarderOData

/// The content of a change as the command line gives it: JSON, `@FILE`, or `-` for standard input.
struct ChangeJSON {
  /// More than this is no JSON that anybody has written for a command line.
  private static let limit = 64 << 20

  /// The JSON's bytes.
  let bytes: [UInt8]
  /// How errors name it.
  private let shown: String
  private let isArgument: Bool

  /// Takes an operand, and reads the file that it names.
  init(_ given: String, _ context: CommandContext) async throws {
    isArgument = given != "-" && !given.hasPrefix("@")
    guard !isArgument else {
      (bytes, shown) = (Array(given.utf8), "the JSON")
      return
    }
    let file = given == "-" ? "-" : String(given.dropFirst())
    guard !file.isEmpty else {
      throw CommandFailure(.usage, "@ is followed by a file's name", hint: "For example @order.json.")
    }
    shown = file == "-" ? "standard input" : file
    bytes = try await RequestContent.read(file, context, limit: Self.limit, until: nil)
  }

  /// Does what reads the bytes, and tells where they cannot be read.
  func reading<Value>(_ read: ([UInt8]) async throws -> Value) async throws -> Value {
    do { return try await read(bytes) } catch let error as PayloadError { throw failure(error) }
  }

  /// The problem, where it is, and the text around it with a caret.
  private func failure(_ error: PayloadError) -> CommandFailure {
    let text = String(decoding: bytes, as: UTF8.self)
    let place = ODataSyntaxError(.unexpected(expected: []), offset: error.offset, in: text)
    var words = "\(shown): \(error.problem)"
    if error.path != "$" { words += " (\(error.path))" }
    var hint = "  \(place.excerpt)\n  \(String(repeating: " ", count: place.column))^"
    var status = CommandStatus.usage
    if case .json = error.problem {
      if !isArgument { status = .storage }
      if text.allSatisfy(\.isWhitespace) {
        words = "\(shown) is empty"
        hint = #"An object is expected, such as {"Name": "Flour"}."#
      } else if isArgument, text.first != "{", text.contains("{") == false {
        hint += "\nJSON stands in quotes of the shell: '{\"Name\": \"Flour\"}'; @FILE reads a file, - standard input."
      }
    }
    return CommandFailure(status, words, hint: hint)
  }
}
