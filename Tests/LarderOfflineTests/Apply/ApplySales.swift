import Foundation
import LarderOData
import LarderStorage

@testable import LarderOffline

/// The example of the standard (Data Aggregation 4.0 §2.2, §2.3): sales of products to customers.
enum ApplySales {
  static let model: EdmModel = {
    do {
      return try CSDLJSONReader.read(Array(document.utf8))
    } catch {
      // Every test would fail: an empty model says so.
      print("The model of the tests: \(error)")
      return EdmModel(version: .v401, schemas: [])
    }
  }()

  private static let document = """
    {"$Version":"4.01","$EntityContainer":"S.C",
     "S":{
     "Category":{"$Kind":"EntityType","$Key":["ID"],"ID":{},"Name":{},
       "Products":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"S.Product","$Partner":"Category"}},
     "Product":{"$Kind":"EntityType","$Key":["ID"],"ID":{},"Name":{},"Color":{},"CategoryID":{"$Nullable":true},
       "TaxRate":{"$Type":"Edm.Decimal","$Scale":"variable"},"Tags":{"$Collection":true},
       "Category":{"$Kind":"NavigationProperty","$Type":"S.Category","$Nullable":true,"$Partner":"Products",
         "$ReferentialConstraint":{"CategoryID":"ID"}},
       "Sales":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"S.Sale","$Partner":"Product"}},
     "SalesOrganization":{"$Kind":"EntityType","$Key":["ID"],"ID":{},"Name":{},"SuperordinateID":{"$Nullable":true},
       "Superordinate":{"$Kind":"NavigationProperty","$Type":"S.SalesOrganization","$Nullable":true,
         "$ReferentialConstraint":{"SuperordinateID":"ID"}},
       "Parents":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"S.SalesOrganization"},
       "Relations":{"$Kind":"NavigationProperty","$Collection":true,"$ContainsTarget":true,"$Type":"S.Relation"},
       "@Org.OData.Aggregation.V1.RecursiveHierarchy#SalesOrgHierarchy":
         {"NodeProperty":"ID","ParentNavigationProperty":"Superordinate"},
       "@Org.OData.Aggregation.V1.RecursiveHierarchy#ManyParents":
         {"NodeProperty":"ID","ParentNavigationProperty":"Parents"},
       "@Org.OData.Aggregation.V1.RecursiveHierarchy#MultiParentHierarchy":
         {"NodeProperty":"ID","ParentNavigationProperty":"Relations/Superordinate"}},
     "Relation":{"$Kind":"EntityType","$Key":["SuperordinateID"],"SuperordinateID":{},
       "Weight":{"$Type":"Edm.Decimal","$Scale":"variable"},
       "Superordinate":{"$Kind":"NavigationProperty","$Type":"S.SalesOrganization",
         "$ReferentialConstraint":{"SuperordinateID":"ID"}}},
     "Place":{"$Kind":"ComplexType","City":{"$Nullable":true},"Street":{"$Nullable":true}},
     "Customer":{"$Kind":"EntityType","$Key":["ID"],"ID":{},"Name":{},"Country":{},
       "Place":{"$Type":"S.Place","$Nullable":true},
       "Sales":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"S.Sale","$Partner":"Customer"}},
     "Sale":{"$Kind":"EntityType","$Key":["ID"],"ID":{"$Type":"Edm.Int32"},
       "CustomerID":{"$Nullable":true},"Time":{"$Type":"Edm.Date"},"ProductID":{"$Nullable":true},
       "SalesOrganizationID":{"$Nullable":true},
       "Amount":{"$Type":"Edm.Decimal","$Scale":"variable","$Nullable":true},
       "Weight":{"$Type":"Edm.Double","$Nullable":true},"Units":{"$Type":"Edm.Int64","$Nullable":true},
       "Customer":{"$Kind":"NavigationProperty","$Type":"S.Customer","$Nullable":true,"$Partner":"Sales",
         "$ReferentialConstraint":{"CustomerID":"ID"}},
       "Product":{"$Kind":"NavigationProperty","$Type":"S.Product","$Nullable":true,"$Partner":"Sales",
         "$ReferentialConstraint":{"ProductID":"ID"}},
       "SalesOrganization":{"$Kind":"NavigationProperty","$Type":"S.SalesOrganization","$Nullable":true,
         "$ReferentialConstraint":{"SalesOrganizationID":"ID"}},
       "@Org.OData.Aggregation.V1.LeveledHierarchy#CustomerHierarchy":["Customer/Country","Customer/Name"]},
     "C":{"$Kind":"EntityContainer",
       "Categories":{"$Collection":true,"$Type":"S.Category","$NavigationPropertyBinding":{"Products":"Products"}},
       "Products":{"$Collection":true,"$Type":"S.Product",
         "$NavigationPropertyBinding":{"Category":"Categories","Sales":"Sales"}},
       "Customers":{"$Collection":true,"$Type":"S.Customer","$NavigationPropertyBinding":{"Sales":"Sales"}},
       "SalesOrganizations":{"$Collection":true,"$Type":"S.SalesOrganization",
         "$NavigationPropertyBinding":{"Superordinate":"SalesOrganizations","Parents":"SalesOrganizations",
           "Relations/Superordinate":"SalesOrganizations"}},
       "Sales":{"$Collection":true,"$Type":"S.Sale",
         "$NavigationPropertyBinding":{"Customer":"Customers","Product":"Products",
           "SalesOrganization":"SalesOrganizations"}}}}}
    """

  /// The data of the standard.
  static func dataSet() -> QueryDataSet {
    var dataSet = people()
    let sales: [(String, String, String, Int)] = [
      ("C1", "2022-01-03", "P3", 1), ("C1", "2022-04-10", "P1", 2), ("C1", "2022-08-07", "P2", 4),
      ("C2", "2022-01-03", "P2", 8), ("C2", "2022-11-09", "P3", 4), ("C3", "2022-04-01", "P1", 2),
      ("C3", "2022-08-06", "P3", 1), ("C3", "2022-11-22", "P3", 2),
    ]
    for (place, sale) in sales.enumerated() {
      _ = dataSet.add(
        "Sales", "S.Sale",
        [
          "ID": .int32(Int32(place + 1)), "CustomerID": .string(sale.0),
          "Time": ODataDate(sale.1).map { .date($0) } ?? .null,
          "ProductID": .string(sale.2), "Amount": .decimal(ODataDecimal(sale.3)),
          "SalesOrganizationID": .string(place < 3 ? "US West" : place < 5 ? "US East" : "EMEA Central"),
        ])
    }
    return dataSet
  }

  /// Categories, products and customers, without sales.
  static func people() -> QueryDataSet {
    var dataSet = QueryDataSet()
    for (id, name) in [("PG1", "Food"), ("PG2", "Non-Food")] {
      _ = dataSet.add("Categories", "S.Category", ["ID": .string(id), "Name": .string(name)])
    }
    let products = [
      ("P1", "Sugar", "White", "PG1", "0.06"), ("P2", "Coffee", "Brown", "PG1", "0.06"),
      ("P3", "Paper", "White", "PG2", "0.14"), ("P4", "Pencil", "Black", "PG2", "0.14"),
    ]
    for product in products {
      _ = dataSet.add(
        "Products", "S.Product",
        [
          "ID": .string(product.0), "Name": .string(product.1), "Color": .string(product.2),
          "CategoryID": .string(product.3), "TaxRate": .decimal(ODataDecimal(product.4) ?? 0),
          "Tags": .collection(product.0 == "P1" ? [.string("sweet"), .string("new")] : [.string("new")]),
        ])
    }
    let customers = [("C1", "Joe", "USA"), ("C2", "Sue", "USA"), ("C3", "Sue", "Netherlands"), ("C4", "Luc", "France")]
    for customer in customers {
      let place: ODataValue =
        customer.0 == "C4"
        ? .null : .complex(ODataComplexValue(properties: [ODataProperty("City", .string(customer.2))]))
      _ = dataSet.add(
        "Customers", "S.Customer",
        [
          "ID": .string(customer.0), "Name": .string(customer.1), "Country": .string(customer.2), "Place": place,
        ])
    }
    let organizations = [
      ("Sales", "Corporate Sales", nil), ("US", "US", "Sales"), ("US West", "US West", "US"),
      ("US East", "US East", "US"), ("EMEA", "EMEA", "Sales"), ("EMEA Central", "EMEA Central", "EMEA"),
    ]
    for (id, name, above) in organizations { _ = dataSet.organization(id, name, below: above) }
    return dataSet
  }
}

extension QueryDataSet {
  /// A node of the hierarchies.
  mutating func organization(
    _ id: String, _ name: String, below above: String?, relations: [String] = []
  ) -> QueryEntity {
    let node = add(
      "SalesOrganizations", "S.SalesOrganization",
      ["ID": .string(id), "Name": .string(name), "SuperordinateID": above.map { .string($0) } ?? .null])
    for other in relations {
      let relation = add(
        "SalesOrganizations/Relations", "S.Relation", ["SuperordinateID": .string(other), "Weight": .decimal(1)])
      relation.parent = node
    }
    return node
  }
}

/// A store with sales, queried by URLs.
struct ApplyRig: Sendable {
  let rig: QueryRig
  /// The limits for hierarchies.
  var hierarchy = HierarchyWriter.Bounds()

  init(_ dataSet: QueryDataSet = ApplySales.dataSet()) async throws {
    rig = try await QueryRig(dataSet, model: ApplySales.model)
  }

  /// The rig with lower limits for hierarchies.
  func bounded(_ hierarchy: HierarchyWriter.Bounds) -> ApplyRig {
    var rig = self
    rig.hierarchy = hierarchy
    return rig
  }

  func plan(_ url: String, pageSize: Int? = nil) throws -> (ReadPlan, ODataBoundURL) {
    let version = ODataVersion.v401
    let text = url.replacing(" ", with: "%20")
    let tree = try ODataParser(version).relativeURL(text)
    let bound = try ODataBinder(model: ApplySales.model).bind(tree, text: text)
    var options = QueryWriter.Options(pageSize: pageSize, now: Date(timeIntervalSince1970: 0))
    options.hierarchy = hierarchy
    return (try QueryWriter(plan: rig.plan, state: rig.state, options: options).plan(bound), bound)
  }

  /// The values of a property in the rows of all pages, one list for each page.
  func pages(_ url: String, size: Int, of property: String) async throws -> [[SQLValue]] {
    try await rig.pages { token in try plan(url + (token.map { "&$skiptoken=" + $0 } ?? ""), pageSize: size).0 }
      .map { page in page.map { $0.values[property] ?? .null } }
  }

  func run(_ url: String, _ metadata: ResultForm.Metadata = .none) throws -> ResultRun {
    let (plan, bound) = try plan(url)
    return ResultRun(
      plan: plan, url: bound, form: ResultForm(version: .v401, metadata: metadata), model: ApplySales.model)
  }

  /// Runs a function on a connection in a transaction.
  func read<Value: Sendable>(_ body: @escaping @Sendable (Connection) throws -> Value) async throws -> Value {
    let result = try await rig.database.read { (connection) -> Result<Value, any Error> in
      Result { try body(connection) }
    }
    return try result.get()
  }

  /// The content of `value`, without control information.
  func result(_ url: String) async throws -> String {
    let run = try run(url)
    let text = try await rig.database.read { (connection) throws(StorageError) in
      do {
        return String(decoding: try run.json(connection).bytes, as: UTF8.self)
      } catch let error as StorageError {
        throw error
      } catch {
        return "\(error)"
      }
    }
    guard text.hasPrefix(#"{"value":["#), text.hasSuffix("]}") else { return text }
    return String(text.dropFirst(10).dropLast(2))
  }
}
