import Foundation
import PackagePlugin

/// Generates Swift types in each build, from each `larder-generate.json` of a target and the metadata document that it
/// names. Nothing is fetched.
@main
struct LarderGeneratorPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let tool = try context.tool(named: "LarderGeneratorTool")
    let configurations = configurations(in: target.directoryURL)
    guard !configurations.isEmpty else {
      Diagnostics.warning("\(target.name) has no larder-generate.json, so no types are generated")
      return []
    }
    return try configurations.map { configuration in
      let document = try document(of: configuration)
      let name = name(of: configuration, document, in: target)
      let folder = context.pluginWorkDirectoryURL
      return .buildCommand(
        displayName: "Generating Swift types from \(document.lastPathComponent)", executable: tool.url,
        arguments: [configuration.path(percentEncoded: false), folder.path(percentEncoded: false), name],
        inputFiles: [configuration, document],
        outputFiles: (1...8).map { folder.appending(path: "\(name)-\($0).generated.swift") })
    }
  }

  /// The beginning of the names of generated files: target, folder of the configuration, document. Two configurations can
  /// have documents of the same name.
  private func name(of configuration: URL, _ document: URL, in target: any SourceModuleTarget) -> String {
    let folder = configuration.deletingLastPathComponent().standardizedFileURL.pathComponents
    let inner = folder.dropFirst(target.directoryURL.standardizedFileURL.pathComponents.count)
    return ([target.name] + inner + [document.deletingPathExtension().lastPathComponent]).joined(separator: "+")
  }

  private func configurations(in folder: URL) -> [URL] {
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (files?.compactMap { $0 as? URL } ?? []).filter { $0.lastPathComponent == "larder-generate.json" }
      .sorted { $0.path < $1.path }
  }

  /// The metadata document that a configuration names; the tool reports what is wrong with the rest.
  private func document(of configuration: URL) throws -> URL {
    struct Content: Decodable { var metadata: String }
    let content: Content
    do { content = try JSONDecoder().decode(Content.self, from: Data(contentsOf: configuration)) } catch {
      throw PluginError(description: "\(configuration.path): 'metadata', the path of the document, cannot be read")
    }
    guard !content.metadata.hasPrefix("/") else { return URL(filePath: content.metadata) }
    return configuration.deletingLastPathComponent().appending(path: content.metadata)
  }
}

struct PluginError: Error, CustomStringConvertible {
  let description: String
}
