/// A program that compiles, and one fault in it that the compiler rejects.
struct WrongProgram: Sendable {
  /// What is wrong.
  let fault: String
  /// The statements that compile.
  let right: String
  /// The statements with the fault: they differ in one place.
  let wrong: String
  /// A part of the compiler's message.
  let message: String

  /// Creates a program by the text that the fault replaces.
  init(_ fault: String, _ right: String, _ text: String, _ replacement: String, _ message: String) {
    self.fault = fault
    self.right = right
    self.message = message
    wrong = right.split(separator: text, maxSplits: 1, omittingEmptySubsequences: false).joined(separator: replacement)
  }
}

/// Programs for the service of ``OrderService``, whose parameters are `shop`, `order`, `item`, `party` and `guid`.
enum WrongPrograms {
  static let all =
    names + comparisons + conditions + restrictions + shapes + keys + creations + derivedTypes + batches + updates
    + media + calls + results

  static let names: [WrongProgram] = [
    .init(
      "a misspelt set", "_ = shop.orders", "orders", "oders", "value of type 'Service' has no member 'oders'"),
    .init(
      "a misspelt navigation property", "_ = shop.orders[1].items", "items", "itms", "has no dynamic member 'itms'"),
    .init(
      "a misspelt property in a filter", #"_ = shop.orders.filter { $0.customer == "ACME" }"#, "customer", "custmer",
      "has no dynamic member 'custmer'"),
    .init(
      "a misspelt property of a complex value in a filter", #"_ = shop.orders.filter { $0.shipTo.city == "Ely" }"#,
      "city", "town", "has no dynamic member 'town'"),
    .init(
      "a misspelt property of a related entity in a filter", #"_ = shop.orders.filter { $0.buyer.name == "Ada" }"#,
      "name", "nmae", "has no dynamic member 'nmae'"),
    .init(
      "a property of another type in a filter", "_ = shop.products.filter { $0.price > 5 }", "price", "weight",
      "has no dynamic member 'weight'"),
    .init(
      "a misspelt property in an order", "_ = shop.orders.orderBy(\\.due)", "due", "deu", "cannot infer key path type"),
    .init(
      "a misspelt property in an expansion", "_ = shop.orders.expand(\\.items)", "items", "itmes",
      "cannot infer key path type"),
    .init(
      "a misspelt property of a value", "_ = order.note", "note", "noet", "value of type 'Order' has no member 'noet'"),
    .init(
      "a misspelt member of an enumeration", "_ = shop.orders.filter { $0.status == .open }", ".open", ".opened",
      "reference to member 'opened'"),
  ]

  static let comparisons: [WrongProgram] = [
    .init(
      "text compared with a number", #"_ = shop.orders.filter { $0.customer == "7" }"#, #""7""#, "7",
      "cannot convert value of type 'Int'"),
    .init(
      "a number compared with text", "_ = shop.orders.filter { $0.parcels == 7 }", "7", #""7""#,
      "cannot convert value of type 'String'"),
    .init(
      "a decimal compared with text", "_ = shop.orders.filter { $0.total > 7 }", "7", #""7""#,
      "operands of type 'ODataOperand<ODataDecimal>' and 'String'"),
    .init(
      "a timestamp compared with text", "_ = shop.orders.filter { $0.due < .now }", ".now", #""2026-01-01""#,
      "operands of type 'ODataOperand<ODataDateTimeOffset>' and 'String'"),
    .init(
      "a day compared with a timestamp", "_ = shop.products.filter { $0.added > $0.added }", "> $0.added", "> Date()",
      "operands of type 'ODataOperand<ODataDate>' and 'Date'"),
    .init(
      "an enumeration compared with another", "_ = shop.orders.filter { $0.status == Status.open }", "Status.open",
      "Priority.high", "cannot convert value of type 'Priority'"),
    .init(
      "an enumeration compared with text", "_ = shop.orders.filter { $0.status == .open }", ".open", #""Open""#,
      "cannot convert value of type 'String'"),
    .init(
      "a Boolean compared with a number", "_ = shop.orders.filter { $0.isPaid == true }", "true", "1",
      "cannot convert value of type 'Int'"),
    .init(
      "a GUID compared with text", "_ = shop.parties.filter { $0.id == guid }", "guid", #""7f""#,
      "cannot convert value of type 'String'"),
    .init(
      "properties of two types compared", "_ = shop.orders.filter { $0.customer == $0.buyer.name }", "buyer.name",
      "parcels", "cannot convert value of type 'ODataOperand<Int32>'"),
    .init(
      "numbers of two types compared without widening",
      "_ = shop.orders.filter { $0.parcels.widened(to: ODataDecimal.self) < $0.total }",
      ".widened(to: ODataDecimal.self)", "", "cannot convert value of type 'ODataOperand<"),
    .init(
      "a list of another type", "_ = shop.orders.filter { $0.status.in([.open]) }", ".open", #""Open""#,
      "cannot convert value of type 'String'"),
    .init(
      "an order of Booleans", "_ = shop.orders.filter { $0.isPaid == true }", "==", "<", "ODataOperand<Bool>"),
    .init(
      "an order of an enumeration", "_ = shop.orders.filter { $0.status == .open }", "==", ">", "'ODataOrdered'"),
    .init(
      "a function of texts on a number", #"_ = shop.orders.filter { $0.customer.contains("A") }"#, "customer",
      "parcels", "requires the types 'Int32' and 'String' be equivalent"),
    .init(
      "a function of dates on text", "_ = shop.orders.filter { $0.due.year == 2026 }", "due", "customer",
      "requires that 'String' conform to 'ODataDated'"),
    .init(
      "arithmetic with text", "_ = shop.orders.filter { $0.parcels * 2 > 4 }", "* 2", #"* "2""#,
      "operands of type 'ODataOperand<Int32>' and 'String'"),
  ]

  static let conditions: [WrongProgram] = [
    .init(
      "a misspelt property in a long condition", long, "customer", "custmer", "has no dynamic member 'custmer'"),
    .init(
      "a value of another type in a long condition", long, #""Ely""#, "3", "cannot convert value of type 'Int'"),
    .init(
      "a property that cannot be filtered in a long condition", long, "customer", "note", "ODataNotFilterable"),
    .init(
      "a filter that is a number", "_ = shop.orders.filter { $0.parcels + 1 > 2 }", " > 2", "",
      "cannot convert value of type 'ODataOperand<Int32>' to closure result type 'ODataOperand<Bool>'"),
    .init(
      "a filter that Swift computes", "_ = shop.orders.filter { $0.customer == order.customer }",
      "$0.customer == order.customer", "_ in order.parcels > 2", "'ODataOperand<Bool>'"),
    .init(
      "a collection compared with a value", #"_ = shop.orders.filter { $0.tags.any { $0 == "new" } }"#,
      #".any { $0 == "new" }"#, #" == "new""#, "'ODataValues<String>'"),
    .init(
      "a condition on values of another type", #"_ = shop.orders.filter { $0.tags.any { $0 == "new" } }"#,
      #""new""#, "1", "cannot convert value of type 'Int'"),
    .init(
      "any of a property to one entity", "_ = shop.orders.filter { $0.items.any { $0.price == nil } }",
      "items.any { $0.price == nil }", "buyer.any { $0.name == nil }", "has no dynamic member 'any'"),
    .init(
      "all of a property to one entity", "_ = shop.orders.filter { $0.items.all { $0.price == nil } }",
      "items.all { $0.price == nil }", "buyer.all { $0.name == nil }", "has no dynamic member 'all'"),
    .init(
      "a member of a collection", "_ = shop.orders.filter { $0.items.any { $0.price > 5 } }", ".any { $0.price > 5 }",
      ".price > 5", "value of type 'ODataItems<Item>' has no member 'price'"),
    .init(
      "any that returns no condition", "_ = shop.orders.filter { $0.items.any { $0.price > 5 } }", "$0.price > 5",
      "$0.price", "'(ODataInstance<Item>) -> ODataOperand<Bool>'"),
  ]

  private static let long = """
    _ = shop.orders.filter {
      $0.customer == "ACME" && $0.due < .now && $0.total > 100 && $0.parcels >= 2 && $0.weight < 12.5
        && $0.isPaid == false && $0.status == .open && $0.priority != .low && $0.shipTo.city == "Ely"
        && $0.buyer.name.startsWith("A")
    }
    """

  static let restrictions: [WrongProgram] = [
    .init(
      "a comparison of a property that cannot be filtered", #"_ = shop.orders.filter { $0.customer == "A" }"#,
      "customer", "note", "ODataNotFilterable"),
    .init(
      "a function of a property that cannot be filtered", #"_ = shop.orders.filter { $0.customer.contains("A") }"#,
      "customer", "note", "value of type 'ODataNotFilterable' has no member 'contains'"),
    .init(
      "an order by a property that cannot be sorted", "_ = shop.orders.orderBy(\\.customer)", "customer", "note",
      "ODataNotSortable"),
    .init(
      "a descending order by a property that cannot be sorted",
      "_ = shop.orders.orderBy { $0.customer.descending }", "customer", "note",
      "value of type 'ODataNotSortable' has no member 'descending'"),
    .init(
      "an expansion of a property that cannot be expanded", "_ = shop.orders.expand(\\.items)",
      "orders.expand(\\.items)",
      "products.expand(\\.substitutes)", "ODataForbidden>"),
    .init(
      "an expansion in a closure of a property that cannot be expanded",
      "_ = shop.products.filter { $0.substitutes.any() }", "filter { $0.substitutes.any() }",
      "expand { $0.substitutes }",
      "'ODataForbidden'"),
    .init(
      "a deletion in a set that allows none", "try await shop.orders.delete(order)", "orders.delete(order)",
      "parties.delete(party)", "'ODataForbidden'"),
    .init(
      "a deletion by the key in a set that allows none", "try await shop.orders[7].delete()", "orders[7]",
      "parties[guid]", "'delete"),
    .init(
      "a deletion in a change set of a set that allows none",
      "try await shop.store.changeSet(shop.orders.deleting(order))", "orders.deleting(order)",
      "parties.deleting(party)", "'ODataForbidden'"),
  ]

  static let shapes: [WrongProgram] = [
    .init(
      "an order by a collection", "_ = shop.orders.orderBy(\\.customer)", "customer", "items", "ODataItems<Item>"),
    .init(
      "an order by a complex value", "_ = shop.orders.orderBy(\\.customer)", "customer", "shipTo",
      "ODataOrdering<Address>"),
    .init(
      "an expansion of a structural property", "_ = shop.orders.expand(\\.items)", "items", "customer",
      "conform to 'ODataExpandableMember'"),
    .init(
      "a nested expansion of a property of the outer type",
      "_ = shop.orders.expand(\\.items) { $0.expand(\\.product) }", "product", "buyer",
      "ODataNavigation"),
    .init(
      "a nested filter by a property of the outer type",
      "_ = shop.orders.expand(\\.items) { $0.filter { $0.quantity > 1 } }", "quantity", "parcels",
      "ODataNavigation"),
    .init(
      "options for collections on a property to one entity",
      "_ = shop.orders.expand(\\.buyer) { $0.select { $0.name } }", "$0.select { $0.name }", "$0.top(5)",
      "'KeyPath<Order.Fields, ODataNavigation<Party"),
    .init(
      "a selection of a property of another type",
      "_ = try await shop.orders.all(as: Row.self) { $0.note }", "$0.note", "$0.price",
      "has no dynamic member 'price'"),
    .init(
      "a filter of one entity", "_ = shop.orders[1].items.filter { $0.price > 5 }", ".items", "",
      "has no dynamic member 'filter'"),
    .init(
      "a number of entities as text", "_ = shop.orders.top(5)", "5", #""5""#, "cannot convert value of type 'String'"),
  ]

  static let keys: [WrongProgram] = [
    .init("a key of another type", "_ = shop.orders[7]", "7", #""7""#, "(got 'String')"),
    .init("a GUID as text", "_ = shop.parties[guid]", "guid", #""7f""#, "(got 'String')"),
    .init(
      "a key without one of its properties", "_ = shop.items[.init(order: 7, line: 1)]", ", line: 1", "",
      "'ODataSingleKey'"),
    .init(
      "a single value for a key of two properties", "_ = shop.items[.init(order: 7, line: 1)]",
      ".init(order: 7, line: 1)", "7", "'ODataSingleKey'"),
    .init(
      "a key property of another type", "_ = shop.items[.init(order: 7, line: 1)]", "line: 1", #"line: "1""#,
      "'ODataSingleKey'"),
    .init(
      "the key of another set", "_ = shop.orders[Order.Key(7)]", "Order.Key(7)", "Item.Key(order: 7, line: 1)",
      "(got 'Item.Key')"),
    .init("a value of another set", "_ = shop.orders[order]", "[order]", "[item]", "(got 'Item')"),
    .init("a key of a singleton", "_ = shop.parties[guid]", "parties", "head", "subscript"),
  ]

  static let creations: [WrongProgram] = [
    .init(
      "a creation in a set that allows none", #"try await shop.products.create(.init(code: "A", name: "Salt"))"#,
      "products", "parties", "requires that 'Party' conform to 'ODataCreatable'"),
    .init(
      "a creation without a required property",
      #"try await shop.orders.create(.init(customer: "A", status: .open))"#, #"customer: "A", "#, "",
      "missing argument for parameter 'customer'"),
    .init(
      "a creation with a computed property",
      #"try await shop.orders.create(.init(customer: "A", status: .open, weight: 5))"#, "weight", "total",
      "extra argument 'total'"),
    .init(
      "null for a property that cannot be null",
      #"try await shop.orders.create(.init(customer: "A", status: .open))"#, #""A""#, "nil",
      "'nil' is not compatible with expected argument type 'String'"),
    .init(
      "a value of another type in a creation",
      #"try await shop.orders.create(.init(customer: "A", status: .open, parcels: 2))"#, "2", #""2""#,
      "cannot convert value of type 'String'"),
    .init(
      "a related entity of another type in a creation",
      #"try await shop.orders.create(.init(customer: "A", status: .open, items: [Item.Create(quantity: 2)]))"#,
      "Item.Create(quantity: 2)", #"Product.Create(code: "A", name: "Salt")"#,
      "cannot convert value of type 'Product.Create'"),
    .init(
      "a creation bound to an entity of another type",
      #"try await shop.orders.create(.init(customer: "A", status: .open, buyer: .existing(shop.parties[guid])))"#,
      "parties[guid]", #"products["A"]"#, "cannot convert value of type 'ODataEntityReference<Product>'"),
    .init(
      "a new entity of a type that allows none in a creation",
      #"try await shop.items.create(.init(quantity: 2, product: .new(.init(code: "A", name: "Salt"))))"#,
      #"shop.items.create(.init(quantity: 2, product: .new(.init(code: "A", name: "Salt"))))"#,
      #"shop.orders.create(.init(customer: "A", status: .open, buyer: .new(.init(name: "Ada"))))"#,
      "static method 'new'"),
    .init(
      "an entity of another type beside new ones in a creation",
      "try await shop.products.create(\n"
        + #"  .init(code: "A", name: "Salt", substitutes: [.init(code: "B", name: "C")] + .existing(shop.products["D"])))"#,
      #"products["D"]"#, "parties[guid]", "'ODataRelatedEntities<Party>'"),
    .init(
      "several targets of a property that has one in a creation",
      #"try await shop.orders.create(.init(customer: "A", status: .open, buyer: .existing(shop.parties[guid])))"#,
      "shop.parties[guid]", "shop.parties[guid], shop.parties[guid]", "extra argument in call"),
    .init(
      "a value instead of a reference in a creation",
      #"try await shop.orders.create(.init(customer: "A", status: .open, buyer: .existing(shop.parties[party])))"#,
      "shop.parties[party]", "party", "cannot convert value of type 'Party'"),
    .init(
      "a read value as a creation", #"try await shop.orders.create(Order.Create(customer: "A", status: .open))"#,
      #"Order.Create(customer: "A", status: .open)"#, "order", "cannot convert value of type 'Order'"),
  ]

  static let media: [WrongProgram] = [
    .init(
      "the bytes of an entity that has none", "_ = try await shop.pictures[7].media()", "pictures", "orders", "'media"),
    .init(
      "the bytes of a structural property", "_ = try await shop.pictures[7].media(\\.thumbnail)", "thumbnail", "title",
      "ODataStreamField"),
    .init(
      "a filter by a stream property", #"_ = shop.pictures.filter { $0.title == "x" }"#, "title", "thumbnail",
      "ODataNotFilterable"),
    .init(
      "text instead of bytes",
      #"try await shop.pictures[7].updateMedia(.bytes([], contentType: "image/png"))"#,
      #".bytes([], contentType: "image/png")"#, #""x""#, "cannot convert value of type 'String'"),
    .init(
      "a media entity created from values",
      #"try await shop.pictures.createMedia(.bytes([], contentType: "image/png"))"#,
      #"createMedia(.bytes([], contentType: "image/png"))"#, #"create(.init(title: "x"))"#,
      "requires that 'Picture' conform to 'ODataCreatable'"),
    .init(
      "a creation from bytes in a set that allows none",
      #"try await shop.pictures.createMedia(.bytes([], contentType: "image/png"))"#, "pictures", "scans",
      "ODataForbidden"),
    .init(
      "a creation from bytes in a set without media",
      #"try await shop.pictures.createMedia(.bytes([], contentType: "image/png"))"#, "pictures", "orders",
      "'ODataMediaEntity'"),
  ]

  static let derivedTypes: [WrongProgram] = [
    .init(
      "a derived type of a set that has none", "_ = shop.parties.as(Company.self)", "parties", "orders",
      "requires that 'Order' conform to 'ODataBaseType'"),
    .init(
      "a derived type of an entity that has none", "_ = shop.parties[guid].as(Company.self)", "parties[guid]",
      "orders[7]", "has no dynamic member 'as'"),
    .init(
      "a derived type of a value that has none", "_ = party.as(Company.self)", "party", "order",
      "value of type 'Order' has no member 'as'"),
    .init(
      "a property of a derived type in a filter", "_ = shop.products.filter { $0.as(Food.self).expires == nil }",
      ".as(Food.self)", "", "has no dynamic member 'expires'"),
    .init(
      "a creation of a derived type in a set that has none",
      #"try await shop.products.create(.init(code: "A", name: "Salt"), of: Food.self)"#, "products", "orders",
      "'ODataBaseType'"),
    .init(
      "a creation of a derived type that allows none",
      #"try await shop.products.create(Food.Create(code: "A", name: "Salt"), of: Food.self)"#, "of: Food.self",
      "of: Company.self", "'ODataCreatable'"),
  ]

  static let batches: [WrongProgram] = [
    .init(
      "the result of another request of a batch",
      "let (one, all) = try await shop.store.batch(shop.orders[7].reading(), shop.orders.reading())\n"
        + "_ = (try one.get().note, try all.get().count)",
      "note", "count", "value of type 'Order' has no member 'count'"),
    .init(
      "an update in a change set of a set that allows none",
      "try await shop.store.changeSet(shop.orders.updating(order), shop.orders.deleting(order))",
      "orders.updating(order)",
      "parties.updating(party)", "requires that 'Party' conform to 'ODataTracked'"),
    .init(
      "a deletion of another type in a change set",
      "try await shop.store.changeSet(shop.orders.updating(order), shop.items.deleting(item))", "deleting(item)",
      "deleting(order)", "cannot convert value of type 'Order'"),
    .init(
      "a creation in a change set without a required property",
      #"try await shop.store.changeSet(shop.orders.creating(.init(customer: "A", status: .open)))"#,
      #"customer: "A", "#, "", "missing argument for parameter 'customer'"),
  ]

  static let updates: [WrongProgram] = [
    .init(
      "an update of an immutable property", #"try await shop.orders[7].update(.init(note: "mine"))"#, "note",
      "customer", "'customer'"),
    .init(
      "an update of a computed property", "try await shop.orders[7].update(.init(parcels: 5))", "parcels", "total",
      "'total'"),
    .init(
      "an update of a key property", "try await shop.orders[7].update(.init(parcels: 5))", "parcels", "id", "'id'"),
    .init(
      "an update to null of a property that cannot be null",
      "try await shop.orders[7].update(.init(note: .some(nil)))", "note", "parcels",
      "'nil' is not compatible with expected argument type 'Int32'"),
    .init(
      "an update in a set that allows none", "try await shop.orders.update(order)", "orders.update(order)",
      "parties.update(party)", "requires that 'Party' conform to 'ODataTracked'"),
    .init(
      "an update of an entity of a set that allows none", "try await shop.orders[7].update(.init())", "orders[7]",
      "parties[guid]", "'update"),
    .init(
      "an update of another type", "try await shop.orders.update(order)", "(order)", "(item)",
      "cannot convert value of type 'Item'"),
    .init(
      "a deletion of another type", "try await shop.orders.delete(order)", "(order)", "(item)",
      "cannot convert value of type 'Item'"),
    .init(
      "an assignment to an immutable property", "var mine = order\nmine.note = \"A\"", "note", "customer",
      "'customer' is a 'let' constant"),
    .init(
      "an assignment to a computed property", "var mine = order\nmine.weight = 5", "weight", "total",
      "'total' is a 'let' constant"),
    .init(
      "an assignment to a key property", "var mine = order\nmine.parcels = 5", "parcels", "id",
      "'id' is a 'let' constant"),
    .init(
      "an assignment to a navigation property", "var mine = order\nmine.tags = []", "tags", "items",
      "'items' is a 'let' constant"),
    .init(
      "an assignment of null to a property that cannot be null", "var mine = order\nmine.note = nil", "note", "status",
      "'nil' cannot be assigned to type 'Status'"),
    .init(
      "an assignment of a value of another type", "var mine = order\nmine.status = .open", ".open", #""Open""#,
      "cannot assign value of type 'String' to type 'Status'"),
    .init(
      "an assignment to a constant", "var mine = order\nmine.note = nil", "var", "let", "'mine' is a 'let' constant"),
  ]

  static let calls: [WrongProgram] = [
    .init(
      "an action without a parameter", #"try await shop.orders[7].ship(carrier: "Post", parcels: 2)"#, ", parcels: 2",
      "", "has no dynamic member 'ship'"),
    .init(
      "a parameter of another type", #"try await shop.orders[7].ship(carrier: "Post", parcels: 2)"#, "2", #""2""#,
      "cannot convert value of type 'String'"),
    .init(
      "null for a parameter that cannot be null", #"try await shop.orders[7].ship(carrier: "Post", parcels: 2)"#,
      #""Post""#, "nil", "'nil' is not compatible with expected argument type 'String'"),
    .init(
      "an action of an entity on its set", #"try await shop.orders[7].ship(carrier: "Post", parcels: 2)"#, "[7]", "",
      "value of type 'ODataEntitySet<Order>' has no member 'ship'"),
    .init(
      "an action of another type", #"try await shop.orders[7].ship(carrier: "Post", parcels: 2)"#, "orders[7]",
      #"products["A"]"#, "'ODataEntityReference<Product>'"),
    .init(
      "a result used as another type", "let volume: ODataDecimal? = try await shop.orders[7].volume()\n_ = volume",
      "ODataDecimal?", "String?", "value of type 'ODataDecimal?' to type 'String?'"),
    .init(
      "a result that may be null used as one that is not",
      "let volume: ODataDecimal? = try await shop.orders[7].volume()\n_ = volume", "?", "", "must be unwrapped"),
    .init(
      "the elements of a result used as another type",
      "let names: [String] = try await shop.below(price: 5).map(\\.name)\n_ = names",
      "\\.name", "\\.price", "'ODataDecimal?' cannot be converted"),
    .init(
      "a link to an entity of another type", "try await shop.orders[7].link(\\.buyer, to: shop.parties[guid])",
      "parties[guid]", #"products["A"]"#, "ODataNavigation<Product"),
    .init(
      "a link of a structural property", "try await shop.orders[7].link(\\.buyer, to: shop.parties[guid])",
      "\\.buyer", "\\.customer", "instance method 'link'"),
    .init(
      "a link to a value", "try await shop.orders[7].link(\\.buyer, to: shop.parties[party])", "shop.parties[party]",
      "party", "cannot convert value of type 'Party'"),
    .init(
      "the removal of one of several targets of a property that has one",
      "try await shop.orders[7].unlink(\\.items, from: shop.items[item])", "\\.items, from: shop.items[item]",
      "\\.buyer, from: shop.parties[guid]", "ODataNavigation"),
    .init(
      "the removal of no target from a property that has several", "try await shop.orders[7].unlink(\\.buyer)",
      "\\.buyer", "\\.items", "ODataNavigation"),
  ]

  static let results: [WrongProgram] = [
    .init(
      "live results without try", "for try await orders in try shop.orders.live() { _ = orders }", "in try", "in",
      "call can throw but is not marked with 'try'"),
    .init(
      "a read without await", "_ = try await shop.orders[7].get()", "try await", "try", "not marked with 'await'"),
    .init(
      "a read without try", "_ = try await shop.orders[7].get()", "try await", "await",
      "call can throw but is not marked with 'try'"),
    .init(
      "a first entity that may be missing", "_ = try await shop.orders.first()?.customer", "?", "", "must be unwrapped"),
    .init(
      "related entities that may be missing", "_ = order.items?.count", "?", "", "must be unwrapped"),
    .init(
      "a result as another type", "let orders: [Order] = try await shop.orders.all()\n_ = orders", "[Order]",
      "[Item]", "'[Item]'"),
    .init(
      "a selection without a type", "_ = try await shop.orders.all(as: Row.self) { $0.note }", "(as: Row.self)", "",
      "missing argument for parameter 'as'"),
    .init(
      "a selection as a type that cannot be decoded", "_ = try await shop.orders.all(as: Row.self) { $0.note }",
      "Row.self", "Undecodable.self", "requires that 'Undecodable' conform to 'Decodable'"),
    .init(
      "a text where a timestamp is read", "let due: ODataDateTimeOffset? = order.due\n_ = due", "ODataDateTimeOffset?",
      "String?", "value of type 'ODataDateTimeOffset?' to type 'String?'"),
  ]
}
