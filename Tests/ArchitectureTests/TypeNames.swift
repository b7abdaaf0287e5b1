/// The types that files declare at their outermost level.
enum TypeNames {
  /// The names that types of several targets have, with these targets: in a search, one cannot tell which is meant.
  static func shared(in files: [SourceFile]) -> [String] {
    var targets: [String: Set<String>] = [:]
    for file in files {
      for type in file.types { targets[type.name, default: []].insert(file.target ?? "") }
    }
    return targets.filter { $0.value.count > 1 }.map { "\($0.key): \($0.value.sorted().joined(separator: ", "))" }
      .sorted()
  }
}

extension SourceFile {
  /// The types that the file declares at its outermost level.
  var types: [(name: String, isPrivate: Bool)] {
    codeLines.compactMap { line in
      guard let first = line.first, first.isLetter || first == "@" else { return nil }
      let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
      guard !words.contains("extension"), !words.contains("import"),
        let keyword = words.firstIndex(where: { Self.typeKeywords.contains($0) }),
        keyword + 1 < words.count
      else { return nil }
      return (words[keyword + 1], words.contains("private") || words.contains("fileprivate"))
    }
  }

  private static let typeKeywords: Set<String> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
}
