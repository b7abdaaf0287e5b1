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
      throw FileError(
        action: "created", path: path, reason: "a file is in the way, or the parent folder is not writable")
    }
    let existing = try existingFiles()
    for file in files where try !isReplaceable(file.name, existing) {
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
    changes.removed = try removeFiles(existing.compactMap { $1 == nil ? nil : $0 }.sorted(), except: files)
    return changes
  }

  /// Whether a name is free, or that of a generated file. A disk that ignores case finds a file that the folder lists
  /// under another name.
  private func isReplaceable(_ name: String, _ existing: [String: [UInt8]?]) throws -> Bool {
    if let content = existing[name] { return content != nil }
    return try !InputFile.exists(filePath(name)) || content(name) != nil
  }

  /// Removes generated files that are not among those of this run, and returns their number. A name that leads to a file
  /// of this run stays: on a disk that ignores case, it is another spelling of its name.
  private func removeFiles(_ names: [String], except files: [GeneratedFile]) throws -> Int {
    let current = Set(files.map(\.name))
    let identities = Set(files.compactMap { InputFile.identity(filePath($0.name)) })
    var count = 0
    for name in names where !current.contains(name) {
      if let identity = InputFile.identity(filePath(name)), identities.contains(identity) { continue }
      do { try FileManager.default.removeItem(atPath: filePath(name)) } catch {
        throw FileError(action: "removed", path: filePath(name), reason: "the folder is not writable")
      }
      count += 1
    }
    return count
  }

  /// The files whose names end as those of generated files, with their content if they were generated.
  private func existingFiles() throws -> [String: [UInt8]?] {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
      throw FileError(path: path, reason: "the content of the folder cannot be listed")
    }
    var files: [String: [UInt8]?] = [:]
    for name in names where name.hasSuffix(FileHeader.fileEnding) {
      files[name] = .some(try content(name))
    }
    return files
  }

  /// The content of a file; nil if it was not generated.
  private func content(_ name: String) throws -> [UInt8]? {
    let content = try InputFile.read(filePath(name))
    return content.starts(with: FileHeader.mark.utf8) ? content : nil
  }

  private func filePath(_ name: String) -> String { path + "/" + name }
}
