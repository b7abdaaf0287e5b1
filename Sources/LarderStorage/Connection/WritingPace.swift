/// Whether a change is made on its caller's thread: where commits are quick and nobody else changes anything.
///
/// A way to the writer's thread and back costs tens of microseconds, as much as a quick disk; beside a slow disk it is
/// nothing, and the caller's thread, which is one of few, is not kept waiting.
package struct WritingPace: Sendable {
  /// How long a small transaction took of late, in microseconds; nil before the first.
  private var microseconds: Int64?
  /// True where the last transaction carried several changes: those that come together share the next one too.
  private var isCrowded = false

  /// Nothing is known yet: the first change is made in turn.
  package init() {}

  /// What a thread of the concurrency pool may be kept for, in microseconds.
  package static let limit: Int64 = 2000

  /// True where the next change is made on its caller's thread.
  package var isQuick: Bool { !isCrowded && microseconds.map { $0 <= WritingPace.limit } ?? false }

  /// Notes a transaction of small changes; `changes` is how many it made and how many came meanwhile.
  package mutating func note(_ duration: Duration, changes: Int) {
    isCrowded = changes > 1
    let (seconds, attoseconds) = duration.components
    let last = min(max(0, seconds), 1000) &* 1_000_000 &+ attoseconds / 1_000_000_000_000
    // The mean, in which the newest count most: one slow commit sends some changes to the writer, not all.
    microseconds = microseconds.map { ($0 &* 3 &+ last) / 4 } ?? last
  }
}
