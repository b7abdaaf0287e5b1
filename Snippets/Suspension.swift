//! Stores of an application that the system suspends: their locks are given back while nobody uses them.

import Larder

/// The stores, and who uses them: the foreground, and each background task by its name.
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

  /// At the end of the returned task the stores are open, unless the user has ended meanwhile.
  @discardableResult
  func begin(_ user: String) -> Task<Void, Never> {
    users.insert(user)
    return follow()
  }

  /// At the end of the returned task the stores are suspended, unless somebody else uses them.
  @discardableResult
  func end(_ user: String) -> Task<Void, Never> {
    users.remove(user)
    return follow()
  }

  /// Calls each store, even if another fails or one is still busy with the call before. On iOS this begins a background task,
  /// for the system must wait for the end.
  private func follow() -> Task<Void, Never> {
    Task {
      do { if isInUse { try await settings.resume() } else { try await settings.suspend() } } catch { report(error) }
      do { if isInUse { try await images.resume() } else { try await images.suspend() } } catch { report(error) }
      // The last one, for it may continue its first download.
      do { if isInUse { try await orders.resume() } else { try await orders.suspend() } } catch { report(error) }
    }
  }

  private func report(_ error: any Error) { print("\(error)") }
}
