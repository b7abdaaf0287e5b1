import Storage
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A cache in a place that other processes use too, which tells when something may have been changed there.
protocol SharedCache: Cache {
  /// What to remember before an entry is read: as long as it is current, nobody has changed what lies under the key. Nil where
  /// that cannot be known: the file system has no shared memory, or nobody may write to the folder.
  func changeMark(forKey key: String) -> ChangeMark?
}

/// The state of one part of a shared cache that a reader remembers.
struct ChangeMark: Sendable {
  private let changes: SharedChanges
  private let part: Int
  private let number: UInt64

  init(_ changes: SharedChanges, part: Int) {
    self.changes = changes
    self.part = part
    number = changes.counter.part(part)
  }

  /// True where nothing of the part has been changed since. It costs a load from memory, and the time of day.
  var isCurrent: Bool { number & 1 == 0 && changes.counter.part(part) == number && changes.isInPlace }

  /// The mark, where one change alone lies between it and an earlier one; else nil.
  func following(_ earlier: ChangeMark?) -> ChangeMark? {
    guard let earlier, earlier.changes === changes, earlier.number & 1 == 0, number == earlier.number &+ 2 else {
      return nil
    }
    return self
  }
}

/// The numbers that the processes with one cache share, and whether their file is still in its place.
final class SharedChanges: Sendable {
  let counter: SharedCounter
  private let checked = Atomic<Int64>(SharedChanges.seconds)
  private let isGone = Atomic(false)

  init(_ counter: SharedCounter) { self.counter = counter }

  /// False from a second after the file was deleted at the latest: others do not see it any more.
  var isInPlace: Bool {
    if isGone.load(ordering: .relaxed) { return false }
    let now = SharedChanges.seconds
    guard checked.exchange(now, ordering: .relaxed) != now else { return true }
    if counter.isInPlace { return true }
    isGone.store(true, ordering: .relaxed)
    return false
  }

  /// The seconds of a clock that costs next to nothing to read.
  private static var seconds: Int64 {
    var time = timespec()
    #if os(Linux)
      let clock = CLOCK_MONOTONIC_COARSE
    #else
      let clock = CLOCK_MONOTONIC_RAW_APPROX
    #endif
    // The variable is local.
    _ = unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec)
  }
}
