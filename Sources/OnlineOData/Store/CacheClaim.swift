import Locking
import Storage
import Synchronization

/// The right of one store to the cache of one service: in this process by a list, against others by a lock on a file.
final class CacheClaim: Sendable {
  private static let roots = Locked<Set<String>>([])

  private let root: String
  private let lock: FileLock
  private let isHeld = Atomic(true)

  /// Claims a cache; throws `inUse` where another store has the service's cache, whatever its folder and name.
  init(_ place: CachePlace) throws(StorageError) {
    guard CacheClaim.roots.withLock({ $0.insert(place.root).inserted }) else {
      throw StorageError.inUse(place.file)
    }
    root = place.root
    do throws(StorageError) { lock = try FileLock(place.lockFile) } catch {
      CacheClaim.roots.withLock { _ = $0.remove(place.root) }
      throw error
    }
  }

  /// Gives the claim back; a second call does nothing.
  func release() {
    guard isHeld.exchange(false, ordering: .acquiringAndReleasing) else { return }
    lock.release()
    CacheClaim.roots.withLock { _ = $0.remove(root) }
  }

  deinit { release() }
}
