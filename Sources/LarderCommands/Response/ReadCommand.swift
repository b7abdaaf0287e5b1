internal import LarderHTTP
internal import LarderService

/// Runs one `larder get`: streams from the server, or reads through the technical cache.
struct ReadCommand: Sendable {
  let arguments: ParsedArguments
  let context: CommandContext
  let target: RequestTarget
  let access: ServiceAccess

  init(_ arguments: ParsedArguments, _ context: CommandContext) throws {
    self.arguments = arguments
    self.context = context
    if arguments.has(.passive), !arguments.has(.cache) {
      throw arguments.usage("--passive needs --cache DIR", hint: "Without a cache there is no response to print.")
    }
    if arguments.has(.keyFile), !arguments.has(.cache) {
      throw arguments.usage("--key-file needs --cache DIR", hint: "Without a cache there is nothing to encrypt.")
    }
    target = try RequestTarget(
      try arguments.required(OperandSyntax.resourceURL), service: arguments[.service], in: arguments)
    access = try ServiceAccess(arguments, context)
  }

  /// Reads and prints the resource.
  func run() async throws -> CommandStatus {
    do {
      return try await read()
    } catch let error as ODataServiceError where error.httpStatus == 304 && hasOwnCondition {
      throw CommandFailure.notModified(target.url)
    }
  }

  /// Whether `--header` contains a condition that a 304 responds to.
  var hasOwnCondition: Bool { access.fields.contains(.ifNoneMatch) || access.fields.contains(.ifModifiedSince) }

  private func read() async throws -> CommandStatus {
    if let folder = arguments[.cache] { return try await throughCache(folder) }
    if arguments.has(.events) { return try await withEvents() }
    return try await streamed()
  }

  var request: ODataSingleRequest { ODataSingleRequest(.read, target.url, fields: access.fields) }

  private func streamed() async throws -> CommandStatus {
    let conversation = try await access.conversation(root: target.root, context)
    let response: ODataMediaResponse
    do throws(ODataServiceError) { response = try await conversation.stream(request) } catch {
      guard let atom = atomRequest(after: error) else { throw error }
      response = try await conversation.stream(atom)
    }
    try await ResponseOutput(arguments, context).print(
      status: response.httpStatus, fields: response.fields, body: response.body)
    return .done
  }

  /// The request in Atom, for a service that does not support JSON; nil for other errors, or if the caller set
  /// `Accept`.
  private func atomRequest(after error: ODataServiceError) -> ODataSingleRequest? {
    guard let status = error.httpStatus, status == 406 || status == 415, !access.fields.contains(.accept) else {
      return nil
    }
    var request = request
    request.fields[.accept] = "application/atom+xml, application/xml;q=0.9, */*;q=0.1"
    return request
  }

  /// Produces the callbacks of a store without a cache, from a conversation alone.
  private func withEvents() async throws -> CommandStatus {
    let conversation = try await access.conversation(root: target.root, context)
    let printer = EventPrinter(context.output)
    let request = request
    let execution = ODataRequestExecution(request: .single(request), listener: printer)
    execution.start()
    do {
      execution.receive(serverResponse: .single(try await conversation.send(request)))
      execution.finish()
    } catch {
      if error.isCancelled {
        execution.cancel()
      } else {
        execution.fail(error, response: error.response.map { .single($0) })
      }
      if let failure = printer.outputError { throw failure }
      throw error
    }
    if let failure = printer.outputError { throw failure }
    if hasOwnCondition, execution.response?.single?.isNotModified == true {
      throw CommandFailure.notModified(target.url)
    }
    return .done
  }
}
