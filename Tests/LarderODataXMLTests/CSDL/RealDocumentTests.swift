import Foundation
import LarderOData
import LarderODataXML
import Testing

/// Documents of real products, if the folder next to the package has them.
enum Samples {
  static let metadata: URL = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "../shared/odata/samples/metadata").standardizedFileURL

  static func files(in folders: [String], of root: URL = metadata) -> [URL] {
    folders.flatMap { folder -> [URL] in
      let result = try? FileManager.default.contentsOfDirectory(
        at: root.appending(path: folder), includingPropertiesForKeys: nil)
      if result == nil { print("no samples in \(root.path())/\(folder): nothing to check there") }
      return (result ?? []).sorted { $0.path() < $1.path() }
    }
  }

  static func bytes(_ file: URL) throws -> [UInt8] { Array(try Data(contentsOf: file)) }
}

@Suite("CSDL of real products", .timeLimit(.minutes(5)))
struct RealDocumentTests {
  @Test(
    "Every sample document is read completely",
    arguments: Samples.files(in: ["v2", "v3", "v4", "bulk-sap-v2", "csdl-json"]))
  func sample(_ file: URL) throws {
    let model = try EdmModel.read(Samples.bytes(file))
    let schemas = model.schemas
    print(
      file.lastPathComponent, model.version, schemas.count, schemas.map(\.entityTypes.count).reduce(0, +),
      schemas.flatMap(\.entityTypes).flatMap(\.properties).count, model.diagnostics.count)
    for diagnostic in model.diagnostics.prefix(8) { print("   ", diagnostic) }
    #expect(!schemas.isEmpty)
  }

  @Test(
    "Every faulty sample is rejected with a position or read with diagnostics",
    arguments: Samples.files(in: ["malformed"]))
  func faulty(_ file: URL) throws {
    do {
      let model = try EdmModel.read(Samples.bytes(file))
      print(file.lastPathComponent, model.diagnostics)
      #expect(!model.diagnostics.isEmpty)
    } catch let error as MetadataError {
      print(file.lastPathComponent, error)
      #expect(error.location.line != nil)
    }
  }
}
