internal import LarderGenerator
internal import LarderOData

extension CommandSyntax {
  /// `larder generate FILE --output DIR`.
  static let generate: CommandSyntax = .init(
    "generate", summary: "generate Swift types from a $metadata document",
    discussion: [
      "FILE is a $metadata document, CSDL XML of OData V1 to 4.01 or CSDL JSON; - is standard input. DIR gets one file "
        + "for each entity type, complex type, enumeration and entity container. The same document and options always "
        + "give the same bytes, and files that do not change are not written.",
      "Files of a previous run that are not generated any more are removed. Files without the generator's first line "
        + "are never replaced or removed.",
      "PATTERN is the name of an entity set or type, with or without its namespace; * is any text, ? any character.",
      "Parts of the model without a Swift form, such as values of abstract types, are reported as notSupported.",
    ],
    examples: [
      "larder generate metadata.xml --output Sources/Shop/Generated",
      "larder generate metadata.xml --output Generated --only 'A_SalesOrder*' --except '*Text' --access public",
      "curl -s https://host/service/\\$metadata | larder generate - --output Generated",
    ],
    options: [.generatedFolder, .onlyNames, .exceptNames, .access, .typePrefix, .listOmissions],
    operands: [.metadataDocument]
  ) { arguments, context in
    let file = try arguments.required(OperandSyntax.metadataDocument)
    let folder = GeneratedFolder(path: context.path(try arguments.required(.generatedFolder)))
    let options = GeneratorOptions(
      access: arguments[.access].flatMap(GeneratorOptions.Access.init(rawValue:)) ?? .internal,
      prefix: arguments[.typePrefix] ?? "", only: arguments.values(.onlyNames).map(NamePattern.init),
      except: arguments.values(.exceptNames).map(NamePattern.init),
      documentName: file == "-" ? "-" : String(file.split(separator: "/").last ?? ""))
    let model = try MetadataFile.read(file, context)
    let generated: GeneratedFiles
    do throws(GeneratorError) { generated = try SwiftGenerator.generate(model, options: options) } catch {
      if error == .nothingSelected {
        throw CommandFailure(.negative, "\(file == "-" ? "standard input" : file): \(error)")
      }
      throw arguments.usage("\(error)")
    }
    let changes = try folder.replaceFiles(by: generated.files)
    try context.output.line(
      "\(changes.written) files written, \(changes.unchanged) unchanged, \(changes.removed) removed")
    report(generated.omissions, isComplete: arguments.has(.listOmissions), context)
    return .done
  }

  /// Reports what was not generated, with all names or the first ones.
  private static func report(_ omissions: [Omission], isComplete: Bool, _ context: CommandContext) {
    for reason in Omission.Reason.allCases {
      let names = omissions.filter { $0.reason == reason }.map(\.name)
      guard !names.isEmpty else { continue }
      let listed = isComplete ? names[...] : names.prefix(3)
      let rest = names.count - listed.count
      let more = rest > 0 ? " and \(rest) more (--list-omissions shows all)" : ""
      context.warn("notSupported: \(reason.rawValue): \(listed.joined(separator: ", "))\(more)")
    }
  }
}

extension OptionSyntax {
  fileprivate static let generatedFolder = OptionSyntax(
    "--output", short: "-o", valueName: "DIR", .directory, "write the files to DIR")
  fileprivate static let onlyNames = OptionSyntax(
    "--only", valueName: "PATTERN", .text, isRepeatable: true,
    "generate these entity sets and types, and what they refer to; an abstract type with all that derive from it")
  fileprivate static let exceptNames = OptionSyntax(
    "--except", valueName: "PATTERN", .text, isRepeatable: true,
    "leave out these types and entity sets, and the members that refer to them")
  fileprivate static let access = OptionSyntax(
    "--access", valueName: "LEVEL", .words(GeneratorOptions.Access.allCases.map(\.rawValue)),
    "the access level of the types (default internal)")
  fileprivate static let typePrefix = OptionSyntax(
    "--prefix", valueName: "TEXT", .text, "begin the name of each type with TEXT")
  fileprivate static let listOmissions = OptionSyntax(
    flag: "--list-omissions", "name everything that is not supported")
}

extension OperandSyntax {
  fileprivate static let metadataDocument = OperandSyntax(
    "FILE", count: .one, value: .file, summary: "the $metadata document")
}
