/// Folders of one target that use each other's types, directly or through others: such code can be read only together.
enum FolderCycles {
  /// Folders of which each reaches every other one, in alphabetical order.
  struct Cycle: Hashable {
    let target: String
    let folders: [String]
    /// The uses within the cycle, one line for each pair of folders.
    let uses: [String]

    /// How ``allowed`` and ``allowedBelow`` name it. The target's own folder is called `.`.
    var name: String { "\(target): \(folders.joined(separator: ", "))" }

    var description: String { ([name] + uses).joined(separator: "\n  ") }
  }

  /// The allowed cycles of folders directly below a target, each with its reason.
  static let allowed: [String: String] = [
    "LarderObjects: Disk, Memory":
      "a transaction updates the memory tier in its commit, and a miss in memory is read from the disk",
    "LarderOffline: Changes, Coverage":
      "a change is checked against what was downloaded, and a row with pending changes counts as downloaded",
    "LarderOffline: Parameters, Provider":
      "onUserSwitch names the provider that uploads the previous user's changes",
    "LarderService: Error, Request": "an error carries the response, and reading a response throws errors",
  ]

  /// The allowed cycles of all folders, in addition to ``allowed``.
  static let allowedBelow: [String: String] = [
    "LarderContent: Cache, Cache/File, Cache/Spool, Cache/Tiered":
      "an entry knows where its content is, and the protocol's writer is the spool",
    "LarderOffline: Query, Query/Apply, Query/Expression, Query/Options, Query/Path, Query/SQL":
      "a path contains expressions, an expression contains paths and $apply, and all write one plan",
    "LarderOffline: Replica, Replica/File, Replica/Plan, Replica/Queries, Replica/Rows, Replica/Values":
      "the file is created by the plan, and the values of the plan describe the file",
    "LarderOffline: Upload/Conflict, Upload/Journal, Upload/Outcome, Upload/Rendering, Upload/Resolution, Upload/Run":
      "the outcome of a request decides what is sent next",
    "LarderStorage: Connection, Connection/Function, Connection/Statement":
      "a connection prepares statements and calls functions, and both belong to their connection",
    "LarderStorage: Encryption/File, Encryption/VFS":
      "the VFS reads pages by the file's codec, which knows where a page is sealed",
  ]

  /// The cycles of folders, at the first level below the target or with the folders in them.
  static func cycles(in files: [SourceFile], isDeep: Bool = false) -> [Cycle] {
    Dictionary(grouping: files) { $0.target ?? "" }
      .flatMap { cycles(target: $0.key, FolderGraph(of: $0.value, isDeep: isDeep)) }.sorted { $0.name < $1.name }
  }

  private static func cycles(target: String, _ graph: FolderGraph) -> [Cycle] {
    graph.components.map { folders in
      let uses = folders.flatMap { user in
        folders.compactMap { owner in
          graph.uses[user]?[owner].map { "\(user) uses \($0.sorted()) of \(owner)" }
        }
      }
      return Cycle(target: target, folders: folders, uses: uses)
    }
  }
}

/// The folders of a target, and the types that each uses of the others.
private struct FolderGraph {
  private(set) var uses: [String: [String: Set<String>]] = [:]

  /// - Parameter isDeep: whether a folder in a folder is one of its own.
  init(of files: [SourceFile], isDeep: Bool) {
    func folder(of file: SourceFile) -> String {
      let folders = file.path.split(separator: "/").dropFirst(2).dropLast()
      return folders.isEmpty ? "." : folders.prefix(isDeep ? .max : 1).joined(separator: "/")
    }
    var homes: [String: Set<String>] = [:]
    for file in files {
      for type in file.types where !type.isPrivate { homes[type.name, default: []].insert(folder(of: file)) }
    }
    for file in files {
      let user = folder(of: file)
      for word in Self.capitalizedWords(in: file.code) {
        // A name that two folders declare, as a nested type's, proves nothing.
        guard let home = homes[word], home.count == 1, let owner = home.first, owner != user else { continue }
        uses[user, default: [:]][owner, default: []].insert(word)
      }
    }
  }

  /// The strongly connected components of more than one folder: each of their folders is reached from each other one.
  var components: [[String]] {
    let reached = Dictionary(uniqueKeysWithValues: uses.keys.map { ($0, reachable(from: $0)) })
    let components = uses.keys.map { folder in
      (reached[folder] ?? []).filter { reached[$0]?.contains(folder) == true }.sorted()
    }
    return Set(components.filter { $0.count > 1 }).sorted { $0.lexicographicallyPrecedes($1) }
  }

  private func reachable(from start: String) -> Set<String> {
    var reached: Set<String> = []
    var next = [start]
    while let folder = next.popLast() {
      for owner in (uses[folder] ?? [:]).keys where reached.insert(owner).inserted { next.append(owner) }
    }
    return reached
  }

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
