internal import LarderHTTP
internal import LarderOData
internal import LarderOffline
internal import LarderService

/// Runs one `larder create`, `update`, `delete`, `link`, `unlink` or `action`: applied in the clone and queued for
/// upload.
struct ChangeCommand {
  private let arguments: ParsedArguments
  private let context: CommandContext
  private let access: OfflineAccess

  private var provider: OfflineODataProvider { access.provider }

  // MARK: Verbs

  @Sendable static func create(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let media = try await self.media(arguments, context)
    let set = try arguments.required(OperandSyntax.collection)
    if let media {
      return try await with(arguments, context) { try await $0.run(ODataSingleRequest(.createMedia, set, body: media)) }
    }
    let json = try await json(arguments, context)
    return try await with(arguments, context) { command in
      try await command.run(json) { try await command.provider.change(.create, set, json: $0) }
    }
  }

  @Sendable static func update(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let media = try await self.media(arguments, context)
    let path = try arguments.required(OperandSyntax.changedPath)
    if let media {
      return try await with(arguments, context) {
        try await $0.run(ODataSingleRequest(.updateMedia, path, body: media))
      }
    }
    let json = try await json(arguments, context)
    return try await with(arguments, context) { command in
      let method: ODataSingleRequest.UpdateMethod = arguments.has(.replace) ? .replace : .patch
      return try await command.run(json) { try await command.provider.change(.update(method), path, json: $0) }
    }
  }

  @Sendable static func delete(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let path = try arguments.required(OperandSyntax.changedPath)
    return try await with(arguments, context) { try await $0.run(.delete(path)) }
  }

  @Sendable static func link(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    try await link(arguments, context, removes: false)
  }

  @Sendable static func unlink(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    try await link(arguments, context, removes: true)
  }

  private static func link(
    _ arguments: ParsedArguments, _ context: CommandContext, removes: Bool
  ) async throws -> CommandStatus {
    let path = try arguments.required(OperandSyntax.linkPath)
    let target = try arguments.required(OperandSyntax.linkTarget)
    return try await with(arguments, context) { command in
      try await command.run(try await command.provider.linkChange(path, to: target, removes: removes))
    }
  }

  @Sendable static func action(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let path = try arguments.required(OperandSyntax.actionPath)
    let json = try await arguments[OperandSyntax.parametersJSON].asyncMap { try await ChangeJSON($0, context) }
    return try await with(arguments, context) { command in
      guard let json else { return try await command.run(.invokeAction(path)) }
      return try await command.run(json) { try await command.provider.change(.invokeAction, path, json: $0) }
    }
  }

  // MARK: Contents

  /// Reads the media content that `--media` names.
  private static func media(
    _ arguments: ParsedArguments, _ context: CommandContext
  ) async throws -> ODataRequestBody? {
    if arguments.has(.media), arguments.has(.allowedProperty) {
      throw arguments.usage("--allow cannot be combined with --media, which has no properties")
    }
    if arguments.has(.media), arguments[OperandSyntax.entityJSON] != nil {
      throw arguments.usage("JSON and --media FILE cannot be combined")
    }
    guard let file = arguments[.media] else {
      if arguments.has(.mediaType) { throw arguments.usage("--content-type needs --media FILE") }
      return nil
    }
    if let type = arguments[.mediaType], !HTTPField(name: .contentType, value: type).isValid {
      throw arguments.usage("--content-type contains characters that are not allowed in a header field")
    }
    let content = try await RequestContent.open(file, context, until: nil)
    let type = arguments[.mediaType] ?? FileMediaType.mediaType(of: file)
    switch content.body {
    case .none: return .bytes([], contentType: type)
    case .bytes(let bytes): return .bytes(bytes, contentType: type)
    case .stream(let length, let open): return .stream(length: length, contentType: type, open: open)
    }
  }

  /// Reads the JSON of an entity.
  private static func json(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> ChangeJSON {
    guard let given = arguments[OperandSyntax.entityJSON] else {
      throw arguments.usage("JSON is missing: \(OperandSyntax.entityJSON.summary)")
    }
    return try await ChangeJSON(given, context)
  }

  // MARK: Applying the change

  private static func with(
    _ arguments: ParsedArguments, _ context: CommandContext, _ body: (ChangeCommand) async throws -> CommandStatus
  ) async throws -> CommandStatus {
    try await OfflineAccess.withoutNetwork(arguments, context) { access in
      try await body(ChangeCommand(arguments: arguments, context: context, access: access))
    }
  }

  private func run(
    _ content: ChangeJSON, _ createRequest: ([UInt8]) async throws -> ODataSingleRequest
  ) async throws -> CommandStatus {
    try await run(try await content.reading(createRequest))
  }

  private func run(_ request: ODataSingleRequest) async throws -> CommandStatus {
    var request = request
    request.fields = try HeaderOption.fields(arguments, context)
    request.customTag = arguments[.customTag]
    request.uploadCategory = arguments[.uploadCategory]
    request.isUnmodifiable = arguments.has(.unmodifiable)
    request.allowedProperties = try AllowOption.names(arguments, among: [request])
    request.ifMatch = arguments[.ifMatch]
    guard request.ifMatch.map({ HTTPField(name: .ifMatch, value: $0).isValid }) ?? true else {
      throw arguments.usage("--if-match contains characters that are not allowed in a header field")
    }
    let response = try await provider.execute(single: request)
    try await report(request, response)
    return .done
  }

  // MARK: Reporting

  private func report(_ request: ODataSingleRequest, _ response: ODataSingleResponse) async throws {
    let isCreation = request.operation == .create || request.operation == .createMedia
    let path = isCreation ? response.fields[.location].map(access.relative) : nil
    // The change has been applied: a failure to count the pending changes is ignored.
    let reportsCount = arguments.has(.json) || context.diagnostics.isTerminal
    let pendingCount = reportsCount ? try? await provider.pendingUploadCount() : nil
    if arguments.has(.json) {
      var json = JSONOutput(context.output)
      json.beginObject()
      json.member("operation", request.operationName)
      json.member("path", path ?? access.relative(request.path))
      json.member("etag", response.fields[.etag])
      json.member("pending", pendingCount)
      try await entity(path ?? request.path, request, to: &json)
      json.endObject()
      try json.endLine()
      return
    }
    if let path { try context.output.line(TerminalText.line(path)) }
    if let pendingCount, context.diagnostics.isTerminal {
      context.note("Queued: \(Counted.text(pendingCount, "change")) for 'larder upload'.")
    }
  }

  /// Writes the present entity, if there is one at its path after the change.
  private func entity(_ path: String, _ request: ODataSingleRequest, to json: inout JSONOutput) async throws {
    switch request.operation {
    case .create, .createMedia, .update: break
    default: return
    }
    guard let result = try? await provider.readJSON(path), result.contentType.contains("json"),
      let node = try? JSONNode(result.bytes)
    else { return }
    json.name("entity")
    json.node(node.members?.count == 1 ? node["d"] ?? node : node)
  }
}

extension Optional {
  fileprivate func asyncMap<Other>(_ change: (Wrapped) async throws -> Other) async throws -> Other? {
    switch self {
    case .some(let value): try await change(value)
    case .none: nil
    }
  }
}
