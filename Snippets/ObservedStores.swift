//! Screens that follow their stores: observed models, with and without SwiftUI.

import Foundation
import Larder
import Observation

// `nonisolated`: new Xcode projects isolate types to the main actor by default, and stores decode on other threads.
nonisolated struct Order: Codable, Sendable, Identifiable {
  var id: Int
  var note: String

  enum CodingKeys: String, CodingKey {
    case id = "ID"
    case note = "Note"
  }
}

nonisolated struct Friend: Codable, Sendable, Identifiable {
  var id: Int
  var name: String
}

/// The orders on a screen, and the actions of the user.
@MainActor @Observable
final class OrderModel {
  let orders: OfflineODataLiveResult<[Order]>
  private(set) var message: String?
  private let provider: OfflineODataProvider

  init(_ provider: OfflineODataProvider) throws {
    self.provider = provider
    orders = OfflineODataLiveResult(try provider.live([Order].self, "Orders?$orderby=ID desc&$top=50"))
  }

  /// Changes the store. The live result shows the change: nothing is read again here.
  func setNote(_ note: String, of order: Order) async {
    do {
      let change = ODataEntity(properties: [ODataProperty("Note", .string(note))])
      try await provider.update("Orders(\(order.id))", to: change)
    } catch {
      message = error.localizedDescription
    }
  }

  func refresh() async {
    do {
      try await provider.upload()
      try await provider.download()
      message = nil
    } catch {
      message = error.localizedDescription
    }
  }
}

/// The values with one label of an object store.
@MainActor @Observable
final class FriendModel {
  private(set) var friends: [Friend] = []
  private let store: ObjectStore

  init(_ store: ObjectStore) { self.store = store }

  /// Follows the store until the task is cancelled or the store is closed.
  func run() async throws {
    // Before the first read: a change between the two is not lost.
    let changes = try store.changes(label: "friend")
    friends = try await store.values(Friend.self, label: "friend")
    for await _ in changes {
      friends = try await store.values(Friend.self, label: "friend")
    }
  }
}

/// A list of the online store: the cached response first, then the server's.
@MainActor @Observable
final class NewsModel {
  private(set) var titles: [String] = []
  private(set) var isRefreshing = false
  private(set) var message: String?
  private let store: OnlineODataStore

  init(_ store: OnlineODataStore) { self.store = store }

  func load() async {
    isRefreshing = true
    message = nil
    for await event in store.schedule(.read("Articles?$orderby=Date desc&$top=30")).events {
      switch event {
      case .requestCacheResponse(let step), .requestServerResponse(let step): show(step.response)
      case .requestFailed(let step): message = step.error?.localizedDescription
      case .requestStarted, .requestFinished: break
      }
    }
    isRefreshing = false
  }

  private func show(_ response: ODataResponse?) {
    guard case .collection(let articles)? = try? response?.single?.payload() else { return }
    titles = articles.entities.compactMap { article in
      if case .string(let title)? = article["Title"] { title } else { nil }
    }
  }
}

/// Content of one URL: shown while it is renewed.
@MainActor @Observable
final class ContentModel<Value: Sendable> {
  private(set) var value: Value?
  private(set) var error: ContentError?
  private let manager: ContentManager

  init(_ manager: ContentManager) { self.manager = manager }

  func load(_ query: ContentQuery<Value>) async {
    error = nil
    do throws(ContentError) {
      for try await response in manager.responses(to: query) { value = response.value }
    } catch {
      if !error.isCancelled { self.error = error }
    }
  }
}

#if canImport(SwiftUI)
  import SwiftUI

  struct OrderScreen: View {
    @State private var model: OrderModel

    init(_ provider: OfflineODataProvider) throws {
      _model = State(initialValue: try OrderModel(provider))
    }

    var body: some View {
      List(model.orders.value ?? []) { order in
        Text(order.note)
      }
      .overlay { if let error = model.orders.error { Text(error.localizedDescription) } }
      .task { await model.orders.run() }
      .refreshable { await model.refresh() }
    }
  }

  struct FriendScreen: View {
    @State private var model: FriendModel

    init(_ store: ObjectStore) { _model = State(initialValue: FriendModel(store)) }

    var body: some View {
      List(model.friends) { friend in Text(friend.name) }.task { try? await model.run() }
    }
  }

  struct NewsScreen: View {
    @State private var model: NewsModel

    init(_ store: OnlineODataStore) { _model = State(initialValue: NewsModel(store)) }

    var body: some View {
      List(model.titles, id: \.self) { title in Text(title) }
        .overlay { if model.isRefreshing && model.titles.isEmpty { ProgressView() } }
        .task { await model.load() }
        .refreshable { await model.load() }
    }
  }
#endif

/// Without views: each element is the complete result.
func printOrders(_ provider: OfflineODataProvider) async throws {
  for try await orders in try provider.live([Order].self, "Orders?$orderby=ID desc&$top=50") {
    print(orders.map(\.note))
  }
}
