import LarderStorage
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A cache whose storage other processes use too, and that detects their changes.
protocol SharedCache: Cache {
  /// The numbers that all processes share, and the part that a key belongs to. Nil if there are none, because the file
  /// system has no shared memory or the folder is not writable.
  func sharedPart(ofKey key: String) -> (changes: SharedChanges, part: Int)?
}

extension SharedCache {
  /// The mark to take before an entry is read. As long as the mark is current, the entry under the key has not changed.
  func changeMark(forKey key: String) -> ChangeMark? {
    sharedPart(ofKey: key).map { ChangeMark($0.changes, part: $0.part) }
  }

  /// The mark to take before a request is sent. As long as the mark is current, no process has invalidated the
  /// resource's responses.
  func invalidationMark(of resource: String) -> InvalidationMark? {
    sharedPart(ofKey: resource).map { InvalidationMark($0.changes, part: $0.part) }
  }

  /// Notifies all processes that a response that they are still receiving for a resource may be older than a change
  /// that was just applied.
  func noteInvalidation(of resource: String) {
    guard let (changes, part) = sharedPart(ofKey: resource) else { return }
    changes.counter.countInvalidation(of: part % SharedCounter.invalidationCount)
  }

  /// Notifies all processes that a response that they are still receiving for any resource may be outdated.
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

  /// True if no resource of the part was invalidated since.
  var isCurrent: Bool { changes.counter.invalidations(index) == number }
}

/// The state of one part of a shared cache, as a reader remembers it.
struct ChangeMark: Sendable {
  private let changes: SharedChanges
  private let part: Int
  private let number: UInt64

  init(_ changes: SharedChanges, part: Int) {
    self.changes = changes
    self.part = part
    number = changes.counter.part(part)
  }

  /// True if nothing of the part has been changed since. This costs a load from memory, and reading a clock.
  var isCurrent: Bool { number & 1 == 0 && changes.counter.part(part) == number && changes.isInPlace }

  /// This mark, if exactly one change separates it from an earlier one; otherwise nil.
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

  /// Makes all marks outdated: the cache is suspended, and another file may take this one's place.
  func end() { isGone.store(true, ordering: .relaxed) }

  /// False at the latest a second after the file was deleted: other processes do not see it any more.
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
