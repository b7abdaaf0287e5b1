internal import LarderOData

extension CommandSyntax {
  /// `larder payload --file F`.
  static let payload: CommandSyntax = .init(
    "payload", summary: "show what Larder understands of a payload in a file",
    discussion: [
      "FILE holds what a service sent: JSON of V2, V3 or V4, Atom, a service document, an error, a delta, the text of "
        + "$count; alone, or as a whole answer with its status line and headers.",
      "Of an answer without a whole payload (202, 204, 206, 304), what its status and headers say is shown.",
      "With the service's metadata, values have their declared types; --url tells what was asked where the "
        + "payload does not: V2 never says it for properties and functions.",
      "A payload that cannot be read ends with 4, and the error names the place.",
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
      context.note("\(file): what stands behind the status \(recorded.status ?? 0) is no payload: \(reason)")
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
    "--content-type", valueName: "TYPE", .text, "the payload's media type, where its head does not say it")
  fileprivate static let payloadURL = OptionSyntax("--url", valueName: "URL", .text, "the URL that was asked")
}
