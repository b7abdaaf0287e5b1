//! Stores of an application that the system suspends: they release their locks while they are not used.

import Larder

/// The stores and their users: the foreground, and each background task by its name.
@MainActor
final class ApplicationStores {
  let orders: OfflineODataProvider
  let settings: ObjectStore
  let images: ContentManager
  private var users: Set<String> = []
  private var isInUse: Bool { !users.isEmpty }

  init(orders: OfflineODataProvider, settings: ObjectStore, images: ContentManager) {
    self.orders = orders
    self.settings = settings
    self.images = images
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

  /// Calls each store, even if another one fails or is still busy with the previous call. On iOS, begin a background task here,
  /// because the system must wait for the end.
  private func follow() -> Task<Void, Never> {
    Task {
      do { if isInUse { try await settings.resume() } else { try await settings.suspend() } } catch { report(error) }
      do { if isInUse { try await images.resume() } else { try await images.suspend() } } catch { report(error) }
      // The last one, because it may continue its first download.
      do { if isInUse { try await orders.resume() } else { try await orders.suspend() } } catch { report(error) }
    }
  }

  private func report(_ error: any Error) { print("\(error)") }
}
