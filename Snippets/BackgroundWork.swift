//! Synchronization in the background: what runs, what is cancelled, what is resumed.

import Foundation
import Larder

/// Synchronizes one offline store.
struct Synchronization: Sendable {
  let provider: OfflineODataProvider

  /// Uploads, then downloads. If its task is cancelled, the next call resumes where this one stopped.
  func run() async throws {
    try await provider.open()
    if try await provider.hasPendingUpload() { try await provider.upload() }
    try await provider.download()
  }

  /// True if a later run can succeed without any change.
  func isWorthRepeating(after error: any Error) -> Bool {
    if error is CancellationError { return true }
    return (error as? OfflineODataError)?.category == .communicationError
  }

  /// Downloads only if the last download is older than an hour, or was interrupted.
  func runIfDue(now: Date = Date()) async throws {
    try await provider.open()
    let isInterrupted = try await provider.hasPendingDownload()
    let last = try await provider.definingQueries().compactMap(\.lastDownload).min() ?? .distantPast
    if isInterrupted || now.timeIntervalSince(last) > 3600 { try await run() }
  }
}

/// Ends the work of the stores before the application loses its time.
func stopWork(_ provider: OfflineODataProvider, images: ContentExecution, request: ODataRequestExecution) {
  provider.cancelDownload()  // what was downloaded is kept
  provider.cancelUpload()  // what was not sent stays in the queue
  images.cancel()
  request.cancel()
}

/// Rows can be downloaded while the device is locked, after it was unlocked once.
func parameters(folder: String) -> OfflineODataParameters {
  var parameters = OfflineODataParameters(storeName: "shop", path: folder)
  parameters.fileProtection = .completeUntilFirstUserAuthentication
  parameters.downloadsOnOpening = false
  parameters.stagingAgeLimit = .seconds(7 * 86_400)
  return parameters
}

#if os(iOS)
  import BackgroundTasks

  /// A processing task of the system: some minutes, when the device is charging.
  @MainActor
  final class SynchronizationTask {
    static let identifier = "com.example.shop.synchronization"
    private let synchronization: Synchronization

    init(_ synchronization: Synchronization) { self.synchronization = synchronization }

    /// Call this before the application has finished launching.
    func register() {
      BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.identifier, using: .main) { task in
        // The system calls this on the main queue, which is the main actor's.
        nonisolated(unsafe) let task = task
        MainActor.assumeIsolated { self.run(task) }
      }
    }

    func schedule() throws {
      let request = BGProcessingTaskRequest(identifier: Self.identifier)
      request.requiresNetworkConnectivity = true
      request.requiresExternalPower = true
      try BGTaskScheduler.shared.submit(request)
    }

    private func run(_ task: BGTask) {
      let work = Task {
        do {
          try await synchronization.run()
          task.setTaskCompleted(success: true)
        } catch {
          if synchronization.isWorthRepeating(after: error) { try? schedule() }
          task.setTaskCompleted(success: false)
        }
      }
      task.expirationHandler = { work.cancel() }
    }
  }
#endif

#if canImport(Network)
  import Network

  /// Synchronizes when a network appears. A call that fails says more than the monitor does.
  func synchronizeWhenConnected(_ synchronization: Synchronization) async {
    for await path in NWPathMonitor() where path.status == .satisfied {
      try? await synchronization.runIfDue()
    }
  }

  /// Reads only from the cache while the connection costs money.
  func followCosts(_ store: OnlineODataStore) async {
    for await path in NWPathMonitor() {
      try? store.setPassive(path.isExpensive || path.status != .satisfied)
    }
  }
#endif
