/// Long but ordinary expressions of generated fields, by the names of functions.
enum LongExpressions {
  /// Options of the compiler that warn of each expression that takes longer.
  static func warning(afterMilliseconds limit: Int) -> [String] {
    ["-Xfrontend", "-warn-long-expression-type-checking=\(limit)"]
  }

  static let all: KeyValuePairs<String, String> = [
    "comparisons": """
    _ = shop.orders.filter {
      $0.customer == "ACME" && $0.due < .now && $0.total > 100 && $0.parcels >= 2 && $0.weight < 12.5
        && $0.isPaid == false && $0.status == .open && $0.priority != .low && $0.shipTo.city == "Ely"
        && $0.buyer.name.startsWith("A")
    }
    """,
    "alternatives": """
    _ = shop.orders.filter {
      ($0.customer == "ACME" || $0.customer == "Ada") && ($0.total > 100 || $0.weight > 20 || $0.parcels > 3)
        && !($0.status == .shipped || $0.isPaid == true) && $0.priority != nil && ($0.due == nil || $0.due > .now)
    }
    """,
    "sums": """
    _ = shop.orders.filter {
      $0.weight * 2 + 1.5 < 40 && ($0.parcels + 1) * 2 - 3 > 4 && $0.total * 1.2 - 10 >= 99.95
        && $0.weight / 3 + $0.weight * 0.5 <= 12 && $0.parcels % 2 == 0 && -$0.weight < 0
    }
    """,
    "products": """
    _ = shop.items.filter {
      $0.quantity * $0.price - $0.quantity * 0.19 * $0.price + 4.99 > 100
        && $0.quantity * $0.price < 1000 - $0.price / 2 && 2 * $0.price + 3 * $0.price - 1 != $0.quantity * 5
    }
    """,
    "lambdas": """
    _ = shop.orders.filter {
      $0.items.any {
        $0.quantity * $0.price > 50 && $0.product.name.contains("salt")
          && $0.product.suppliers.any { $0.name == "Ada" }
      } && $0.items.all { $0.price > 1 || $0.product.added.year >= 2025 || $0.quantity < 3 }
        && $0.tags.any { $0 == "new" || $0.startsWith("x") } && $0.items.count > 2 && $0.customer != "ACME"
    }
    """,
    "functions": """
    _ = shop.orders.filter {
      $0.customer.toLower().trim() == "acme" && $0.customer.length > 3 && $0.due.year == 2026 && $0.due.month >= 6
        && $0.due.hour < 12 && $0.weight.round() == 3 && $0.shipTo.city.concat("!").endsWith("y!")
        && $0.status.in([.open, .shipped]) && $0.parcels.in([1, 2, 3])
    }
    """,
    "variables": """
    guard let due = order.due, let city = order.shipTo?.city, let limit = order.weight else { return }
      let count = order.parcels
    _ = shop.orders.filter {
      $0.shipTo.city == city && $0.due >= due && $0.weight < limit * 2 + 1 && $0.parcels > count - 1
        && $0.customer != city + "!" && $0.isPaid == (count > 3) && $0.weight != limit && $0.total < item.quantity
    }
    """,
    "options": """
    _ = shop.orders
      .filter { $0.due < .now && $0.customer == "ACME" }.filter { $0.items.any { $0.price > 5 } }
      .expand(\\.buyer) { $0.select { $0.name } }
      .expand(\\.items) {
        $0.filter { $0.price > 5 && $0.quantity < 3 }.orderBy(\\.line).top(5)
          .expand(\\.product) { $0.expand(\\.suppliers) { $0.filter { $0.name != "A" }.orderBy(\\.name).top(3) } }
      }
      .orderBy(\\.due).orderBy(\\.total, descending: true).skip(20).top(20)
    """,
    "builders": """
    _ = shop.orders.orderBy {
      $0.due
      $0.total.descending
      ($0.weight * 2 + 1).descending
      $0.customer.toLower()
    }.expand {
      $0.items.filter { $0.price > 5 || $0.quantity > 3 && $0.product.name != "x" }
        .orderBy { $0.price.descending }.top(5)
      $0.buyer.select { $0.name }
    }
    """,
    "creation": """
    try await shop.orders.create(
      .init(
        customer: "A", status: .open, priority: .high, note: "x", parcels: 2, weight: 2.5, isPaid: true,
        shipTo: .init(city: "Ely"), tags: ["a", "b"],
        items: [.init(line: 1, quantity: 2, price: 1.5), .init(line: 2, quantity: 0.5, price: 3)]))
    """,
  ]
}
