internal import LarderContent
internal import LarderStorage

/// The folder that content is kept in: the one that was given, or larder's own among the user's caches.
struct ContentFolder: Sendable {
  let path: String
  /// False for the one that nobody asked for by name.
  let isGiven: Bool
  /// What it is encrypted with; nil keeps plain files.
  let key: StorageKey?

  init(_ arguments: ParsedArguments, _ context: CommandContext) throws {
    key = try KeyAccess.key(arguments, context)
    if let given = arguments[.contentCache] {
      path = context.path(given)
      isGiven = true
      return
    }
    guard let usual = ContentFolder.usual(context.environment) else {
      throw arguments.usage(
        "there is no folder for caches: HOME is not set", hint: "Give one by --cache DIR.")
    }
    path = usual
    isGiven = false
  }

  /// By the XDG base directories, where a relative path counts as none; on Apple platforms the user's Caches.
  static func usual(_ environment: [String: String]) -> String? {
    func folder(_ name: String) -> String? {
      environment[name].flatMap { $0.hasPrefix("/") ? ($0.hasSuffix("/") ? String($0.dropLast()) : $0) : nil }
    }
    if let caches = folder("XDG_CACHE_HOME") { return caches + "/larder/content" }
    #if canImport(Darwin)
      return folder("HOME").map { $0 + "/Library/Caches/larder/content" }
    #else
      return folder("HOME").map { $0 + "/.cache/larder/content" }
    #endif
  }

  /// Opens the cache, encrypted where there is a key. Where the network is there, a request does without a cache: nothing is kept
  /// where the disk is full, nor where the usual folder cannot be used. A folder that was given and cannot be used, and a key that
  /// does not fit, are mistakes.
  func open(limit: Int, isNeeded: Bool, _ context: CommandContext) throws(CacheError) -> any Cache {
    do throws(CacheError) {
      return try FileCache(path: path, limit: limit, key: key) { context.warn($0.description) }
    } catch {
      if isNeeded || error.isOfKey || (isGiven && !error.isOfRoom) { throw error }
      context.warn("nothing is kept: \(error)")
      return NoCache()
    }
  }
}

extension CacheError {
  /// Whether another key, or none, is what helps.
  var isOfKey: Bool {
    switch self {
    case .wrongKey, .encrypted, .notEncrypted: true
    default: false
    }
  }

  /// Whether it is the disk that has no room.
  var isOfRoom: Bool { if case .full = self { true } else { false } }
}
