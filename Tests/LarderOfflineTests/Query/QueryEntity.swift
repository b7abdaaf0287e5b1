import LarderOData

/// An entity in memory. The rows of the test tables are created from it, and the evaluator reads it.
final class QueryEntity: Hashable {
  let id: Int64
  /// The entity table's name.
  let place: String
  let type: String
  var values: [String: ODataValue]
  var links: [String: [QueryEntity]] = [:]
  var parent: QueryEntity?

  init(id: Int64, place: String, type: String, values: [String: ODataValue]) {
    self.id = id
    self.place = place
    self.type = type
    self.values = values
  }

  static func == (left: QueryEntity, right: QueryEntity) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// All entities of a test.
struct QueryDataSet {
  var entities: [QueryEntity] = []

  func all(_ place: String) -> [QueryEntity] { entities.filter { $0.place == place } }

  mutating func add(_ place: String, _ type: String, _ values: [String: ODataValue]) -> QueryEntity {
    let entity = QueryEntity(id: Int64(entities.count + 1), place: place, type: type, values: values)
    entities.append(entity)
    return entity
  }

  /// A random shop: small, with many nulls and equal values, so that filters match something.
  static func random(_ random: inout some RandomNumberGenerator, products: Int = 60) -> QueryDataSet {
    var dataSet = QueryDataSet()
    var categories: [QueryEntity] = []
    for number in 1...6 {
      let parent = number > 2 ? Int32.random(in: 1..<Int32(number), using: &random) : nil
      categories.append(
        dataSet.add(
          "Categories", "Shop.Category",
          [
            "ID": .int32(Int32(number)), "Name": text(&random), "ParentID": parent.map { .int32($0) } ?? .null,
          ]))
    }
    for category in categories {
      guard case .int32(let parent)? = category.values["ParentID"] else { continue }
      let above = categories[Int(parent) - 1]
      category.links["Parent"] = [above]
      above.links["Children", default: []].append(category)
    }
    var createdProducts: [QueryEntity] = []
    for number in 1...max(products, 1) { createdProducts.append(dataSet.product(number, categories, &random)) }
    for product in createdProducts {
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let friend = createdProducts[Int.random(in: 0..<createdProducts.count, using: &random)]
        if product.links["Friends"]?.contains(friend) != true { product.links["Friends", default: []].append(friend) }
      }
      if product.type == "Shop.Special", Bool.random(using: &random) {
        product.links["Best"] = [createdProducts[Int.random(in: 0..<createdProducts.count, using: &random)]]
      }
    }
    for number in 1...5 { dataSet.order(number, createdProducts, &random) }
    return dataSet
  }

  private mutating func product(
    _ number: Int, _ categories: [QueryEntity], _ random: inout some RandomNumberGenerator
  ) -> QueryEntity {
    let isSpecial = number % 4 == 0
    var values = QueryDataSet.scalars(&random)
    values["ID"] = .int32(Int32(number))
    values["Stock"] = .int16(Int16.random(in: -3...3, using: &random))
    values["Tags"] = .collection(
      (0..<Int.random(in: 0...3, using: &random)).map { _ in QueryDataSet.text(&random, canBeNull: false) })
    values["Numbers"] = .collection(
      (0..<Int.random(in: 0...3, using: &random)).map { _ in .int32(Int32.random(in: 0...4, using: &random)) })
    values["Home"] = Bool.random(using: &random) ? QueryDataSet.address(&random) : .null
    values["Places"] = .collection(
      (0..<Int.random(in: 0...2, using: &random)).map { _ in QueryDataSet.address(&random) })
    var category: QueryEntity?
    if Int.random(in: 0..<5, using: &random) > 0 {
      category = categories[Int.random(in: 0..<categories.count, using: &random)]
    }
    values["Maker"] = QueryDataSet.maker(&random)
    values["CategoryID"] = category?.values["ID"] ?? .null
    if isSpecial { values["Discount"] = QueryDataSet.maybe(.int32(Int32.random(in: 0...5, using: &random)), &random) }
    let entity = add("Products", isSpecial ? "Shop.Special" : "Shop.Product", values)
    if let category {
      entity.links["Category"] = [category]
      category.links["Products", default: []].append(entity)
    }
    return entity
  }

  private static func scalars(_ random: inout some RandomNumberGenerator) -> [String: ODataValue] {
    let decimals = ["0", "0.0", "1", "1.50", "1.5", "-2.25", "10", "3.0000000000000000000001", "3"]
    let timestamps = [
      "2024-01-31T12:00:00Z", "2024-01-31T13:00:00+01:00", "2024-02-29T23:59:59.5Z", "2019-12-31T00:00:00-05:00",
    ]
    return [
      "Name": text(&random),
      "Price": maybe(.decimal(ODataDecimal(pick(decimals, &random)) ?? 0), &random),
      "Weight": maybe(.decimal(ODataDecimal(pick(decimals, &random)) ?? 0), &random),
      "Rating": maybe(.int32(Int32.random(in: 0...5, using: &random)), &random),
      "Big": maybe(.int64(pick([0, 3, .max, .min, 9_007_199_254_740_993], &random)), &random),
      "Score": maybe(.double(pick([0, 1.5, -2.25, .infinity, .nan, 3], &random)), &random),
      "Color": maybe(.enumeration(pick(["Red", "Green", "Blue"], &random)), &random),
      "Traits": maybe(.enumeration(pick(["Plain", "New", "New,Sale", "Sale,Rare"], &random)), &random),
      "Active": maybe(.boolean(Bool.random(using: &random)), &random),
      "Made": maybe(ODataDateTimeOffset(pick(timestamps, &random)).map { .dateTimeOffset($0) } ?? .null, &random),
      "Day": maybe(
        ODataDate(pick(["2024-01-31", "2024-02-29", "2019-12-31"], &random)).map { .date($0) } ?? .null, &random),
      "Life": maybe(
        ODataDuration(pick(["PT5M", "PT300S", "P1DT2H", "-PT1S"], &random)).map { .duration($0) } ?? .null, &random),
      "At": maybe(
        ODataTimeOfDay(pick(["00:00", "12:30:00.5", "23:59:59"], &random)).map { .timeOfDay($0) } ?? .null, &random),
      "Ratio": maybe(.single(pick([0, 0.1, 1.5, -2.25, .infinity, .nan], &random)), &random),
      "Bytes": maybe(.binary(pick([[], [0], [0, 255], [1, 2, 3]], &random)), &random),
      "Code": maybe(.guid(ODataGuid(high: 0, low: UInt64.random(in: 1...3, using: &random))), &random),
    ]
  }

  private mutating func order(
    _ number: Int, _ products: [QueryEntity], _ random: inout some RandomNumberGenerator
  ) {
    var values: [String: ODataValue] = [
      "ID": .string("O\(number)"), "Total": .decimal(ODataDecimal(Int.random(in: 0...9, using: &random))),
    ]
    if number % 2 == 0 { values["Note"] = .string("note \(number)") }
    if number % 3 == 0 { values["Rank"] = .int32(Int32(number)) }
    let order = add("Orders", "Shop.Order", values)
    for no in 0..<Int.random(in: 0...3, using: &random) {
      let product = products[Int.random(in: 0..<products.count, using: &random)]
      let item = add(
        "Orders/Items", "Shop.Item",
        [
          "No": .int32(Int32(no + 1)), "Count": .int32(Int32.random(in: 1...4, using: &random)),
          "ProductID": product.values["ID"] ?? .null,
        ])
      item.parent = order
      item.links["Product"] = [product]
      order.links["Items", default: []].append(item)
    }
  }

  // MARK: Values

  private static func pick<Item>(_ items: [Item], _ random: inout some RandomNumberGenerator) -> Item {
    items[Int.random(in: 0..<items.count, using: &random)]
  }

  private static func maybe(_ value: ODataValue, _ random: inout some RandomNumberGenerator) -> ODataValue {
    Int.random(in: 0..<5, using: &random) == 0 ? .null : value
  }

  static func text(_ random: inout some RandomNumberGenerator, canBeNull: Bool = true) -> ODataValue {
    if canBeNull, Int.random(in: 0..<6, using: &random) == 0 { return .null }
    return .string(pick(["", "a", "ab", "abc", "b", "B", "Ä", "a'b", "x%y", "\u{1F600}z"], &random))
  }

  private static func maker(_ random: inout some RandomNumberGenerator) -> ODataValue {
    guard Int.random(in: 0..<4, using: &random) > 0 else { return .null }
    return .complex(
      ODataComplexValue(properties: [
        ODataProperty("Name", text(&random)),
        ODataProperty("Rate", maybe(.double(pick([0, 1.5, 3], &random)), &random)),
        ODataProperty("Site", Bool.random(using: &random) ? address(&random) : .null),
      ]))
  }

  /// The type of a complex value that does not name it.
  static func declared(_ complex: ODataComplexValue) -> String {
    complex["Rate"] == nil ? "Shop.Address" : "Shop.Maker"
  }

  private static func address(_ random: inout some RandomNumberGenerator) -> ODataValue {
    let isAbroad = Int.random(in: 0..<3, using: &random) == 0
    var properties = [
      ODataProperty("City", text(&random)),
      ODataProperty("Zip", maybe(.int32(Int32.random(in: 0...4, using: &random)), &random)),
    ]
    if isAbroad { properties.append(ODataProperty("Land", text(&random))) }
    return .complex(ODataComplexValue(typeName: isAbroad ? "Shop.Abroad" : nil, properties: properties))
  }
}
