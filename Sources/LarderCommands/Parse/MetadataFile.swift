import LarderOData
import LarderODataXML

/// Reads a `$metadata` document from a file.
enum MetadataFile {
  static func read(_ path: String, _ context: CommandContext) throws -> EdmModel {
    let bytes = try context.read(path)
    do throws(MetadataError) { return try EdmModel.read(bytes) } catch {
      throw CommandFailure(.storage, "\(path): \(error)")
    }
  }
}
