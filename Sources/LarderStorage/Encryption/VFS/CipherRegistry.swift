@_spi(Stores) import LarderCore

/// The encrypted files of this process and their keys, which are never part of a file's URI.
enum CipherRegistry {
  /// How a path is opened.
  enum Content: Sendable {
    /// An encrypted file.
    case encrypted(FileKeys)
    /// An encrypted file that is being created and has no content yet.
    case new(FileKeys)
    /// A plain file that is being encrypted.
    case plain
  }

  /// Keeps a path registered until the last reference to this object is released.
  final class Registration: Sendable {
    /// The path as the engine names it.
    let path: String
    let content: Content
    private let number: UInt64

    fileprivate init(_ path: String, _ content: Content, _ number: UInt64) {
      self.path = path
      self.content = content
      self.number = number
    }

    deinit { CipherRegistry.remove(path, number) }

    /// The file's keys; nil for a plain file.
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

  /// Registers a path; throws `other` if the engine does not accept the VFS.
  ///
  /// If the file is already open with the same keys, the registrations share them, and with them the cached plaintext
  /// pages.
  static func add(_ path: String, _ content: Content) throws(StorageError) -> Registration {
    let full = try CipherVFS.fullPath(path)
    return entries.withLock { entries in
      entries.last += 1
      let content = shared(content, entries.byPath[full] ?? [])
      entries.byPath[full, default: []].append((entries.last, content))
      return Registration(full, content, entries.last)
    }
  }

  private static func shared(_ content: Content, _ registered: [(number: UInt64, content: Content)]) -> Content {
    guard case .encrypted(let keys) = content else { return content }
    for case .encrypted(let others) in registered.map(\.content) where others.header == keys.header {
      return .encrypted(others)
    }
    return content
  }

  private static func remove(_ path: String, _ number: UInt64) {
    let removed = entries.withLock { entries -> [(number: UInt64, content: Content)]? in
      let before = entries.byPath[path]
      let after = before?.filter { $0.number != number } ?? []
      entries.byPath[path] = after.isEmpty ? nil : after
      return before
    }
    // Released here, outside the lock.
    _ = removed
  }

  /// The contents with which a path has been registered, the most recent first.
  static func contents(of path: String) -> [Content] {
    entries.withLock { $0.byPath[path]?.reversed().map(\.content) ?? [] }
  }
}
