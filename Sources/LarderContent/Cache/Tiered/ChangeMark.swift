import LarderStorage
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
  /// The numbers that all processes share, and the part that a key belongs to. Nil where there are none: the file system has no
  /// shared memory, or nobody may write to the folder.
  func sharedPart(ofKey key: String) -> (changes: SharedChanges, part: Int)?
}

extension SharedCache {
  /// What to remember before an entry is read: as long as it is current, nobody has changed what lies under the key.
  func changeMark(forKey key: String) -> ChangeMark? {
    sharedPart(ofKey: key).map { ChangeMark($0.changes, part: $0.part) }
  }

  /// What to remember before a request is sent: as long as it is current, no process has declared invalid what the response
  /// may be of.
  func invalidationMark(of resource: String) -> InvalidationMark? {
    sharedPart(ofKey: resource).map { InvalidationMark($0.changes, part: $0.part) }
  }

  /// Tells all processes that responses on their way to a resource may be older than a change that has just been made.
  func noteInvalidation(of resource: String) {
    guard let (changes, part) = sharedPart(ofKey: resource) else { return }
    changes.counter.countInvalidation(of: part % SharedCounter.invalidationCount)
  }

  /// Tells the same of all resources.
  func noteInvalidationOfAll() {
    guard let (changes, _) = sharedPart(ofKey: "") else { return }
    for index in 0..<SharedCounter.invalidationCount { changes.counter.countInvalidation(of: index) }
  }
}

/// The number of invalidations of a part of the resources, as a request remembers it.
struct InvalidationMark: Sendable {
  private let changes: SharedChanges
  private let index: Int
  private let number: UInt64

  init(_ changes: SharedChanges, part: Int) {
    self.changes = changes
    index = part % SharedCounter.invalidationCount
    number = changes.counter.invalidations(index)
  }

  /// True where nothing of the part was declared invalid since.
  var isCurrent: Bool { changes.counter.invalidations(index) == number }
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

  /// Nothing that was read until now counts as current: the cache is suspended, and another file may come in this one's place.
  func end() { isGone.store(true, ordering: .relaxed) }

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
