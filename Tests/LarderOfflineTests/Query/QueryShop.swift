import LarderOData

/// A shop with a few entities, each for a certain test.
///
/// | place | identities |
/// | --- | --- |
/// | Categories | 1 (Tools, no parent), 2 (Saws, below 1), 3 (Small saws, below 2) |
/// | Products | 4 … 8: 4 Hammer, 5 Saw, 6 (no name) special, 7 Drill special, 8 Nail without a category |
/// | Orders | 9 (O1: items 10, 11), 12 (O2, with undeclared properties) |
/// | Favourite | 13, of type Special |
enum QueryShop {
  static func dataSet() -> QueryDataSet {
    var dataSet = QueryDataSet()
    let tools = dataSet.add("Categories", "Shop.Category", ["ID": .int32(1), "Name": .string("Tools")])
    let saws = dataSet.add(
      "Categories", "Shop.Category", ["ID": .int32(2), "Name": .string("Saws"), "ParentID": .int32(1)])
    _ = dataSet.add(
      "Categories", "Shop.Category", ["ID": .int32(3), "Name": .string("Small saws"), "ParentID": .int32(2)])
    _ = (tools, saws)
    let home = ODataValue.complex(
      ODataComplexValue(properties: [ODataProperty("City", .string("Rome")), ODataProperty("Zip", .int32(7))]))
    let abroad = ODataValue.complex(
      ODataComplexValue(
        typeName: "Shop.Abroad",
        properties: [
          ODataProperty("City", .string("Bern")), ODataProperty("Zip", .null), ODataProperty("Land", .string("CH")),
        ]))
    let hammer = product(&dataSet, 10, "Hammer", price: "9.50", category: 1, ["Home": home, "Rating": .int32(5)])
    let saw = product(
      &dataSet, 20, "Saw", price: "20", category: 2, ["Home": abroad, "Places": .collection([home, abroad])])
    let unnamed = product(&dataSet, 30, nil, price: nil, category: 2, ["Discount": .int32(5)], isSpecial: true)
    let drill = product(
      &dataSet, 40, "Drill", price: "100.00", category: 3,
      ["Tags": .collection([.string("new"), .string("loud"), .string("heavy")]), "Rating": .int32(3)], isSpecial: true)
    let nail = product(&dataSet, 50, "Nail", price: "0.05", category: nil, ["Rating": .int32(5)])
    hammer.links["Friends"] = [nail, saw]
    saw.links["Friends"] = [hammer]
    unnamed.links["Best"] = [drill]
    let order = dataSet.add("Orders", "Shop.Order", ["ID": .string("O1"), "Total": .decimal(30)])
    for (no, product) in [(1, 10), (2, 50)] {
      let item = dataSet.add(
        "Orders/Items", "Shop.Item",
        ["No": .int32(Int32(no)), "Count": .int32(Int32(no * 2)), "ProductID": .int32(Int32(product))])
      item.parent = order
    }
    _ = dataSet.add(
      "Orders", "Shop.Order",
      ["ID": .string("O2"), "Total": .decimal(0), "Note": .string("fast"), "Rank": .int32(7), "Paid": .boolean(true)])
    _ = dataSet.add("Favourite", "Shop.Special", ["ID": .int32(99), "Name": .string("Best"), "CategoryID": .int32(1)])
    return dataSet
  }

  private static func product(
    _ dataSet: inout QueryDataSet, _ id: Int32, _ name: String?, price: String?, category: Int32?,
    _ more: [String: ODataValue], isSpecial: Bool = false
  ) -> QueryEntity {
    var values: [String: ODataValue] = [
      "ID": .int32(id), "Name": name.map { .string($0) } ?? .null, "Stock": .int16(Int16(id / 10)),
      "Price": price.flatMap { ODataDecimal($0) }.map { .decimal($0) } ?? .null,
      "CategoryID": category.map { .int32($0) } ?? .null, "Tags": .collection([]), "Numbers": .collection([]),
      "Places": .collection([]),
    ]
    values.merge(more) { $1 }
    return dataSet.add("Products", isSpecial ? "Shop.Special" : "Shop.Product", values)
  }
}
