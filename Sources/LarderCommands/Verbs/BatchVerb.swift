internal import LarderHTTP
internal import LarderOData
internal import LarderService

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension CommandSyntax {
  /// `larder batch SERVICE FILE`.
  static let batch: CommandSyntax = .init(
    "batch", summary: "send several requests as one $batch, and show the result of each",
    discussion: [
      "FILE is a recorded batch, multipart or JSON, which is sent unchanged; or a readable text: blocks of a request "
        + "line such as GET Products(1), header lines, and after an empty line the content. A line of --- separates "
        + "blocks. The lines changeset { and } enclose requests that succeed or fail together. Lines that begin with "
        + "# before a request line are comments. FILE is read completely, up to 64 MiB.",
      "If a request fails, the exit status is 1. If the response breaks off, the parts before the break are shown if "
        + "they have the Content-IDs of their requests, and the exit status is 3.",
    ],
    examples: [
      "larder batch https://host/service/ requests.txt",
      #"printf 'GET Products(1)\n---\nGET Products(2)\n' | larder batch https://host/service/ -"#,
    ],
    options: [.json] + ServiceAccess.options.filter { $0 != .service }, operands: [.batchService, .batchFile]
  ) { arguments, context in
    let given = try arguments.required(OperandSyntax.batchService)
    let rootText = try RequestTarget.serviceRoot(given, in: arguments)
    guard let root = URL(string: rootText) else { throw arguments.usage("'\(given)' is not a URL") }
    var access = try ServiceAccess(arguments, context)
    let path = try arguments.required(OperandSyntax.batchFile)
    let bytes = try await access.reading {
      try await RequestContent.read(path, context, limit: limit, until: $0)
    }
    let conversation = try await access.conversation(root: root, context)
    let file = try read(bytes, path, root: conversation.root)
    var request = ODataSingleRequest(
      .invokeAction, "$batch", body: .bytes(file.body, contentType: file.contentType), fields: access.fields)
    request.fields.setDefault(.accept, file.accept)
    let response = try await conversation.streamResponse(to: request)
    let (body, interruption) = await collect(response.body, upTo: conversation.options.payloadByteLimit)
    if let interruption, interruption is CancellationError || interruption as? HTTPTransportError == .cancelled {
      throw interruption
    }
    let (results, problem) = try results(
      of: file, response, body: body, interruption: interruption, isContinued: isContinued(request.fields))
    let rows = BatchPrinter.rows(results, file.parts)
    if arguments.has(.json) {
      try BatchPrinter.writeJSON(rows, to: context.output)
    } else {
      try BatchPrinter.write(rows, to: context.output)
    }
    if let problem { throw problem }
    return rows.allSatisfy { $0.response.map { !$0.isError } ?? false } ? .done : .negative
  }

  /// The size limit of a batch in bytes: it is parsed in memory.
  private static let limit = 64 << 20

  private static func read(_ bytes: [UInt8], _ path: String, root: ODataServiceRoot) throws -> BatchFile {
    do { return try BatchFile(bytes, root: root) } catch let error as ODataServiceError {
      throw CommandFailure(.usage, "\(path): \(error)")
    } catch {
      throw CommandFailure(.storage, "\(path): \(error)", hint: "'larder batch --help' describes the format.")
    }
  }

  /// Reads a response's content, and the error that ended it early, if there was one.
  private static func collect(_ body: HTTPBodyStream, upTo limit: Int) async -> ([UInt8], (any Error)?) {
    var bytes: [UInt8] = []
    do {
      for try await chunk in body {
        guard chunk.count <= limit - bytes.count else {
          body.cancel()
          throw HTTPTransportError.bodyTooLarge(limit: limit)
        }
        bytes.append(contentsOf: chunk)
      }
      return (bytes, nil)
    } catch {
      return (bytes, error)
    }
  }

  /// Whether the service is requested to continue after an error (OData Protocol 4.01 §8.2.8.3).
  private static func isContinued(_ fields: HTTPFields) -> Bool {
    let preferences = fields.values(of: .prefer).joined(separator: ",").lowercased().split(separator: ",")
    return preferences.contains { preference in
      let text = preference.filter { $0 != " " }
      return text.hasSuffix("continue-on-error") || text.hasSuffix("continue-on-error=true")
    }
  }

  /// The received responses, one slot for each part, and why there are no more.
  private static func results(
    of file: BatchFile, _ response: ODataMediaResponse, body: [UInt8], interruption: (any Error)?, isContinued: Bool
  ) throws -> ([BatchResult?], CommandFailure?) {
    let batch: BatchResults
    do throws(BatchError) {
      batch = try BatchResults.read(
        status: response.httpStatus, fields: response.fields, body: body, requests: file.parts,
        stopsAtError: !isContinued && response.fields.contains(.odataVersion), isForShow: true)
    } catch {
      if let interruption { throw interruption }
      throw CommandFailure(.network, "the response cannot be read: \(error)")
    }
    let failure = interruption.map { CommandFailure($0) }
    switch batch {
    case .parts(let results): return (results, failure)
    case .incomplete(let results, let error):
      let count = results.count { $0 != nil }
      let reason = failure.map(\.message) ?? error.description
      return (
        results,
        CommandFailure(
          .network, "\(count) of \(results.count) parts have a response: \(reason)",
          hint: "The changes of the other parts may have taken effect: check before you send them again.")
      )
    case .rejected(let rejection):
      let status = CommandFailure.status(ofHTTP: rejection.status)
      throw CommandFailure(status, "the service rejected the batch: HTTP \(rejection.status)")
    }
  }
}

extension OperandSyntax {
  fileprivate static let batchService = OperandSyntax(
    "SERVICE", count: .one, value: .text, summary: "the service's root")
  fileprivate static let batchFile = OperandSyntax(
    "FILE", count: .one, value: .file, summary: "the batch, - for standard input")
}
