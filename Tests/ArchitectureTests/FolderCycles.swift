/// Two folders of one target whose files use each other's types: such code can be read only together.
enum FolderCycles {
  /// Two folders, the first in alphabetical order, and the types that each uses of the other.
  struct Pair: Hashable {
    let target: String
    let first: String
    let second: String
    let usedByFirst: [String]
    let usedBySecond: [String]

    /// How ``allowed`` names it. The target's own folder is called `.`.
    var name: String { "\(target): \(first), \(second)" }

    var description: String { "\(name): \(first) uses \(usedByFirst), \(second) uses \(usedBySecond)" }
  }

  /// The pairs that may be so, each with its reason.
  static let allowed: [String: String] = [
    "LarderObjects: Disk, Memory":
      "a transaction updates the memory tier in its commit, and a miss in memory is read from the disk",
    "LarderOffline: Changes, Coverage":
      "a change is checked against what was downloaded, and a row with pending changes counts as downloaded",
    "LarderOffline: Parameters, Provider":
      "onUserSwitch names the provider that uploads the previous user's changes",
    "LarderService: Error, Request": "an error carries the response, and reading a response throws errors",
  ]

  /// The pairs of folders in which each uses types of the other.
  static func pairs(in files: [SourceFile]) -> [Pair] {
    Dictionary(grouping: files) { $0.target ?? "" }.flatMap { pairs(target: $0.key, files: $0.value) }
      .sorted { $0.name < $1.name }
  }

  private static func pairs(target: String, files: [SourceFile]) -> [Pair] {
    var homes: [String: Set<String>] = [:]
    for file in files {
      for type in types(in: file) { homes[type, default: []].insert(folder(of: file)) }
    }
    var uses: [String: [String: Set<String>]] = [:]
    for file in files {
      let user = folder(of: file)
      for word in capitalizedWords(in: file.code) {
        // A name that two folders declare, as a nested type's, tells nothing.
        guard let home = homes[word], home.count == 1, let owner = home.first, owner != user else { continue }
        uses[user, default: [:]][owner, default: []].insert(word)
      }
    }
    return uses.keys.flatMap { first in
      (uses[first] ?? [:]).compactMap { second, types in
        guard first < second, let back = uses[second]?[first] else { return nil }
        return Pair(
          target: target, first: first, second: second, usedByFirst: types.sorted(), usedBySecond: back.sorted())
      }
    }
  }

  /// The folder directly below the target; `.` for the target's own.
  private static func folder(of file: SourceFile) -> String {
    let parts = file.path.split(separator: "/")
    return parts.count > 3 ? String(parts[2]) : "."
  }

  /// The types that a file declares for others: at its outermost level, and not private.
  private static func types(in file: SourceFile) -> [String] {
    file.codeLines.compactMap { line in
      guard let first = line.first, first.isLetter || first == "@" else { return nil }
      let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
      guard !words.contains("private"), !words.contains("fileprivate"), !words.contains("extension"),
        let keyword = words.firstIndex(where: { keywords.contains($0) }), keyword + 1 < words.count
      else { return nil }
      return words[keyword + 1]
    }
  }

  private static let keywords: Set<String> = ["struct", "class", "enum", "protocol", "actor", "typealias"]

  private static func capitalizedWords(in code: String) -> Set<String> {
    var words: Set<String> = []
    var word: [UInt8] = []
    for byte in code.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        word.append(byte)
      default:
        if let first = word.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) {
          words.insert(String(decoding: word, as: UTF8.self))
        }
        word.removeAll(keepingCapacity: true)
      }
    }
    return words
  }
}
