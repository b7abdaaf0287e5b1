import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Limits how many threads of the concurrency pool stores may block while they wait for the disk: one at a time.
package enum BlockedThread {
  private static let isTaken = Atomic(false)
  /// A pool of one thread is never blocked.
  private static let hasOthers = ProcessInfo.processInfo.activeProcessorCount > 1

  /// True for the main actor: its thread draws the user interface and must not wait for the disk.
  //
  // Inlined into an async function, the comparison makes the compiler of Swift 6.3 fail.
  @inline(never)
  package static func isMain(_ isolation: (any Actor)?) -> Bool { isolation.map { $0 === MainActor.shared } ?? false }

  /// Runs `body` if no other caller runs one; returns nil otherwise.
  package static func take<Result>(_ body: () -> Result?) -> Result? {
    guard hasOthers, isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
      return nil
    }
    defer { isTaken.store(false, ordering: .releasing) }
    return body()
  }
}
