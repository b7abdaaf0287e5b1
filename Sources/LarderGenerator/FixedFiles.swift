extension GeneratedFiles {
  /// The number of files of a fixed set. A build plugin must name its files before it has read the metadata.
  package static let fixedCount = 8

  /// The names of a fixed set of files.
  package static func fixedNames(_ name: String) -> [String] {
    (1...fixedCount).map { "\(name)-\($0)\(FileHeader.fileEnding)" }
  }

  /// The content as a fixed set of files, some of which may have no declarations. A type stays in its file when others are
  /// added or removed.
  package func fixed(_ name: String) -> [GeneratedFile] {
    var parts: [[GeneratedFile]] = Array(repeating: [], count: GeneratedFiles.fixedCount)
    for file in files {
      parts[Int(StableHash.of(file.name) % UInt64(GeneratedFiles.fixedCount))].append(file)
    }
    return zip(GeneratedFiles.fixedNames(name), parts).map { name, files in
      GeneratedFile(name: name, text: FileHeader.joined(files.map(\.text)))
    }
  }
}

/// A hash of a text that is the same in each process.
enum StableHash {
  /// FNV-1a of the text in UTF-8.
  static func of(_ text: String) -> UInt64 {
    text.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
  }
}
