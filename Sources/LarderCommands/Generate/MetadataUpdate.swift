internal import LarderGenerator
internal import LarderOData
internal import LarderODataXML

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The replacement of a saved metadata document by a newer one, with what changes for the code that is generated from it.
struct MetadataUpdate {
  /// The path of the document.
  let path: String

  /// Compares the documents, replaces the file, and returns lines that say what changes for the code.
  func replace(by document: [UInt8], _ model: EdmModel, _ context: CommandContext) throws -> [String] {
    let former = FileManager.default.contents(atPath: path).map { Array($0) }
    guard former != document else { return ["\(path) is up to date"] }
    let options = try options()
    for pattern in ModelChange.unmatchedPatterns(in: model, options: options) {
      context.warn("\(GeneratorConfiguration.fileName): \(GeneratorError.unmatchedPattern(pattern))")
    }
    if ModelChange.isEmpty(model, options: options) { context.warn("\(GeneratorError.nothingSelected)") }
    var lines = ["\(path) is new"]
    if let former {
      lines = ["\(path) is replaced; the former document could not be read"]
      if let old = try? EdmModel.read(former) {
        let changes = try ModelChange.changes(from: old, to: model, options: options)
        let breaking = changes.count { $0.isBreaking }
        lines = ["\(path) is replaced: \(Counted.text(changes.count, "change")) in the code, \(breaking) breaking"]
        lines += changes.map { "  " + $0.description }
      }
    }
    var output = try OutputFile.create(path)
    try output.write(document)
    try output.finish()
    return lines
  }

  /// The options in the `larder-generate.json` beside the document, if it names the document; else those of all types.
  private func options() throws -> GeneratorOptions {
    let document = URL(fileURLWithPath: path).standardizedFileURL
    let folder = document.deletingLastPathComponent()
    let configuration = folder.appending(path: GeneratorConfiguration.fileName).path(percentEncoded: false)
    guard let content = FileManager.default.contents(atPath: configuration) else {
      return GeneratorOptions(documentName: "")
    }
    let settings: GeneratorConfiguration
    do throws(GeneratorError) {
      settings = try GeneratorConfiguration(Array(content))
      try settings.options.checkPrefix()
    } catch {
      throw CommandFailure(.storage, "\(configuration): \(error)")
    }
    let named =
      settings.metadata.hasPrefix("/")
      ? URL(fileURLWithPath: settings.metadata) : folder.appending(path: settings.metadata)
    guard named.standardizedFileURL.path(percentEncoded: false) == document.path(percentEncoded: false) else {
      return GeneratorOptions(documentName: "")
    }
    return settings.options
  }
}
