internal import LarderHTTP
internal import LarderOData
internal import LarderService

extension CommandSyntax {
  /// `larder send METHOD URL`.
  static let send: CommandSyntax = .init(
    "send", summary: "send a POST, PUT, PATCH, MERGE or DELETE",
    discussion: [
      "If the service requires a CSRF token, it is fetched from the service's root, and the request is repeated with "
        + "it. The root is --service, or the part of the URL before its first resource.",
      "Without --content-type, the first character of the data decides: JSON, Atom or bytes.",
      RequestContent.help,
      "The response is printed as by get; messages of the service (sap-message) go to standard error.",
    ],
    examples: [
      "larder send POST --user-file u https://host/service/Products --data product.json",
      #"larder send PATCH 'https://host/service/Products(1)' --data - --if-match 'W/"7"'"#,
      "larder send DELETE 'https://host/service/Products(1)' --if-match '*'",
    ],
    options: [.data, .contentType, .ifMatch] + ResponseOutput.options + ServiceAccess.options,
    operands: [.method, .changedURL]
  ) { arguments, context in
    let target = try RequestTarget(
      try arguments.required(OperandSyntax.changedURL), service: arguments[.service], in: arguments)
    var access = try ServiceAccess(arguments, context)
    let method = try arguments.required(OperandSyntax.method)
    // The user chose PATCH, so the version is not needed to choose between it and MERGE.
    if method == "PATCH" { access.options.version = .v4 }
    var request = ODataSingleRequest(
      operation(method), target.url, body: try await body(for: method, arguments, context, &access),
      fields: access.fields)
    request.ifMatch = arguments[.ifMatch]
    guard request.ifMatch.map({ HTTPField(name: .ifMatch, value: $0).isValid }) ?? true else {
      throw arguments.usage("--if-match contains characters that are not allowed in a header field")
    }
    let conversation = try await access.conversation(root: target.root, context)
    let response = try await conversation.send(request)
    try await ResponseOutput(arguments, context).print(response)
    return .done
  }

  private static func operation(_ method: String) -> ODataSingleRequest.Operation {
    switch method {
    case "PUT": .update(.replace)
    case "PATCH": .update(.patch)
    case "MERGE": .update(.merge)
    case "DELETE": .delete
    default: .create
    }
  }

  private static func body(
    for method: String, _ arguments: ParsedArguments, _ context: CommandContext, _ access: inout ServiceAccess
  ) async throws -> ODataRequestBody {
    guard let file = arguments[.data] else {
      if method != "POST", method != "DELETE" { throw arguments.usage("\(method) needs --data FILE") }
      if arguments.has(.contentType) { throw arguments.usage("--content-type needs --data FILE") }
      return .none
    }
    guard method != "DELETE" else { throw arguments.usage("DELETE does not accept --data") }
    if let type = arguments[.contentType], !HTTPField(name: .contentType, value: type).isValid {
      throw arguments.usage("--content-type contains characters that are not allowed in a header field")
    }
    let content = try await access.reading { try await RequestContent.open(file, context, until: $0) }
    let type = arguments[.contentType] ?? ContentKind.mediaType(of: content.beginning)
    switch content.body {
    case .none: return .none
    case .bytes(let bytes): return .bytes(bytes, contentType: type)
    case .stream(let length, let open): return .stream(length: length, contentType: type, open: open)
    }
  }
}

extension OptionSyntax {
  fileprivate static let data = OptionSyntax(
    "--data", short: "-d", valueName: "FILE", .file, "send the content of FILE, - for standard input")
  fileprivate static let contentType = OptionSyntax(
    "--content-type", valueName: "TYPE", .text, "the media type of the data")
  static let ifMatch = OptionSyntax(
    "--if-match", valueName: "ETAG", .text, "change only an entity with this ETag; * for any version")
}

extension OperandSyntax {
  fileprivate static let method = OperandSyntax(
    "METHOD", count: .one, value: .words(["POST", "PUT", "PATCH", "MERGE", "DELETE"]), summary: "the method")
  fileprivate static let changedURL = OperandSyntax(
    "URL", count: .one, value: .text, summary: "the resource to change, or the collection to add to")
}
