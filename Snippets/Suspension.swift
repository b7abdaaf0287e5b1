//! Stores of an application that the system suspends: locks are given back, and the stores go on afterwards.

import ContentCache
import ObjectStore
import OfflineOData

/// What an application calls when it enters the background, and when it is active again.
struct ApplicationStores: Sendable {
  let orders: OfflineODataProvider
  let settings: ObjectStore
  let images: ContentManager

  /// Inside of a background task, for the system must wait for its end.
  func suspend() async {
    // Each one, though another fails.
    do { try await orders.suspend() } catch { print("orders: \(error)") }
    do { try await settings.suspend() } catch { print("settings: \(error)") }
    do { try await images.suspend() } catch { print("images: \(error)") }
  }

  func resume() async throws {
    try await orders.resume()
    try await settings.resume()
    try await images.resume()
  }
}
