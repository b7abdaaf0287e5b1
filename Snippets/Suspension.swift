//! Stores of an application that the system suspends: they release their locks while they are not used.

import Foundation
import Larder

// snippet.hide
#if canImport(UIKit)
  import UIKit
#else
  /// What the code below uses of UIKit, so that every platform compiles it.
  @MainActor
  final class UIApplication {
    enum State { case active, background }

    static let shared = UIApplication()
    nonisolated static let willEnterForegroundNotification = Notification.Name("willEnterForeground")
    nonisolated static let didEnterBackgroundNotification = Notification.Name("didEnterBackground")
    nonisolated static let protectedDataWillBecomeUnavailableNotification = Notification.Name("willBecomeUnavailable")
    nonisolated static let protectedDataDidBecomeAvailableNotification = Notification.Name("didBecomeAvailable")
    let applicationState = State.active
    let isProtectedDataAvailable = true

    func beginBackgroundTask(
      withName: String?, expirationHandler: (@MainActor @Sendable () -> Void)?
    ) -> UIBackgroundTaskIdentifier { .invalid }
    func endBackgroundTask(_ task: UIBackgroundTaskIdentifier) {}
  }

  enum UIBackgroundTaskIdentifier: Sendable { case invalid }
#endif
// snippet.show

@MainActor
final class ApplicationStores {
  let orders: OfflineODataProvider
  let settings: ObjectStore
  let images: ContentManager
  /// The foreground, and each background task by its name.
  private var users: Set<String> = []
  /// Whether the files cannot be read, because the device is locked.
  var isLocked = false { didSet { follow() } }
  private var isInUse: Bool { !users.isEmpty && !isLocked }

  init(orders: OfflineODataProvider, settings: ObjectStore, images: ContentManager) {
    self.orders = orders
    self.settings = settings
    self.images = images
    // The system can launch an application in the background.
    if UIApplication.shared.applicationState != .background { users = ["foreground"] }
    observe(UIApplication.willEnterForegroundNotification) { $0.begin("foreground") }
    observe(UIApplication.didEnterBackgroundNotification) { $0.end("foreground") }
  }

  /// Calls the action at each notification, which the system posts on the main thread.
  func observe(_ name: Notification.Name, _ action: @escaping @MainActor @Sendable (ApplicationStores) -> Void) {
    _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [weak self] _ in
      MainActor.assumeIsolated { if let self { action(self) } }
    }
  }

  /// Resumes the stores. They are open when the returned task ends, unless the user has ended in the meantime.
  @discardableResult
  func begin(_ user: String) -> Task<Void, Never> {
    users.insert(user)
    return follow()
  }

  /// Suspends the stores if they have no other user. They are suspended when the returned task ends.
  @discardableResult
  func end(_ user: String) -> Task<Void, Never> {
    users.remove(user)
    return follow()
  }

  /// Calls each store, even if another one fails or is still busy with the previous call.
  @discardableResult
  private func follow() -> Task<Void, Never> {
    let time = BackgroundTime()
    return Task {
      do { if isInUse { try await settings.resume() } else { try await settings.suspend() } } catch { report(error) }
      do { if isInUse { try await images.resume() } else { try await images.suspend() } } catch { report(error) }
      // The last one, because it may continue its first download.
      do { if isInUse { try await orders.resume() } else { try await orders.suspend() } } catch { report(error) }
      time.end()
    }
  }

  private func report(_ error: any Error) { print("\(error)") }
}

/// Keeps the system from suspending the application.
@MainActor
private final class BackgroundTime {
  private var task = UIBackgroundTaskIdentifier.invalid

  init() { task = UIApplication.shared.beginBackgroundTask(withName: "stores") { [weak self] in self?.end() } }

  func end() {
    guard task != .invalid else { return }
    UIApplication.shared.endBackgroundTask(task)
    task = .invalid
  }
}

/// The action of a `.backgroundTask(.appRefresh("refresh"))`.
func refresh(_ stores: ApplicationStores) async {
  await stores.begin("refresh").value
  _ = try? await stores.orders.download()
  await stores.end("refresh").value
}

extension ApplicationStores {
  /// Suspends the stores while the device is locked.
  func followLock() {
    isLocked = !UIApplication.shared.isProtectedDataAvailable
    observe(UIApplication.protectedDataWillBecomeUnavailableNotification) { $0.isLocked = true }
    observe(UIApplication.protectedDataDidBecomeAvailableNotification) { $0.isLocked = false }
  }
}
