import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The one thread of the concurrency pool that stores may keep waiting for the disk at a time.
package enum BlockedThread {
  private static let isTaken = Atomic(false)
  /// A pool of one thread is never kept waiting.
  private static let hasOthers = ProcessInfo.processInfo.activeProcessorCount > 1

  /// True for the main actor: its thread draws what people see, and waits for no disk.
  //
  // Inlined into an async function, the comparison makes the compiler of Swift 6.3 fail.
  @inline(never)
  package static func isMain(_ isolation: (any Actor)?) -> Bool { isolation.map { $0 === MainActor.shared } ?? false }

  /// Runs `body` where no other caller does; nil where one does.
  package static func take<Result>(_ body: () -> Result?) -> Result? {
    guard hasOthers, isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
      return nil
    }
    defer { isTaken.store(false, ordering: .releasing) }
    return body()
  }
}
