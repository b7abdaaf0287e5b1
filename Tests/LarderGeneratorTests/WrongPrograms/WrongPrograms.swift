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
      "a misspelt navigation property", "_ = shop.orders[1].items", "items", "itms",
      "value of type 'ODataEntityReference<Order>' has no dynamic member 'itms'"),
    .init(
      "a misspelt property in a filter", #"_ = shop.orders.filter { $0.customer == "ACME" }"#, "customer", "custmer",
      "value of type 'ODataInstance<Order>' has no dynamic member 'custmer'"),
    .init(
      "a misspelt property of a complex value in a filter", #"_ = shop.orders.filter { $0.shipTo.city == "Ely" }"#,
      "city", "town", "value of type 'ODataInstance<Address>' has no dynamic member 'town'"),
    .init(
      "a misspelt property of a related entity in a filter", #"_ = shop.orders.filter { $0.buyer.name == "Ada" }"#,
      "name", "nmae", "value of type 'ODataInstance<Party>' has no dynamic member 'nmae'"),
    .init(
      "a property of another type in a filter", "_ = shop.products.filter { $0.price > 5 }", "price", "weight",
      "value of type 'ODataInstance<Product>' has no dynamic member 'weight'"),
    .init(
      "a misspelt property in an order", "_ = shop.orders.orderBy(\\.due)", "due", "deu",
      "'KeyPath<Root, Value>' to expected argument type 'ODataOrderBy<Order>'"),
    .init(
      "a misspelt property in an expansion", "_ = shop.orders.expand(\\.items)", "items", "itmes",
      "'KeyPath<Root, Value>' to expected argument type 'ODataExpand<Order>'"),
    .init(
      "a misspelt property of a value", "_ = order.note", "note", "noet", "value of type 'Order' has no member 'noet'"),
    .init(
      "a misspelt member of an enumeration", "_ = shop.orders.filter { $0.status == .open }", ".open", ".opened",
      "cannot infer contextual base in reference to member 'opened'"),
  ]

  static let comparisons: [WrongProgram] = [
    .init(
      "text compared with a number", #"_ = shop.orders.filter { $0.customer == "7" }"#, #""7""#, "7",
      "value of type 'Int' to expected argument type 'ODataOperand<String>'"),
    .init(
      "a number compared with text", "_ = shop.orders.filter { $0.parcels == 7 }", "7", #""7""#,
      "value of type 'String' to expected argument type 'ODataOperand<Int32>'"),
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
      "Priority.high", "value of type 'Priority' to expected argument type 'ODataOperand<Status>'"),
    .init(
      "an enumeration compared with text", "_ = shop.orders.filter { $0.status == .open }", ".open", #""Open""#,
      "value of type 'String' to expected argument type 'ODataOperand<Status>'"),
    .init(
      "a Boolean compared with a number", "_ = shop.orders.filter { $0.isPaid == true }", "true", "1",
      "value of type 'Int' to expected argument type 'ODataOperand<Bool>'"),
    .init(
      "a GUID compared with text", "_ = shop.parties.filter { $0.id == guid }", "guid", #""7f""#,
      "value of type 'String' to expected argument type 'ODataOperand<UUID>'"),
    .init(
      "properties of two types compared", "_ = shop.orders.filter { $0.customer == $0.buyer.name }", "buyer.name",
      "parcels", "type 'ODataOperand<Int32>' to expected argument type 'ODataOperand<String>'"),
    .init(
      "numbers of two types compared without widening",
      "_ = shop.orders.filter { $0.parcels.widened(to: ODataDecimal.self) < $0.total }",
      ".widened(to: ODataDecimal.self)", "",
      "type 'ODataOperand<ODataDecimal>' to expected argument type 'ODataOperand<Int32>'"),
    .init(
      "a list of another type", "_ = shop.orders.filter { $0.status.in([.open]) }", ".open", #""Open""#,
      "cannot convert value of type 'String' to expected element type 'Status'"),
    .init(
      "an order of Booleans", "_ = shop.orders.filter { $0.isPaid == true }", "==", "<",
      "cannot convert value of type 'Bool' to closure result type 'ODataOperand<Bool>'"),
    .init(
      "an order of an enumeration", "_ = shop.orders.filter { $0.status == .open }", "==", ">",
      "operator function '>' on 'ODataOperand' requires that 'Status' conform to 'ODataOrdered'"),
    .init(
      "a function of texts on a number", #"_ = shop.orders.filter { $0.customer.contains("A") }"#, "customer",
      "parcels", "'contains' on 'ODataOperand' requires the types 'Int32' and 'String' be equivalent"),
    .init(
      "a function of dates on text", "_ = shop.orders.filter { $0.due.year == 2026 }", "due", "customer",
      "property 'year' requires that 'String' conform to 'ODataDated'"),
    .init(
      "arithmetic with text", "_ = shop.orders.filter { $0.parcels * 2 > 4 }", "* 2", #"* "2""#,
      "operands of type 'ODataOperand<Int32>' and 'String'"),
  ]

  static let conditions: [WrongProgram] = [
    .init(
      "a misspelt property in a long condition", long, "customer", "custmer",
      "value of type 'ODataInstance<Order>' has no dynamic member 'custmer'"),
    .init(
      "a value of another type in a long condition", long, #""Ely""#, "3",
      "value of type 'Int' to expected argument type 'ODataOperand<String>'"),
    .init(
      "a property that cannot be filtered in a long condition", long, "customer", "note",
      "type 'ODataNotFilterable' to expected argument type 'ODataOperand<String>'"),
    .init(
      "a filter that is a number", "_ = shop.orders.filter { $0.parcels + 1 > 2 }", " > 2", "",
      "cannot convert value of type 'ODataOperand<Int32>' to closure result type 'ODataOperand<Bool>'"),
    .init(
      "a filter that Swift computes", "_ = shop.orders.filter { $0.customer == order.customer }",
      "$0.customer == order.customer", "_ in order.parcels > 2",
      "cannot convert value of type 'Bool' to closure result type 'ODataOperand<Bool>'"),
    .init(
      "a collection compared with a value", #"_ = shop.orders.filter { $0.tags.any { $0 == "new" } }"#,
      #".any { $0 == "new" }"#, #" == "new""#, "requires that 'ODataValues<String>' conform to 'StringProtocol'"),
    .init(
      "a condition on values of another type", #"_ = shop.orders.filter { $0.tags.any { $0 == "new" } }"#,
      #""new""#, "1", "value of type 'Int' to expected argument type 'ODataOperand<String>'"),
    .init(
      "any of a property to one entity", "_ = shop.orders.filter { $0.items.any { $0.price == nil } }",
      "items.any { $0.price == nil }", "buyer.any { $0.name == nil }",
      "value of type 'ODataInstance<Party>' has no dynamic member 'any'"),
    .init(
      "all of a property to one entity", "_ = shop.orders.filter { $0.items.all { $0.price == nil } }",
      "items.all { $0.price == nil }", "buyer.all { $0.name == nil }",
      "value of type 'ODataInstance<Party>' has no dynamic member 'all'"),
    .init(
      "a member of a collection", "_ = shop.orders.filter { $0.items.any { $0.price > 5 } }", ".any { $0.price > 5 }",
      ".price > 5", "value of type 'ODataItems<Item>' has no member 'price'"),
    .init(
      "any that returns no condition", "_ = shop.orders.filter { $0.items.any { $0.price > 5 } }", "$0.price > 5",
      "$0.price", "to expected argument type '(ODataInstance<Item>) -> ODataOperand<Bool>'"),
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
      "customer", "note", "requires that 'ODataNotFilterable' conform to 'StringProtocol'"),
    .init(
      "a function of a property that cannot be filtered", #"_ = shop.orders.filter { $0.customer.contains("A") }"#,
      "customer", "note", "value of type 'ODataNotFilterable' has no member 'contains'"),
    .init(
      "an order by a property that cannot be sorted", "_ = shop.orders.orderBy(\\.customer)", "customer", "note",
      "key path value type 'ODataNotSortable' cannot be converted"),
    .init(
      "a descending order by a property that cannot be sorted",
      "_ = shop.orders.orderBy { $0.customer.descending }", "customer", "note",
      "value of type 'ODataNotSortable' has no member 'descending'"),
    .init(
      "an expansion of a property that cannot be expanded", "_ = shop.orders.expand(\\.items)",
      "orders.expand(\\.items)",
      "products.expand(\\.substitutes)",
      "type 'KeyPath<Product.Fields, ODataNavigationCollection<Product, ODataForbidden>>'"),
    .init(
      "an expansion in a closure of a property that cannot be expanded",
      "_ = shop.products.filter { $0.substitutes.any() }", "filter { $0.substitutes.any() }",
      "expand { $0.substitutes }",
      "requires the types 'ODataForbidden' and 'ODataAllowed' be equivalent"),
    .init(
      "a deletion in a set that allows none", "try await shop.orders.delete(order)", "orders.delete(order)",
      "parties.delete(party)",
      "'delete' on 'ODataEntitySet' requires the types 'Party.ODataDeletion' (aka 'ODataForbidden')"),
    .init(
      "a deletion by the key in a set that allows none", "try await shop.orders[7].delete()", "orders[7]",
      "parties[guid]", "value of type 'ODataEntityReference<Party>' has no dynamic member 'delete'"),
    .init(
      "a deletion in a change set of a set that allows none",
      "try await shop.store.changeSet(shop.orders.deleting(order))", "orders.deleting(order)",
      "parties.deleting(party)",
      "'deleting' on 'ODataEntitySet' requires the types 'Party.ODataDeletion' (aka 'ODataForbidden')"),
  ]

  static let shapes: [WrongProgram] = [
    .init(
      "an order by a collection", "_ = shop.orders.orderBy(\\.customer)", "customer", "items",
      "key path value type 'ODataItems<Item>' cannot be converted"),
    .init(
      "an order by a complex value", "_ = shop.orders.orderBy(\\.customer)", "customer", "shipTo",
      "key path value type 'ODataOrdering<Address>' cannot be converted"),
    .init(
      "an expansion of a structural property", "_ = shop.orders.expand(\\.items)", "items", "customer",
      "'Order.Fields.Field<String>' (aka 'ODataField<String>') conform to 'ODataExpandableMember'"),
    .init(
      "a nested expansion of a property of the outer type",
      "_ = shop.orders.expand(\\.items) { $0.expand(\\.product) }", "product", "buyer",
      "type 'KeyPath<Order.Fields, ODataNavigationCollection<Item, ODataAllowed>>' to expected"),
    .init(
      "a nested filter by a property of the outer type",
      "_ = shop.orders.expand(\\.items) { $0.filter { $0.quantity > 1 } }", "quantity", "parcels",
      "type 'KeyPath<Order.Fields, ODataNavigationCollection<Item, ODataAllowed>>' to expected"),
    .init(
      "options for collections on a property to one entity",
      "_ = shop.orders.expand(\\.buyer) { $0.select { $0.name } }", "$0.select { $0.name }", "$0.top(5)",
      "type 'KeyPath<Order.Fields, ODataNavigation<Party, ODataAllowed>>' to expected"),
    .init(
      "a selection of a property of another type",
      "_ = try await shop.orders.all(as: Row.self) { $0.note }", "$0.note", "$0.price",
      "value of type 'ODataSelection<Order>' has no dynamic member 'price'"),
    .init(
      "a filter of one entity", "_ = shop.orders[1].items.filter { $0.price > 5 }", ".items", "",
      "value of type 'ODataEntityReference<Order>' has no dynamic member 'filter'"),
    .init(
      "a number of entities as text", "_ = shop.orders.top(5)", "5", #""5""#,
      "cannot convert value of type 'String' to expected argument type 'Int'"),
  ]

  static let keys: [WrongProgram] = [
    .init(
      "a key of another type", "_ = shop.orders[7]", "7", #""7""#,
      "expects value of type 'Order.Key' for parameter #1 (got 'String')"),
    .init(
      "a GUID as text", "_ = shop.parties[guid]", "guid", #""7f""#,
      "expects value of type 'Party.Key' for parameter #1 (got 'String')"),
    .init(
      "a key without one of its properties", "_ = shop.items[.init(order: 7, line: 1)]", ", line: 1", "",
      "'subscript(_:)' requires that 'Item.Key' conform to 'ODataSingleKey'"),
    .init(
      "a single value for a key of two properties", "_ = shop.items[.init(order: 7, line: 1)]",
      ".init(order: 7, line: 1)", "7", "'subscript(_:)' requires that 'Item.Key' conform to 'ODataSingleKey'"),
    .init(
      "a key property of another type", "_ = shop.items[.init(order: 7, line: 1)]", "line: 1", #"line: "1""#,
      "'subscript(_:)' requires that 'Item.Key' conform to 'ODataSingleKey'"),
    .init(
      "the key of another set", "_ = shop.orders[Order.Key(7)]", "Order.Key(7)", "Item.Key(order: 7, line: 1)",
      "expects value of type 'Order.Key' for parameter #1 (got 'Item.Key')"),
    .init(
      "a value of another set", "_ = shop.orders[order]", "[order]", "[item]",
      "expects value of type 'Order.Key' for parameter #1 (got 'Item')"),
    .init(
      "a key of a singleton", "_ = shop.parties[guid]", "parties", "head",
      "value of type 'Company.Fields' has no subscripts"),
  ]

  static let creations: [WrongProgram] = [
    .init(
      "a creation in a set that allows none", #"try await shop.products.create(.init(code: "A", name: "Salt"))"#,
      "products", "parties", "'create' on 'ODataEntitySet' requires that 'Party' conform to 'ODataCreatable'"),
    .init(
      "a creation without a required property",
      #"try await shop.orders.create(.init(customer: "A", status: .open))"#, #"customer: "A", "#, "",
      "missing argument for parameter 'customer' in call"),
    .init(
      "a creation with a computed property",
      #"try await shop.orders.create(.init(customer: "A", status: .open, weight: 5))"#, "weight", "total",
      "extra argument 'total' in call"),
    .init(
      "null for a property that cannot be null",
      #"try await shop.orders.create(.init(customer: "A", status: .open))"#, #""A""#, "nil",
      "'nil' is not compatible with expected argument type 'String'"),
    .init(
      "a value of another type in a creation",
      #"try await shop.orders.create(.init(customer: "A", status: .open, parcels: 2))"#, "2", #""2""#,
      "value of type 'String' to expected argument type 'Int32'"),
    .init(
      "a related entity of another type in a creation",
      #"try await shop.orders.create(.init(customer: "A", status: .open, items: [Item.Create(quantity: 2)]))"#,
      "Item.Create(quantity: 2)", #"Product.Create(code: "A", name: "Salt")"#,
      "value of type 'Product.Create' to expected element type 'Item.Create'"),
    .init(
      "a creation bound to an entity of another type",
      #"try await shop.orders.create(.init(customer: "A", status: .open, buyer: .existing(shop.parties[guid])))"#,
      "parties[guid]", #"products["A"]"#,
      "type 'ODataEntityReference<Product>' to expected argument type 'ODataEntityReference<Party>'"),
    .init(
      "a new entity of a type that allows none in a creation",
      #"try await shop.items.create(.init(quantity: 2, product: .new(.init(code: "A", name: "Salt"))))"#,
      #"shop.items.create(.init(quantity: 2, product: .new(.init(code: "A", name: "Salt"))))"#,
      #"shop.orders.create(.init(customer: "A", status: .open, buyer: .new(.init(name: "Ada"))))"#,
      "contextual member reference to static method 'new' requires 'Self' constraint"),
    .init(
      "an entity of another type beside new ones in a creation",
      "try await shop.products.create(\n"
        + #"  .init(code: "A", name: "Salt", substitutes: [.init(code: "B", name: "C")] + .existing(shop.products["D"])))"#,
      #"products["D"]"#, "parties[guid]",
      "ODataRelatedEntities<Party, ODataAllowed>' to expected argument type 'ODataRelatedEntities<Product, ODataAllowed>'"
    ),
    .init(
      "several targets of a property that has one in a creation",
      #"try await shop.orders.create(.init(customer: "A", status: .open, buyer: .existing(shop.parties[guid])))"#,
      "shop.parties[guid]", "shop.parties[guid], shop.parties[guid]", "extra argument in call"),
    .init(
      "a value instead of a reference in a creation",
      #"try await shop.orders.create(.init(customer: "A", status: .open, buyer: .existing(shop.parties[party])))"#,
      "shop.parties[party]", "party", "value of type 'Party' to expected argument type 'ODataEntityReference<Party>'"),
    .init(
      "a read value as a creation", #"try await shop.orders.create(Order.Create(customer: "A", status: .open))"#,
      #"Order.Create(customer: "A", status: .open)"#, "order",
      "value of type 'Order' to expected argument type 'Order.Create'"),
  ]

  static let media: [WrongProgram] = [
    .init(
      "the bytes of an entity that has none", "_ = try await shop.pictures[7].media()", "pictures", "orders",
      "'media()' on 'ODataEntityReference' requires that 'Order' conform to 'ODataMediaEntity'"),
    .init(
      "the bytes of a structural property", "_ = try await shop.pictures[7].media(\\.thumbnail)", "thumbnail", "title",
      "'KeyPath<Picture.Fields, ODataField<String>>' to expected argument type"),
    .init(
      "a filter by a stream property", #"_ = shop.pictures.filter { $0.title == "x" }"#, "title", "thumbnail",
      "requires that 'ODataNotFilterable' conform to 'StringProtocol'"),
    .init(
      "text instead of bytes",
      #"try await shop.pictures[7].updateMedia(.bytes([], contentType: "image/png"))"#,
      #".bytes([], contentType: "image/png")"#, #""x""#,
      "value of type 'String' to expected argument type 'ODataRequestBody'"),
    .init(
      "a media entity created from values",
      #"try await shop.pictures.createMedia(.bytes([], contentType: "image/png"))"#,
      #"createMedia(.bytes([], contentType: "image/png"))"#, #"create(.init(title: "x"))"#,
      "'create' on 'ODataEntitySet' requires that 'Picture' conform to 'ODataCreatable'"),
    .init(
      "a creation from bytes in a set that allows none",
      #"try await shop.pictures.createMedia(.bytes([], contentType: "image/png"))"#, "pictures", "scans",
      "requires the types 'Scan.ODataMediaCreation' (aka 'ODataForbidden')"),
    .init(
      "a creation from bytes in a set without media",
      #"try await shop.pictures.createMedia(.bytes([], contentType: "image/png"))"#, "pictures", "orders",
      "on 'ODataEntitySet' requires that 'Order' conform to 'ODataMediaEntity'"),
  ]

  static let derivedTypes: [WrongProgram] = [
    .init(
      "a derived type of a set that has none", "_ = shop.parties.as(Company.self)", "parties", "orders",
      "'as' on 'ODataEntitySet' requires that 'Order' conform to 'ODataBaseType'"),
    .init(
      "a derived type of an entity that has none", "_ = shop.parties[guid].as(Company.self)", "parties[guid]",
      "orders[7]", "value of type 'ODataEntityReference<Order>' has no dynamic member 'as'"),
    .init(
      "a derived type of a value that has none", "_ = party.as(Company.self)", "party", "order",
      "value of type 'Order' has no member 'as'"),
    .init(
      "a property of a derived type in a filter", "_ = shop.products.filter { $0.as(Food.self).expires == nil }",
      ".as(Food.self)", "", "value of type 'ODataInstance<Product>' has no dynamic member 'expires'"),
    .init(
      "a creation of a derived type in a set that has none",
      #"try await shop.products.create(.init(code: "A", name: "Salt"), of: Food.self)"#, "products", "orders",
      "'create(_:of:)' on 'ODataEntitySet' requires that 'Order' conform to 'ODataBaseType'"),
    .init(
      "a creation of a derived type that allows none",
      #"try await shop.products.create(Food.Create(code: "A", name: "Salt"), of: Food.self)"#, "of: Food.self",
      "of: Company.self", "'create(_:of:)' requires that 'Company' conform to 'ODataCreatable'"),
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
      "parties.updating(party)", "'updating' on 'ODataEntitySet' requires that 'Party' conform to 'ODataTracked'"),
    .init(
      "a deletion of another type in a change set",
      "try await shop.store.changeSet(shop.orders.updating(order), shop.items.deleting(item))", "deleting(item)",
      "deleting(order)", "value of type 'Order' to expected argument type 'Item'"),
    .init(
      "a creation in a change set without a required property",
      #"try await shop.store.changeSet(shop.orders.creating(.init(customer: "A", status: .open)))"#,
      #"customer: "A", "#, "", "missing argument for parameter 'customer' in call"),
  ]

  static let updates: [WrongProgram] = [
    .init(
      "an update of an immutable property", #"try await shop.orders[7].update(.init(note: "mine"))"#, "note",
      "customer", "extra argument 'customer' in call"),
    .init(
      "an update of a computed property", "try await shop.orders[7].update(.init(parcels: 5))", "parcels", "total",
      "extra argument 'total' in call"),
    .init(
      "an update of a key property", "try await shop.orders[7].update(.init(parcels: 5))", "parcels", "id",
      "extra argument 'id' in call"),
    .init(
      "an update to null of a property that cannot be null",
      "try await shop.orders[7].update(.init(note: .some(nil)))", "note", "parcels",
      "'nil' is not compatible with expected argument type 'Int32'"),
    .init(
      "an update in a set that allows none", "try await shop.orders.update(order)", "orders.update(order)",
      "parties.update(party)", "'update' on 'ODataEntitySet' requires that 'Party' conform to 'ODataTracked'"),
    .init(
      "an update of an entity of a set that allows none", "try await shop.orders[7].update(.init())", "orders[7]",
      "parties[guid]", "on 'ODataEntityReference' requires that 'Party' conform to 'ODataUpdatable'"),
    .init(
      "an update of another type", "try await shop.orders.update(order)", "(order)", "(item)",
      "value of type 'Item' to expected argument type 'Order'"),
    .init(
      "a deletion of another type", "try await shop.orders.delete(order)", "(order)", "(item)",
      "value of type 'Item' to expected argument type 'Order'"),
    .init(
      "an assignment to an immutable property", "var mine = order\nmine.note = \"A\"", "note", "customer",
      "cannot assign to property: 'customer' is a 'let' constant"),
    .init(
      "an assignment to a computed property", "var mine = order\nmine.weight = 5", "weight", "total",
      "cannot assign to property: 'total' is a 'let' constant"),
    .init(
      "an assignment to a key property", "var mine = order\nmine.parcels = 5", "parcels", "id",
      "cannot assign to property: 'id' is a 'let' constant"),
    .init(
      "an assignment to a navigation property", "var mine = order\nmine.tags = []", "tags", "items",
      "cannot assign to property: 'items' is a 'let' constant"),
    .init(
      "an assignment of null to a property that cannot be null", "var mine = order\nmine.note = nil", "note", "status",
      "'nil' cannot be assigned to type 'Status'"),
    .init(
      "an assignment of a value of another type", "var mine = order\nmine.status = .open", ".open", #""Open""#,
      "cannot assign value of type 'String' to type 'Status'"),
    .init(
      "an assignment to a constant", "var mine = order\nmine.note = nil", "var", "let",
      "cannot assign to property: 'mine' is a 'let' constant"),
  ]

  static let calls: [WrongProgram] = [
    .init(
      "an action without a parameter", #"try await shop.orders[7].ship(carrier: "Post", parcels: 2)"#, ", parcels: 2",
      "", "value of type 'ODataEntityReference<Order>' has no dynamic member 'ship'"),
    .init(
      "a parameter of another type", #"try await shop.orders[7].ship(carrier: "Post", parcels: 2)"#, "2", #""2""#,
      "value of type 'String' to expected argument type 'Int32'"),
    .init(
      "null for a parameter that cannot be null", #"try await shop.orders[7].ship(carrier: "Post", parcels: 2)"#,
      #""Post""#, "nil", "'nil' is not compatible with expected argument type 'String'"),
    .init(
      "an action of an entity on its set", #"try await shop.orders[7].ship(carrier: "Post", parcels: 2)"#, "[7]", "",
      "value of type 'ODataEntitySet<Order>' has no member 'ship'"),
    .init(
      "an action of another type", #"try await shop.orders[7].ship(carrier: "Post", parcels: 2)"#, "orders[7]",
      #"products["A"]"#, "value of type 'ODataEntityReference<Product>' has no dynamic member 'ship'"),
    .init(
      "a result used as another type", "let volume: ODataDecimal? = try await shop.orders[7].volume()\n_ = volume",
      "ODataDecimal?", "String?", "value of type 'ODataDecimal?' to type 'String?'"),
    .init(
      "a result that may be null used as one that is not",
      "let volume: ODataDecimal? = try await shop.orders[7].volume()\n_ = volume", "?", "",
      "value of optional type 'ODataDecimal?' must be unwrapped"),
    .init(
      "the elements of a result used as another type",
      "let names: [String] = try await shop.below(price: 5).map(\\.name)\n_ = names",
      "\\.name", "\\.price", "key path value type 'ODataDecimal?' cannot be converted to contextual type 'String'"),
    .init(
      "a link to an entity of another type", "try await shop.orders[7].link(\\.buyer, to: shop.parties[guid])",
      "parties[guid]", #"products["A"]"#,
      "argument type 'KeyPath<Order.Fields, ODataNavigation<Product, ODataAllowed>>'"),
    .init(
      "a link of a structural property", "try await shop.orders[7].link(\\.buyer, to: shop.parties[guid])",
      "\\.buyer", "\\.customer", "no exact matches in call to instance method 'link'"),
    .init(
      "a link to a value", "try await shop.orders[7].link(\\.buyer, to: shop.parties[party])", "shop.parties[party]",
      "party", "value of type 'Party' to expected argument type 'ODataEntityReference<Party>'"),
    .init(
      "the removal of one of several targets of a property that has one",
      "try await shop.orders[7].unlink(\\.items, from: shop.items[item])", "\\.items, from: shop.items[item]",
      "\\.buyer, from: shop.parties[guid]",
      "type 'KeyPath<Order.Fields, ODataNavigation<Party, ODataAllowed>>' to expected"),
    .init(
      "the removal of no target from a property that has several", "try await shop.orders[7].unlink(\\.buyer)",
      "\\.buyer", "\\.items", "type 'KeyPath<Order.Fields, ODataNavigationCollection<Item, ODataAllowed>>' to expected"),
  ]

  static let results: [WrongProgram] = [
    .init(
      "live results without try", "for try await orders in shop.orders.live() { _ = orders }", "for try", "for",
      "call can throw, but the error is not handled"),
    .init(
      "a read without await", "_ = try await shop.orders[7].get()", "try await", "try",
      "expression is 'async' but is not marked with 'await'"),
    .init(
      "a read without try", "_ = try await shop.orders[7].get()", "try await", "await",
      "call can throw but is not marked with 'try'"),
    .init(
      "a first entity that may be missing", "_ = try await shop.orders.first()?.customer", "?", "",
      "value of optional type 'Order?' must be unwrapped"),
    .init(
      "related entities that may be missing", "_ = order.items?.count", "?", "",
      "value of optional type '[Item]?' must be unwrapped"),
    .init(
      "a result as another type", "let orders: [Order] = try await shop.orders.all()\n_ = orders", "[Order]",
      "[Item]", "value of type '[Order]' to type '[Item]'"),
    .init(
      "a selection without a type", "_ = try await shop.orders.all(as: Row.self) { $0.note }", "(as: Row.self)", "",
      "missing argument for parameter 'as' in call"),
    .init(
      "a selection as a type that cannot be decoded", "_ = try await shop.orders.all(as: Row.self) { $0.note }",
      "Row.self", "Undecodable.self", "'all(as:selecting:)' requires that 'Undecodable' conform to 'Decodable'"),
    .init(
      "a text where a timestamp is read", "let due: ODataDateTimeOffset? = order.due\n_ = due", "ODataDateTimeOffset?",
      "String?", "value of type 'ODataDateTimeOffset?' to type 'String?'"),
  ]
}
