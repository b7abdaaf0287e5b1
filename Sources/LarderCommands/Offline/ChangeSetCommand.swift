internal import LarderHTTP
internal import LarderOData
internal import LarderOffline
internal import LarderService

/// Runs one `larder change`: several changes are applied together in the clone and queued as one change set.
struct ChangeSetCommand {
  private let arguments: ParsedArguments
  private let context: CommandContext
  private let access: OfflineAccess
  /// The name of the file in messages.
  private let displayName: String

  private var provider: OfflineODataProvider { access.provider }

  /// The size limit in bytes of a file of changes, which is read into memory.
  private static let limit = 64 << 20

  @Sendable static func run(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let file = try arguments.required(OperandSyntax.changesFile)
    let displayName = file == "-" ? "standard input" : file
    let bytes = try await RequestContent.read(file, context, limit: limit, until: nil)
    let lines = try ChangeLine.lines(bytes, displayName: displayName)
    let fields = try HeaderOption.fields(arguments, context)
    return try await OfflineAccess.withoutNetwork(arguments, context) { access in
      let command = ChangeSetCommand(arguments: arguments, context: context, access: access, displayName: displayName)
      let draft = try await command.draft(lines, fields)
      _ = try AllowOption.names(arguments, among: draft.requests)
      let responses: [ODataSingleResponse]
      do { responses = try await access.provider.apply(draft) } catch let error as ChangeSetError {
        throw command.failure(error.error, lines[error.index])
      }
      try await command.report(zip(draft.requests, responses).map { ($0, $1) })
      return .done
    }
  }

  private func draft(_ lines: [ChangeLine], _ fields: HTTPFields) async throws -> ChangeSetDraft {
    var draft = ChangeSetDraft()
    for line in lines {
      if let ifMatch = line.ifMatch, !HTTPField(name: .ifMatch, value: ifMatch).isValid {
        throw CommandFailure(
          .usage,
          "\(displayName):\(line.number): \"ifMatch\" contains characters that are not allowed in a header field")
      }
      do { try await add(line, fields, to: &draft) } catch let error as PayloadError {
        let place = error.path == "$" ? "" : " (\(error.path.replacing("$", with: "content", maxReplacements: 1)))"
        throw CommandFailure(.usage, "\(displayName):\(line.number): \(error.problem)\(place)")
      } catch let error as OfflineODataError { throw failure(error, line) }
    }
    return draft
  }

  private func add(_ line: ChangeLine, _ fields: HTTPFields, to draft: inout ChangeSetDraft) async throws {
    let complete = { (request: inout ODataSingleRequest) in
      request.fields = fields
      request.customTag = line.tag ?? arguments[.customTag]
      request.uploadCategory = arguments[.uploadCategory]
      request.isUnmodifiable = arguments.has(.unmodifiable)
      request.ifMatch = line.ifMatch
      request.allowedProperties = Set(arguments.values(.allowedProperty))
    }
    let operation: ODataSingleRequest.Operation
    switch line.verb {
    case .create: operation = .create
    case .update: operation = .update(line.replaces ? .replace : .patch)
    case .delete: operation = .delete
    case .action: operation = .invokeAction
    case .link, .unlink:
      return try await provider.addLink(
        line.path, to: line.target ?? "", removes: line.verb == .unlink, to: &draft, complete)
    }
    try await provider.add(operation, line.path, json: line.content, name: line.name, to: &draft, complete)
  }

  private func failure(_ error: OfflineODataError, _ line: ChangeLine) -> CommandFailure {
    let failure = CommandFailure(error)
    return CommandFailure(
      failure.status, "\(displayName):\(line.number): \(failure.message)", hint: failure.hint ?? "Nothing was changed.")
  }

  // MARK: Reporting

  private func report(_ changes: [(request: ODataSingleRequest, response: ODataSingleResponse)]) async throws {
    // The changes have been applied: a failure to count the pending ones is ignored.
    let pendingCount = arguments.has(.json) ? try? await provider.pendingUploadCount() : nil
    if arguments.has(.json) {
      var json = JSONOutput(context.output)
      json.beginObject()
      json.name("changes")
      json.beginArray()
      for (request, response) in changes {
        json.beginObject()
        json.member("operation", request.operationName)
        json.member("path", path(request, response) ?? access.relative(response.url))
        json.member("etag", response.fields[.etag])
        json.endObject()
        try json.drain()
      }
      json.endArray()
      json.member("pending", pendingCount)
      json.endObject()
      try json.endLine()
      return
    }
    for (request, response) in changes {
      if let path = path(request, response) { try context.output.line(TerminalText.line(path)) }
    }
    if context.diagnostics.isTerminal {
      context.note("Queued as one transaction: \(Counted.text(changes.count, "change")) for 'larder upload'.")
    }
  }

  /// The path of a created entity; nil for other changes.
  private func path(_ request: ODataSingleRequest, _ response: ODataSingleResponse) -> String? {
    guard request.operation == .create, let location = response.fields[.location] else { return nil }
    return access.relative(location)
  }
}
