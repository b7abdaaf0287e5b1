@_spi(Stores) import LarderCore
import LarderStorage
import Synchronization

/// The right of one store to use its cache of one service. A list guards it in this process, a file lock against other
/// processes.
final class CacheClaim: Sendable {
  /// The claimed caches, by service and store name.
  private static let claimed = Locked<Set<[String]>>([])

  private let store: [String]
  private let lock: FileLock
  private let isHeld = Atomic(true)

  /// Claims a cache. Throws `inUse` if another store of this name has the service's cache in use, in whatever folder.
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

  /// Releases the claim. A second call does nothing.
  func release() {
    guard isHeld.exchange(false, ordering: .acquiringAndReleasing) else { return }
    lock.release()
    CacheClaim.claimed.withLock { _ = $0.remove(store) }
  }

  deinit { release() }
}
