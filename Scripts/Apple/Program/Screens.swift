import Foundation
import Larder
import SwiftUI

/// Rows of the copy on a screen: they follow each change and each download.
struct OrderList: View {
  private let stores: Stores
  @State private var orders: OfflineODataLiveResult<[Order]>
  @State private var sent: Int?

  // A view makes its live result when it is made itself: a default value of the property knows no store.
  init(_ stores: Stores) throws {
    self.stores = stores
    let live = try stores.orders.live([Order].self, "A_SalesOrder?$orderby=SalesOrder desc&$top=50")
    _orders = State(initialValue: OfflineODataLiveResult(live))
    _sent = State(initialValue: nil)
  }

  var body: some View {
    Group {
      List(orders.value ?? []) { order in
        Button(order.note ?? order.id) { Task { try await stores.rename(order, to: "seen") } }
      }
      .task { await orders.run() }
      Button(sent.map { "\($0) sent" } ?? "Synchronize") { Task { sent = try? await stores.synchronize() } }
    }
  }
}

/// What the service said last, at once; what it says now, when it has said it.
struct ArticleList: View {
  private let stores: Stores
  @State private var articles: [Article]
  @State private var failure: String?

  init(_ stores: Stores) {
    self.stores = stores
    _articles = State(initialValue: [])
    _failure = State(initialValue: nil)
  }

  var body: some View {
    Group {
      List(articles) { article in Text(article.title) }.task { await load() }
      if let failure { Text(failure) }
    }
  }

  private func load() async {
    for await event in stores.articles.schedule(.read("Articles?$top=30")).events {
      switch event {
      case .requestCacheResponse(let step), .requestServerResponse(let step):
        articles = Stores.articles(step.response) ?? articles
      case .requestFailed(let step): failure = step.error?.localizedDescription
      default: break
      }
    }
  }
}

/// A text that outlives the program, and a picture that needs no network the second time.
struct DraftView: View {
  private let stores: Stores
  private let picture: URL
  @State private var draft: Draft?
  @State private var bytes: Int

  init(_ stores: Stores, picture: URL) {
    self.stores = stores
    self.picture = picture
    _draft = State(initialValue: nil)
    _bytes = State(initialValue: 0)
  }

  var body: some View {
    Group {
      Text("\(draft?.text ?? "nothing written"), a picture of \(bytes) bytes")
      Button("Keep") { Task { try await stores.keep(Draft(id: "note", text: "kept")) } }
    }
    .task {
      draft = try? await stores.draft("note")
      try? await stores.image(picture) { bytes = $0.count }
    }
  }
}
