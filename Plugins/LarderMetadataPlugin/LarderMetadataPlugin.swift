import Foundation
import PackagePlugin

/// `swift package larder-metadata URL`: fetches the metadata of a service, replaces the document that the target's
/// `larder-generate.json` names, and lists what changes for the code.
@main
struct LarderMetadataPlugin: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    var extractor = ArgumentExtractor(arguments)
    let targets = extractor.extractOption(named: "target")
    let rest = extractor.remainingArguments
    guard rest.contains(where: { !$0.hasPrefix("-") }) else {
      throw PluginError(description: "URL is missing: swift package larder-metadata URL [--target TARGET] [options]")
    }
    let documents = try context.package.targets.compactMap { $0 as? any SourceModuleTarget }
      .filter { targets.isEmpty || targets.contains($0.name) }.flatMap { try self.documents(in: $0.directoryURL) }
    guard documents.count == 1, let document = documents.first else {
      let found = documents.isEmpty ? "no target has a larder-generate.json" : "there are \(documents.count) documents"
      throw PluginError(description: "\(found); choose one with --target TARGET")
    }
    let process = Process()
    process.executableURL = try context.tool(named: "LarderTool").url
    process.arguments = ["metadata"] + rest + ["--update", document.path(percentEncoded: false)]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw PluginError(description: "the document was not changed") }
  }

  private func documents(in folder: URL) throws -> [URL] {
    struct Content: Decodable { var metadata: String }
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return try (files?.compactMap { $0 as? URL } ?? []).filter { $0.lastPathComponent == "larder-generate.json" }.map {
      let content = try JSONDecoder().decode(Content.self, from: Data(contentsOf: $0))
      guard !content.metadata.hasPrefix("/") else { return URL(filePath: content.metadata) }
      return $0.deletingLastPathComponent().appending(path: content.metadata)
    }
  }
}

struct PluginError: Error, CustomStringConvertible {
  let description: String
}
