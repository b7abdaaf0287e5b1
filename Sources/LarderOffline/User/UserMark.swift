import LarderCore
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The file beside a store that says whose it is, for those who have not its key; and a lock on it, which everybody shares
/// who opens the store, and has alone who puts another store in its place.
///
/// What is kept in the store itself decides where it can be read. The mark is written while there is no store, or while it
/// is held open: so it never names another than the owner of a store that was found.
struct UserMark: Sendable {
  private let lock: FileLock

  /// How long another opening or switch is waited for.
  private static let patience = Duration.seconds(10)

  static func path(of store: String) -> String { store + "-user" }

  /// Takes the lock, and waits for those who have it; nil where there is no file, or it may not be read, and none is to be
  /// made.
  ///
  /// Throws `inUse` where it is held all the time.
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

  /// Whose the store is that is in place; nil where that was not said.
  var user: StoreUser? { StoreUser(digest: lock.content(StoreUser.length + 1)) }

  /// Whether the mark may be changed.
  var isWritable: Bool { lock.isWritable }

  /// Says whose the store is.
  func set(_ user: StoreUser) throws(StorageError) { try lock.write(Array(user.digest.utf8)) }

  /// Gives the lock back; a second call does nothing.
  func release() { lock.release() }
}
