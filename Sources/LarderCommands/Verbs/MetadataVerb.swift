internal import LarderHTTP
internal import LarderOData
internal import LarderODataXML
internal import LarderService

extension CommandSyntax {
  /// `larder metadata URL` and `larder metadata --file F`.
  static let metadata: CommandSyntax = .init(
    "metadata", summary: "show the model of a service: its $metadata in a readable form",
    discussion: [
      "URL is the service's root or its $metadata document. CSDL XML of OData V1 to 4.01 and CSDL JSON are read.",
      "* marks properties of the key, > marks navigation properties.",
      "With --update the document is saved in FILE instead, and what changes for generated code is listed: for the types "
        + "that a larder-generate.json beside FILE selects, or for all. Nothing is saved if the response is not metadata.",
    ],
    examples: [
      "larder metadata https://host/service/", "larder metadata --file metadata.xml --json",
      "larder metadata https://host/service/ --update Sources/Shop/shop.xml",
      "curl -s https://host/service/\\$metadata | larder metadata --file -",
    ],
    options: [.metadataInput, .json, .annotations, .updatedDocument] + ServiceAccess.options, operands: [.serviceURL]
  ) { arguments, context in
    let model: EdmModel
    let updated = arguments[OptionSyntax.updatedDocument]
    for option in [OptionSyntax.json, .annotations] where updated != nil && arguments.has(option) {
      throw arguments.usage("\(option.name) cannot be combined with --update")
    }
    if updated == "-" { throw arguments.usage("--update needs the path of a file: - cannot be replaced") }
    switch (arguments[OperandSyntax.serviceURL], arguments[OptionSyntax.metadataInput]) {
    case (let url?, nil):
      let document = try await readDocument(at: url, arguments, context)
      if let updated {
        let update = MetadataUpdate(path: context.path(updated))
        for line in try update.replace(by: document.bytes, document.model, context) { try context.output.line(line) }
        return .done
      }
      model = document.model
    case (nil, .some) where updated != nil: throw arguments.usage("--update needs the URL of a service")
    case (nil, let file?): model = try MetadataFile.read(file, context)
    case (nil, nil): throw arguments.usage("URL or --file FILE is missing")
    case (_?, _?): throw arguments.usage("URL and --file FILE cannot be combined")
    }
    if arguments.has(.json) {
      var json = JSONOutput(context.output)
      try json.write(model)
    } else {
      var text = ModelText(context.output, showsAnnotations: arguments.has(.annotations))
      try text.write(model)
    }
    return .done
  }

  private typealias Document = (model: EdmModel, bytes: [UInt8])

  private static func readDocument(
    at url: String, _ arguments: ParsedArguments, _ context: CommandContext
  ) async throws -> Document {
    let access = try ServiceAccess(arguments, context)
    let document = url.prefix { $0 != "?" && $0 != "#" }.hasSuffix("$metadata")
    let target = try RequestTarget(
      document ? url : withSlash(url), service: arguments[.service], in: arguments)
    let conversation = try await access.conversation(root: target.root, context)
    let path = document ? target.url : target.rootText + "$metadata" + target.query
    let response = try await conversation.send(ODataSingleRequest(.read, path, fields: access.fields, useCache: false))
    do throws(MetadataError) { return (try EdmModel.read(response.payloadBytes), response.payloadBytes) } catch {
      if isPage(response.fields[.contentType]) {
        throw CommandFailure(
          .network, "\(TerminalText.line(path)): the response is an HTML page, not metadata",
          hint: "It may be a log-in page: check the URL and the credentials.")
      }
      throw CommandFailure(.network, "\(TerminalText.line(path)): \(error)")
    }
  }

  /// True for the media types of web pages.
  private static func isPage(_ contentType: String?) -> Bool {
    let type = (contentType ?? "").prefix { $0 != ";" && $0 != " " }.lowercased()
    return type == "text/html" || type == "application/xhtml+xml"
  }

  /// The URL with a slash at its end: a root that is given without one is accepted.
  private static func withSlash(_ url: String) -> String {
    let rest = url.prefix { $0 != "?" && $0 != "#" }
    return rest.isEmpty || rest.hasSuffix("/") ? url : rest + "/" + url.dropFirst(rest.count)
  }
}

extension OptionSyntax {
  /// The option for JSON instead of text for people.
  static let json = OptionSyntax(flag: "--json", "print JSON")
  fileprivate static let metadataInput = OptionSyntax(
    "--file", valueName: "FILE", .file, "read the document from FILE, - for standard input")
  fileprivate static let updatedDocument = OptionSyntax(
    "--update", valueName: "FILE", .file, "save the document in FILE, and list what changes for generated code")
  fileprivate static let annotations = OptionSyntax(flag: "--annotations", "show annotations and sap: attributes")
}

extension OperandSyntax {
  fileprivate static let serviceURL = OperandSyntax(
    "URL", count: .optional, value: .text, summary: "the service's root or its $metadata")
}
