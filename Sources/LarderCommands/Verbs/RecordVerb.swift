internal import LarderHTTP
internal import LarderService

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension CommandSyntax {
  /// `larder record URL`.
  static let record: CommandSyntax = .init(
    "record", summary: "record responses of a service for tests that replay them",
    discussion: [
      "Each URL is requested once, and its response is recorded, whatever its status. The recording goes to standard "
        + "output. With --output FILE, the responses are added to those in FILE. Stores read $metadata first: record it "
        + "too.",
      "Tests replay the file with ScriptedTransport of LarderTesting. It is JSON that can be read and edited.",
      "Known secrets are replaced, and the last line says how many; read the file before you share it. Known are fields "
        + "with credentials, cookies, tokens and sessions, user names and passwords in URLs, and the values of options, "
        + "function arguments, JSON members, XML elements and attributes, and pairs of a name and a value, with a secret "
        + "name, such as access_token. Strings become ***, numbers 0, also in arrays and objects. Also the credentials "
        + "that were sent, wherever the service repeats them, and values that show what they are, such as private keys. "
        + "Ids, ETags, links and personal data stay.",
      "Credentials are the same as for 'larder get'.",
    ],
    examples: [
      "larder record 'https://host/service/$metadata' 'https://host/service/Orders' -o orders.json",
      "larder record --user-file u https://host/service/Orders >orders.json",
    ],
    options: [.recording] + ServiceAccess.options.filter { $0 != .retry },
    operands: [.recordedURL, .furtherURLs]
  ) { arguments, context in
    let urls = [try arguments.required(OperandSyntax.recordedURL)] + arguments.values(OperandSyntax.furtherURLs)
    let targets = try urls.map { try RequestTarget($0, service: arguments[.service], in: arguments) }
    let file = arguments[.recording].map { context.path($0) }
    // A folder, or a file that is not a recording, is rejected before any request.
    if let file, InputFile.isDirectory(file) {
      throw FileError(action: "written", path: file, reason: "it is a folder")
    }
    _ = try file.map(formerRecording)
    var access = try ServiceAccess(arguments, context)
    let observer = CredentialObserver(access.transport, access.credentialFields)
    access.transport = observer
    var exchanges: [RecordedExchange] = []
    var replacedCount = 0
    for target in targets {
      exchanges.append(try await exchange(target, access, observer: observer, replacedCount: &replacedCount, context))
    }
    if let file {
      try await add(exchanges, to: file, context)
    } else {
      try context.output.write(RecordedExchanges(exchanges).encoded)
    }
    context.note("replaced: \(Counted.text(replacedCount, "value"))")
    return .done
  }

  /// Adds exchanges to those in a file, also to those that another command has just added.
  private static func add(
    _ exchanges: [RecordedExchange], to path: String, _ context: CommandContext
  ) async throws {
    guard InputFile.isRegular(path) || !InputFile.exists(path) else {
      // Writing to a pipe can wait for its reader.
      return try write(RecordedExchanges(exchanges), to: path)
    }
    // Written through a symbolic link, a file would be empty for a time.
    let file = FolderLock.target(of: path)
    let lock = try await FolderLock.wait(forFile: file) { context.note($0) }
    try write(RecordedExchanges(try formerRecording(file).exchanges + exchanges), to: file)
    _ = consume lock
  }

  private static func write(_ recording: RecordedExchanges, to path: String) throws {
    // What is still secret in a new file is so for others.
    var output = try OutputFile.create(path, isPrivate: !InputFile.exists(path))
    try output.write(recording.encoded)
    try output.finish()
  }

  /// The recording in a file that will be added to; an empty one if there is no file. A pipe is only written to.
  private static func formerRecording(_ path: String) throws -> RecordedExchanges {
    guard InputFile.isRegular(path) else { return RecordedExchanges() }
    let bytes = try InputFile.read(path)
    do throws(RecordingError) { return try RecordedExchanges(encoded: bytes) } catch {
      throw CommandFailure(.storage, "\(path): \(error)", hint: "Choose another file for --output.")
    }
  }

  private static func exchange(
    _ target: RequestTarget, _ access: ServiceAccess, observer: CredentialObserver, replacedCount: inout Int,
    _ context: CommandContext
  ) async throws -> RecordedExchange {
    guard let url = URL(string: target.url) else { throw CommandFailure(.usage, "'\(target.url)' is not a URL") }
    var request = HTTPRequest(url: url, fields: access.fields, timeouts: access.options.timeouts)
    if !request.fields.contains(.accept) {
      let isMetadata = target.url.prefix { $0 != "?" }.hasSuffix("/$metadata")
      request.fields[.accept] = isMetadata ? "application/xml" : "application/json, */*;q=0.5"
    }
    var transport = access.transport
    if let authentication = try await access.authentication(root: target.origin, isOffline: false, context) {
      transport = SigningTransport(
        transport: transport, authentication: authentication, root: try ODataServiceRoot(target.origin))
    }
    let response = try await transport.send(request)
    // Secrets in encoded content would be recorded.
    if let coding = response.fields[.contentEncoding], coding.lowercased() != "identity" {
      throw CommandFailure(
        .network,
        "\(RecordedExchange(url: target.url, status: 0).url): the content is encoded with '\(coding)', and cannot be recorded",
        hint:
          "Remove Accept-Encoding from the fields of --header; gzip and deflate are requested and decoded by default.")
    }
    let body = try await response.body.collect(upTo: access.options.payloadByteLimit)
    let exchange = RecordedExchange(
      url: target.url, status: response.status, fields: response.fields, body: body,
      credentialFields: access.credentialFields, sent: observer.sent, replacedCount: &replacedCount)
    context.note("recorded: \(exchange.status) \(TerminalText.line(exchange.url)) (\(exchange.body.count) bytes)")
    return exchange
  }
}

extension OptionSyntax {
  fileprivate static let recording = OptionSyntax(
    "--output", short: "-o", valueName: "FILE", .file, "add the responses to the recording in FILE")
}

extension OperandSyntax {
  fileprivate static let recordedURL = OperandSyntax(
    "URL", count: .one, value: .text, summary: "the resource to record")
  fileprivate static let furtherURLs = OperandSyntax("URLS", count: .many, value: .text, summary: "more resources")
}
