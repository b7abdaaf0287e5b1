import LarderCore
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The mark file beside a store, which contains the store's owner for processes that do not have the key. It is also a
/// lock: openings of the store share it, and a switch to another store takes it exclusively.
///
/// The user recorded in the store itself takes precedence if it can be read. The mark is written while there is no
/// store, or while the store is held open, so it never names a user other than the store's owner.
struct UserMark: Sendable {
  private let lock: FileLock

  /// How long to wait for another opening or switch.
  private static let patience = Duration.seconds(10)

  static func path(of store: String) -> String { store + "-user" }

  /// Takes the lock, and waits while others hold it. Nil if the file does not exist or cannot be read, and must not be
  /// created.
  ///
  /// Throws `inUse` if it stays locked.
  static func take(
    of store: String, isShared: Bool, makes: Bool = true, _ environment: LarderEnvironment = .system
  ) async throws -> UserMark? {
    let path = path(of: store)
    let begin = environment.uptime()
    while true {
      if !makes, !FileManager.default.fileExists(atPath: path) { return nil }
      do throws(StorageError) {
        return UserMark(lock: try FileLock(path, isShared: isShared, makes: makes))
      } catch {
        if !makes, error.category == .cannotOpen { return nil }
        guard error.category == .inUse, environment.uptime() - begin < patience else { throw error }
      }
      try await environment.sleep(.milliseconds(2))
    }
  }

  /// The owner of the store in place; nil if none was recorded.
  var user: StoreUser? { StoreUser(digest: lock.content(StoreUser.length + 1)) }

  /// Whether the mark can be changed.
  var isWritable: Bool { lock.isWritable }

  /// Records the owner of the store.
  func set(_ user: StoreUser) throws(StorageError) { try lock.write(Array(user.digest.utf8)) }

  /// Releases the lock. A second call does nothing.
  func release() { lock.release() }
}
