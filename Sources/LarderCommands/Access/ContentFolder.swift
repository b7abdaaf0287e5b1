internal import LarderContent
internal import LarderCore
internal import LarderStorage

/// The folder for cached content: the given one, or the default location of an application named `larder`.
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

  /// The default folder: `larder/content` in the user's folder for caches.
  static func defaultPath(_ environment: [String: String]) -> String? {
    try? DefaultLocation.fileCache.path(in: ApplicationFolders(application: "larder", variables: environment))
  }

  /// Opens the cache, encrypted if there is a key. If the network is available, a request continues without a cache
  /// when the disk is full or the default folder cannot be used. A given folder that cannot be used, and a wrong key,
  /// are errors.
  func open(limit: Int, isOffline: Bool, _ context: CommandContext) throws(CacheError) -> any Cache {
    do throws(CacheError) {
      return try FileCache(path: path, byteLimit: limit, encryptionKey: key) { context.warn($0.message) }
    } catch {
      if isOffline || error.isKeyError || (isGiven && !error.isDiskFull) { throw error }
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
