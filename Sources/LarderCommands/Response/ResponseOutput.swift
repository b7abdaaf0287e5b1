internal import LarderHTTP
internal import LarderService

/// Writes a response's content to its destination.
///
/// A file or a pipe gets it as received, byte for byte. A terminal gets it indented, and no binary content. `--include`
/// writes status and fields before it, as in an HTTP message.
struct ResponseOutput: Sendable {
  /// The options for the output.
  static let options: [OptionSyntax] = [.include, .output]

  private let context: CommandContext
  private let file: String?
  private let includesHead: Bool
  /// Whether the content comes from an encrypted store: then a file is accessible to its owner only.
  private let isPrivate: Bool

  init(_ arguments: ParsedArguments, _ context: CommandContext, includesHead: Bool = false) {
    self.context = context
    isPrivate = KeyAccess.isGiven(arguments, context)
    file = arguments[.output]
    self.includesHead = includesHead || arguments.has(.include)
  }

  /// Whether content is written to a file.
  static func writesFile(_ arguments: ParsedArguments) -> Bool { arguments.has(.output) }

  /// Whether status and fields are printed.
  static func includesHead(_ arguments: ParsedArguments) -> Bool { arguments.has(.include) }

  /// Prints a response whose content is in memory.
  func print(_ response: ODataSingleResponse) async throws {
    let body = HTTPBodyStream(response.payloadBytes)
    try await print(status: response.httpStatus, fields: response.fields, body: body)
  }

  /// Prints a response while its content arrives, and returns the number of bytes. For a file or a pipe the content is
  /// never in memory as a whole.
  @discardableResult
  func print(status: Int?, fields: HTTPFields, body: HTTPBodyStream) async throws -> Int {
    showMessages(fields)
    let head = includesHead ? Self.head(status: status, fields: fields) : []
    var count = 0
    if let file {
      var output = try OutputFile.create(context.path(file), isPrivate: isPrivate)
      try output.write(head)
      var progress = TransferProgress(context, total: body.length)
      for try await chunk in body {
        try output.write(chunk)
        count += chunk.count
        progress.add(chunk.count)
      }
      progress.end()
      try output.finish()
    } else if context.output.isTerminal {
      count = try await show(head, fields: fields, body: body)
    } else {
      try context.output.write(head)
      for try await chunk in body {
        try context.output.write(chunk)
        count += chunk.count
      }
    }
    return count
  }

  private func show(_ head: [UInt8], fields: HTTPFields, body: HTTPBodyStream) async throws -> Int {
    let lines = head.filter { $0 != 0x0D }
    try context.output.write(lines)
    let bytes = try await body.collect(upTo: 1 << 28)
    guard TerminalText.isShowable(bytes) else {
      throw CommandFailure(
        .usage, "the content is binary (\(bytes.count) bytes) and cannot be shown on a terminal",
        hint: "Write it to a file with --output FILE, or to a pipe.")
    }
    var shown = PayloadPrinter.indented(bytes, contentType: fields[.contentType])
    if let last = shown.last, last != 0x0A { shown.append(0x0A) }
    try context.output.write(shown)
    return bytes.count
  }

  private func showMessages(_ fields: HTTPFields) {
    for message in ServiceMessage.all(in: fields) { context.note(ServiceMessage.line(message)) }
  }

  private static func head(status: Int?, fields: HTTPFields) -> [UInt8] {
    var text = "HTTP/1.1 \(status.map { "\($0)" } ?? "")\r\n"
    for field in fields { text += "\(field.name): \(field.value)\r\n" }
    return Array((text + "\r\n").utf8)
  }
}

extension OptionSyntax {
  fileprivate static let include = OptionSyntax(flag: "--include", short: "-i", "also print status and header fields")
  static let output = OptionSyntax(
    "--output", short: "-o", valueName: "FILE", .file, "write to FILE, which appears complete or not at all")
}
