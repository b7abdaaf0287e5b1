import LarderCore

/// Which files of this process are encrypted, and with which keys: a file's URI never has them.
enum CipherRegistry {
  /// What a path is opened as.
  enum Content: Sendable {
    /// An encrypted file.
    case encrypted(FileKeys)
    /// The same, which is being made and has nothing in it yet.
    case new(FileKeys)
    /// A file that is made into an encrypted one.
    case plain
  }

  /// Keeps a path known until nobody has it any more.
  final class Registration: Sendable {
    /// As the engine names the file.
    let path: String
    let content: Content
    private let number: UInt64

    fileprivate init(_ path: String, _ content: Content, _ number: UInt64) {
      self.path = path
      self.content = content
      self.number = number
    }

    deinit { CipherRegistry.remove(path, number) }

    /// The keys; nil of a plain file.
    var keys: FileKeys? {
      switch content {
      case .encrypted(let keys), .new(let keys): keys
      case .plain: nil
      }
    }
  }

  private struct Entries {
    var last: UInt64 = 0
    var byPath: [String: [(number: UInt64, content: Content)]] = [:]
  }

  private static let entries = Locked(Entries())

  /// Makes a path known; throws `other` where the engine does not take the VFS.
  ///
  /// A file that is open with the same keys already shares them, and with them the pages that are kept of it.
  static func add(_ path: String, _ content: Content) throws(StorageError) -> Registration {
    let full = try CipherVFS.fullPath(path)
    return entries.withLock { entries in
      entries.last += 1
      let content = shared(content, entries.byPath[full] ?? [])
      entries.byPath[full, default: []].append((entries.last, content))
      return Registration(full, content, entries.last)
    }
  }

  private static func shared(_ content: Content, _ known: [(number: UInt64, content: Content)]) -> Content {
    guard case .encrypted(let keys) = content else { return content }
    for case .encrypted(let others) in known.map(\.content) where others.header == keys.header {
      return .encrypted(others)
    }
    return content
  }

  private static func remove(_ path: String, _ number: UInt64) {
    let gone = entries.withLock { entries -> [(number: UInt64, content: Content)]? in
      let before = entries.byPath[path]
      let after = before?.filter { $0.number != number } ?? []
      entries.byPath[path] = after.isEmpty ? nil : after
      return before
    }
    // Released here, without the lock.
    _ = gone
  }

  /// What a path has been added as, the last first.
  static func contents(of path: String) -> [Content] {
    entries.withLock { $0.byPath[path]?.reversed().map(\.content) ?? [] }
  }
}
