internal import LarderContent
internal import LarderStorage

/// The folder for cached content: the given one, or larder's own in the user's cache folder.
struct ContentFolder: Sendable {
  let path: String
  /// Whether the user named the folder; false for the default folder.
  let isGiven: Bool
  /// The encryption key; nil stores plain files.
  let key: StorageKey?

  init(_ arguments: ParsedArguments, _ context: CommandContext) throws {
    key = try KeyAccess.key(arguments, context)
    if let given = arguments[.contentCache] {
      path = context.path(given)
      isGiven = true
      return
    }
    guard let defaultPath = ContentFolder.defaultPath(context.environment) else {
      throw arguments.usage(
        "the default folder for caches is unknown: HOME is not set", hint: "Specify a folder with --cache DIR.")
    }
    path = defaultPath
    isGiven = false
  }

  /// The default folder: by the XDG base directories, which ignore a relative path; on Apple platforms the user's
  /// `Caches`.
  static func defaultPath(_ environment: [String: String]) -> String? {
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

  /// Opens the cache, encrypted if there is a key. If the network is available, a request continues without a cache
  /// when the disk is full or the default folder cannot be used. A given folder that cannot be used, and a wrong key,
  /// are errors.
  func open(limit: Int, isNeeded: Bool, _ context: CommandContext) throws(CacheError) -> any Cache {
    do throws(CacheError) {
      return try FileCache(path: path, limit: limit, key: key) { context.warn($0.message) }
    } catch {
      if isNeeded || error.isKeyError || (isGiven && !error.isDiskFull) { throw error }
      context.warn("responses are not cached: \(error)")
      return NoCache()
    }
  }
}

extension CacheError {
  /// Whether another key, or no key, would help.
  var isKeyError: Bool {
    switch self {
    case .wrongKey, .encrypted, .notEncrypted: true
    default: false
    }
  }

  /// Whether the disk is full.
  var isDiskFull: Bool { if case .full = self { true } else { false } }
}
