/// Decides whether a change is applied on its caller's thread: only if commits are fast and no other caller is writing.
///
/// A switch to the writer's thread and back costs tens of microseconds, as much as a fast disk. Compared with a slow
/// disk it costs nothing, and it does not block the caller's thread, which is one of few.
package struct WritingPace: Sendable {
  /// How long recent small transactions took, in microseconds; nil before the first.
  private var microseconds: Int64?
  /// True if the last transaction carried several changes: concurrent changes share the next one too.
  private var isCrowded = false

  /// Creates a pace without measurements: the first change is applied on the writer's thread.
  package init() {}

  /// How long a thread of the concurrency pool may be blocked, in microseconds.
  package static let limit: Int64 = 2000

  /// True if the next change is applied on its caller's thread.
  package var isQuick: Bool { !isCrowded && microseconds.map { $0 <= WritingPace.limit } ?? false }

  /// Records a transaction of small changes. `changes` is the number of changes that it applied and of those that
  /// arrived meanwhile.
  package mutating func note(_ duration: Duration, changes: Int) {
    isCrowded = changes > 1
    let (seconds, attoseconds) = duration.components
    let last = min(max(0, seconds), 1000) &* 1_000_000 &+ attoseconds / 1_000_000_000_000
    // A moving average that favors recent commits: one slow commit sends some changes to the writer's thread, not all.
    microseconds = microseconds.map { ($0 &* 3 &+ last) / 4 } ?? last
  }
}
