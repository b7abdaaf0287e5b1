import Foundation

// What the screens show. Stores decode on threads of their own: where everything belongs to the main actor unless it says
// otherwise, which is how Xcode makes a new project, a type of rows says `nonisolated`.

/// A row of the offline store.
nonisolated struct Order: Decodable, Sendable, Identifiable {
  var id: String
  var note: String?

  enum CodingKeys: String, CodingKey {
    case id = "SalesOrder"
    case note = "PurchaseOrderByCustomer"
  }
}

/// What the online store has asked for.
nonisolated struct Article: Sendable, Identifiable {
  let id: String
  let title: String
}

/// A value of the object store.
nonisolated struct Draft: Codable, Sendable, Identifiable {
  var id: String
  var text: String
}
