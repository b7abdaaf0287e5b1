internal import LarderGenerator

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The folder that generated files are written to. Files that were not generated are never replaced or removed.
struct GeneratedFolder {
  let path: String

  /// What a run has done.
  struct Changes {
    var written = 0
    var unchanged = 0
    var removed = 0
  }

  /// Writes the files that differ, and removes generated files that are not among them. If a file that was not
  /// generated is in the way, it changes nothing.
  func replaceFiles(by files: [GeneratedFile]) throws -> Changes {
    do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
      throw FileError(action: "created", path: path, reason: "the folder cannot be created there")
    }
    let existing = try existingFiles()
    for file in files where existing[file.name] == .some(nil) {
      throw CommandFailure(
        .storage, "\(filePath(file.name)) was not generated, so it is not replaced",
        hint: "Move the file, or write to another folder with --output.")
    }
    var changes = Changes()
    for file in files {
      let content = Array(file.text.utf8)
      if existing[file.name] == content {
        changes.unchanged += 1
        continue
      }
      var output = try OutputFile.create(filePath(file.name))
      try output.write(content)
      try output.finish()
      changes.written += 1
    }
    let current = Set(files.map(\.name))
    for (name, content) in existing.sorted(by: { $0.key < $1.key }) where content != nil && !current.contains(name) {
      do { try FileManager.default.removeItem(atPath: filePath(name)) } catch {
        throw FileError(action: "removed", path: filePath(name), reason: "the system does not allow it")
      }
      changes.removed += 1
    }
    return changes
  }

  /// The files whose names end as those of generated files, with their content if they were generated.
  private func existingFiles() throws -> [String: [UInt8]?] {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
      throw FileError(path: path, reason: "the content of the folder cannot be listed")
    }
    var files: [String: [UInt8]?] = [:]
    for name in names where name.hasSuffix(FileHeader.fileEnding) {
      let content = try InputFile.read(filePath(name))
      let isGenerated = content.starts(with: FileHeader.mark.utf8)
      files[name] = .some(isGenerated ? content : nil)
    }
    return files
  }

  private func filePath(_ name: String) -> String { path + "/" + name }
}
