internal import LarderOData

extension CommandSyntax {
  /// `larder payload --file F`.
  static let payload: CommandSyntax = .init(
    "payload", summary: "show how Larder reads a payload in a file",
    discussion: [
      "FILE contains a response of a service: JSON of V2, V3 or V4, Atom, a service document, an error, a delta, or "
        + "the text of $count; alone, or with its status line and headers.",
      "For a response without a complete payload (202, 204, 206, 304), its status and headers are shown.",
      "With the service's metadata, values have their declared types; --url specifies the requested URL if the "
        + "payload does not: V2 never does for properties and functions.",
      "If the payload cannot be read, the exit status is 4, and the error names the position.",
    ],
    examples: [
      "larder payload --file products.json --metadata metadata.xml --url https://host/service/Products",
      "curl -si https://host/service/Products | larder payload --file -",
    ],
    options: [.payloadFile, .payloadMetadata, .payloadType, .payloadURL]
  ) { arguments, context in
    let file = try arguments.required(OptionSyntax.payloadFile)
    if let url = arguments[.payloadURL] { try RequestTarget.check(url, in: arguments) }
    let recorded = RecordedPayload(try context.read(file))
    let model = try arguments[.payloadMetadata].map { try MetadataFile.read($0, context) }
    var payload: ODataPayload?
    do {
      if recorded.hasPayload {
        payload = try recorded.read(contentType: arguments[.payloadType], model: model, url: arguments[.payloadURL])
      }
    } catch  where recorded.outcome != nil {
      let reason = (error as? CommandFailure)?.message ?? "\(error)"
      context.note(
        "\(file): the content of the response with status \(recorded.status ?? 0) is not a payload: \(reason)")
    } catch let failure as CommandFailure {
      throw CommandFailure(failure.status, "\(file): \(failure.message)", hint: failure.hint)
    } catch {
      throw CommandFailure(.storage, "\(file): \(error)")
    }
    for message in ServiceMessage.all(in: recorded.fields) { context.note(ServiceMessage.line(message)) }
    var json = JSONOutput(context.output)
    json.model = model
    if let kind = recorded.outcome {
      try json.write(recorded, kind: kind, payload: payload, url: arguments[.payloadURL])
    } else if let payload {
      try json.write(payload, url: arguments[.payloadURL])
    }
    return .done
  }
}

extension OptionSyntax {
  fileprivate static let payloadFile = OptionSyntax(
    "--file", valueName: "FILE", .file, "the payload, - for standard input")
  fileprivate static let payloadMetadata = OptionSyntax(
    "--metadata", valueName: "FILE", .file, "the service's $metadata document")
  fileprivate static let payloadType = OptionSyntax(
    "--content-type", valueName: "TYPE", .text, "the payload's media type, if its head does not have it")
  fileprivate static let payloadURL = OptionSyntax("--url", valueName: "URL", .text, "the requested URL")
}
