internal import HTTPCore
internal import OData
internal import ODataService

extension CommandSyntax {
  /// `larder batch SERVICE FILE`.
  static let batch: CommandSyntax = .init(
    "batch", summary: "send several requests as one $batch, and show what became of each",
    discussion: [
      "FILE is a recorded batch, multipart or JSON, which is sent as it is; or a readable text: blocks of a request "
        + "line such as GET Products(1), header lines, and after an empty line the content, with --- alone on a line "
        + "between blocks. changeset { and } alone on their lines enclose requests that succeed or fail together. Lines "
        + "that begin with # before a request line are comments.",
      "A request that fails makes 1 the exit status.",
    ],
    examples: [
      "larder batch https://host/service/ requests.txt",
      #"printf 'GET Products(1)\n---\nGET Products(2)\n' | larder batch https://host/service/ -"#,
    ],
    options: [.json] + ServiceAccess.options.filter { $0 != .service }, operands: [.batchService, .batchFile]
  ) { arguments, context in
    let given = try arguments.required(OperandSyntax.batchService)
    let target = try RequestTarget(given.hasSuffix("/") ? given : given + "/", in: arguments)
    let access = try ServiceAccess(arguments, context)
    let conversation = try await access.conversation(root: target.root, context)
    let path = try arguments.required(OperandSyntax.batchFile)
    let file = try read(path, context, root: conversation.root)
    var request = ODataSingleRequest(
      .invokeAction, "$batch", body: .bytes(file.body, contentType: file.contentType), fields: access.fields)
    request.fields.setDefault(.accept, file.accept)
    let response = try await conversation.send(request)
    let answers = try answers(response, file)
    let rows = BatchPrinter.rows(answers, file.parts)
    if arguments.has(.json) {
      try BatchPrinter.writeJSON(rows, to: context.output)
    } else {
      try BatchPrinter.write(rows, to: context.output)
    }
    return rows.allSatisfy { $0.response.map { !$0.isError } ?? false } ? .done : .negative
  }

  private static func read(_ path: String, _ context: CommandContext, root: ODataServiceRoot) throws -> BatchFile {
    let bytes = try context.read(path)
    do { return try BatchFile(bytes, root: root) } catch let error as ODataServiceError {
      throw CommandFailure(.usage, "\(path): \(error)")
    } catch {
      throw CommandFailure(.storage, "\(path): \(error)", hint: "'larder batch --help' shows what it may hold.")
    }
  }

  private static func answers(_ response: ODataSingleResponse, _ file: BatchFile) throws -> [BatchAnswer] {
    let found: BatchAnswers
    do throws(BatchError) {
      found = try BatchAnswers.read(
        status: response.httpStatus ?? 200, fields: response.fields, body: response.payloadBytes, requests: file.parts)
    } catch {
      throw CommandFailure(.network, "the answer cannot be read: \(error)")
    }
    switch found {
    case .parts(let answers): return answers
    case .refused(let refusal):
      let status = CommandFailure.status(ofHTTP: refusal.status)
      throw CommandFailure(status, "the service refused the batch: HTTP \(refusal.status)")
    }
  }
}

extension OperandSyntax {
  fileprivate static let batchService = OperandSyntax("SERVICE", .one, .text, "the service's root")
  fileprivate static let batchFile = OperandSyntax("FILE", .one, .file, "the batch, - for standard input")
}
