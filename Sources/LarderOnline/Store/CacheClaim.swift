import LarderCore
import LarderStorage
import Synchronization

/// The right of one store to its cache of one service: in this process by a list, against others by a lock on a file.
final class CacheClaim: Sendable {
  /// The stores by their service and their name.
  private static let claimed = Locked<Set<[String]>>([])

  private let store: [String]
  private let lock: FileLock
  private let isHeld = Atomic(true)

  /// Claims a cache; throws `inUse` where another store of this name has the service's cache, whatever its folder.
  init(_ place: CachePlace) throws(StorageError) {
    let store = [place.root, place.storeName]
    guard CacheClaim.claimed.withLock({ $0.insert(store).inserted }) else {
      throw StorageError.inUse(place.file)
    }
    self.store = store
    do throws(StorageError) { lock = try FileLock(place.lockFile) } catch {
      CacheClaim.claimed.withLock { _ = $0.remove(store) }
      throw error
    }
  }

  /// Gives the claim back; a second call does nothing.
  func release() {
    guard isHeld.exchange(false, ordering: .acquiringAndReleasing) else { return }
    lock.release()
    CacheClaim.claimed.withLock { _ = $0.remove(store) }
  }

  deinit { release() }
}
