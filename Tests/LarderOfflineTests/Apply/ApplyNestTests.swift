import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("$apply: nest and addnested (Data Aggregation 4.0 §3.4.3, §3.5.2)", .timeLimit(.minutes(1)))
struct ApplyNestTests {
  @Test(
    "addnested adds transformed related entities to each row",
    arguments: [
      // Example 45.
      (
        "Customers?$apply=addnested(Sales,filter(Amount gt 3) as FilteredSales)&$select=ID&$expand=FilteredSales($select=ID,Amount)",
        #"""
        {"ID":"C1","FilteredSales":[{"ID":3,"Amount":4}]},
        {"ID":"C2","FilteredSales":[{"ID":4,"Amount":8},{"ID":5,"Amount":4}]},{"ID":"C3","FilteredSales":[]},
        {"ID":"C4","FilteredSales":[]}
        """#
      ),
      // Example 76.
      (
        "Products?$apply=addnested(Sales,aggregate(Amount with sum as Total) as AggregatedSales)&$select=Name,AggregatedSales&$orderby=Name",
        #"""
        {"Name":"Coffee","AggregatedSales":[{"Total":12}]},{"Name":"Paper","AggregatedSales":[{"Total":8}]},
        {"Name":"Pencil","AggregatedSales":[{"Total":null}]},{"Name":"Sugar","AggregatedSales":[{"Total":4}]}
        """#
      ),
      (
        "Products?$apply=filter(ID eq 'P3')/addnested(Sales,topcount(1,Amount) as Best,groupby((Customer/Country),aggregate($count as N)) as By)&$select=ID,Best,By&$expand=Best($select=ID)",
        #"{"ID":"P3","Best":[{"ID":5}],"By":[{"Customer":{"Country":"Netherlands"},"N":2},{"Customer":{"Country":"USA"},"N":2}]}"#
      ),
      // The entity that one row leads to is one entity.
      (
        "Sales?$apply=top(2)/addnested(Product,compute(TaxRate mul 100 as Percent) as AugmentedProduct)&$select=ID&$expand=AugmentedProduct($select=Name,Percent)",
        #"""
        {"ID":1,"AugmentedProduct":{"Name":"Paper","Percent":14.00}},
        {"ID":2,"AugmentedProduct":{"Name":"Sugar","Percent":6.00}}
        """#
      ),
      (
        "Customers?$apply=addnested(Place,compute(toupper(City) as Big) as Where)&$select=ID,Where",
        #"""
        {"ID":"C1","Where":{"City":"USA","Street":null,"Big":"USA"}},
        {"ID":"C2","Where":{"City":"USA","Street":null,"Big":"USA"}},
        {"ID":"C3","Where":{"City":"Netherlands","Street":null,"Big":"NETHERLANDS"}},{"ID":"C4","Where":null}
        """#
      ),
      // Nested again, in one entity and in many.
      (
        "Sales?$apply=filter(ID eq 1)/addnested(Customer,addnested(Sales,filter(Amount ge 2) as Big) as Buyer)&$select=ID,Buyer&$expand=Buyer($select=Name,Big)",
        #"{"ID":1,"Buyer":{"Name":"Joe","Big":[{"ID":2},{"ID":3}]}}"#
      ),
      (
        "Categories?$apply=addnested(Products,addnested(Sales,aggregate($count as N) as S) as P)&$select=ID&$expand=P($select=ID,S)",
        #"""
        {"ID":"PG1","P":[{"ID":"P1","S":[{"N":2}]},{"ID":"P2","S":[{"N":2}]}]},
        {"ID":"PG2","P":[{"ID":"P3","S":[{"N":4}]},{"ID":"P4","S":[{"N":0}]}]}
        """#
      ),
      // Options of $expand apply to the computed collection.
      (
        "Customers?$apply=addnested(Sales,compute(Amount mul 2 as Twice) as S)&$select=ID&$expand=S($filter=Twice gt 4;$orderby=Twice desc;$top=1;$select=Twice)",
        #"{"ID":"C1","S":[{"Twice":8}]},{"ID":"C2","S":[{"Twice":16}]},{"ID":"C3","S":[]},{"ID":"C4","S":[]}"#
      ),
      // In groups, and after them.
      (
        "Products?$apply=groupby((Color),topcount(1,Name)/addnested(Sales,aggregate($count as N) as S))&$select=Color,S",
        #"""
        {"Color":"White","S":[{"N":2}]},{"Color":"Brown","S":[{"N":2}]},{"Color":"Black","S":[{"N":0}]}
        """#
      ),
      (
        "Sales?$apply=groupby((Product))/addnested(Product,compute(length(Name) as L) as P)&$expand=Product($select=ID),P($select=L)",
        #"""
        {"Product":{"ID":"P1"},"P":{"L":5}},{"Product":{"ID":"P2"},"P":{"L":6}},{"Product":{"ID":"P3"},"P":{"L":5}}
        """#
      ),
    ])
  func addsNested(_ url: String, _ expected: String) async throws {
    let text = try await ApplyRig().result(url)
    // The entity's declared properties are not tested here.
    #expect(text.replacing(Self.rest, with: "") == expected.replacing("\n", with: ""))
  }

  private static var rest: Regex<Substring> {
    /,"CustomerID":[^}]*(?=\})/
  }

  @Test(
    "Added collections can be used: counted, filtered by, aggregated",
    arguments: [
      (
        "Customers?$apply=addnested(Sales,filter(Amount gt 3) as Big)/filter(Big/any())&$select=ID&$expand=Big/$count",
        #"{"ID":"C1","Big@count":1},{"ID":"C2","Big@count":2}"#
      ),
      (
        "Customers?$apply=addnested(Sales,filter(Amount gt 3) as Big)/compute(Big/$count as N)&$select=N",
        #"{"N":1},{"N":2},{"N":0},{"N":0}"#
      ),
      // Example 127 in another form: a nested collection is aggregated.
      (
        "Customers?$apply=addnested(Sales,filter(Amount gt 1) as Big)/groupby((Country),aggregate(Big/Amount with sum as T))",
        #"{"Country":"France","T":null},{"Country":"Netherlands","T":4},{"Country":"USA","T":18}"#
      ),
      (
        "Customers?$apply=addnested(Sales,top(1) as One)/compute(One/$count as N)/filter(N eq 1)&$select=ID",
        #"{"ID":"C1"},{"ID":"C2"},{"ID":"C3"}"#
      ),
    ])
  func queries(_ url: String, _ expected: String) async throws {
    #expect(try await ApplyRig().result(url) == expected)
  }

  @Test(
    "nest creates one row of all rows, or of each group, with a collection for each sequence",
    arguments: [
      (
        "Sales?$apply=nest(groupby((Customer/ID)) as Customers)",
        #"{"Customers":[{"Customer":{"ID":"C1"}},{"Customer":{"ID":"C2"}},{"Customer":{"ID":"C3"}}]}"#
      ),
      (
        "Sales?$apply=filter(ID gt 100)/nest(identity as None,aggregate($count as N) as Count)",
        #"{"None":[],"Count":[{"N":0}]}"#
      ),
      // Example 129.
      (
        "Sales?$apply=groupby((Product/Category/ID),nest(groupby((Customer/ID)) as Customers))",
        #"""
        {"Product":{"Category":{"ID":"PG1"}},"Customers":[{"Customer":{"ID":"C1"}},{"Customer":{"ID":"C2"}},{"Customer":{"ID":"C3"}}]},
        {"Product":{"Category":{"ID":"PG2"}},"Customers":[{"Customer":{"ID":"C1"}},{"Customer":{"ID":"C2"}},{"Customer":{"ID":"C3"}}]}
        """#
      ),
      (
        "Sales?$apply=groupby((Customer),nest(topcount(1,Amount) as Best,aggregate(Amount with sum as T) as Sum))&$expand=Customer($select=ID),Best($select=ID)",
        #"""
        {"Customer":{"ID":"C1"},"Best":[{"ID":3}],"Sum":[{"T":7}]},{"Customer":{"ID":"C2"},"Best":[{"ID":4}],"Sum":[{"T":12}]},
        {"Customer":{"ID":"C3"},"Best":[{"ID":6}],"Sum":[{"T":5}]}
        """#
      ),
      // Null is a group too, and an enclosing $expand does not matter.
      (
        "Customers?$select=ID&$filter=ID eq 'C1'&$expand=Sales($apply=groupby((Product/Color),nest(aggregate($count as N) as C)))",
        #"{"ID":"C1","Sales":[{"Product":{"Color":"Brown"},"C":[{"N":1}]},{"Product":{"Color":"White"},"C":[{"N":2}]}]}"#
      ),
      (
        "Sales?$apply=filter(Amount gt 3)/nest(nest(aggregate($count as N) as Inner) as Outer)",
        #"{"Outer":[{"Inner":[{"N":3}]}]}"#
      ),
    ])
  func nests(_ url: String, _ expected: String) async throws {
    #expect(try await ApplyRig().result(url) == expected.replacing("\n", with: ""))
  }

  @Test("Each collection describes its content (§3.4.3), and the context URL of the result names it")
  func contexts() async throws {
    let rig = try await ApplyRig()
    let run = try rig.run(
      "Customers?$apply=addnested(Sales,aggregate(Amount with sum as Total) as A,filter(Amount gt 3) as F)&$top=1",
      .minimal)
    let text = try await rig.read { String(decoding: try run.json($0).bytes, as: UTF8.self) }
    #expect(text.hasPrefix(#"{"@context":"$metadata#Customers(A(Total),F())","#), "\(text)")
    #expect(
      text.contains(#""A@context":"$metadata#Sales(Total)","A":[{"#)
        && text.contains(#""F@context":"$metadata#Sales","F":["#), "\(text)")
    let nested = try rig.run(
      "Sales?$apply=groupby((Product/Category),nest(groupby((Customer/ID)) as Customers))", .minimal)
    let other = try await rig.read { String(decoding: try nested.json($0).bytes, as: UTF8.self) }
    #expect(
      other.hasPrefix(#"{"@context":"$metadata#Sales(Product(Category()),Customers(Customer(ID)))","#), "\(other)")
    #expect(other.contains(#""Customers@context":"$metadata#Sales(Customer(ID))","#), "\(other)")
  }

  private struct Customer: Decodable, Hashable {
    struct Sale: Decodable, Hashable {
      let id: Int
      private enum CodingKeys: String, CodingKey { case id = "ID" }
    }
    struct Sum: Decodable, Hashable {
      let total: Int?
      private enum CodingKeys: String, CodingKey { case total = "Total" }
    }
    let name: String
    let big: [Sale]
    let sums: [Sum]
    private enum CodingKeys: String, CodingKey {
      case name = "Name"
      case big = "Big"
      case sums = "Sums"
    }
  }

  private struct Node: Decodable, Hashable {
    let id: String
    let ancestors: [String]
    private enum CodingKeys: String, CodingKey {
      case id = "ID"
      case ancestors = "@Org.OData.Aggregation.V1.UpPath#SalesOrgHierarchy"
    }
  }

  @Test("The results can be decoded as Swift values, and read as entities with computed members")
  func values() async throws {
    let rig = try await ApplyRig()
    let url =
      "Customers?$apply=filter(ID eq 'C2')/addnested(Sales,filter(Amount gt 3) as Big,aggregate(Amount with sum as Total) as Sums)"
    let run = try rig.run(url, .minimal)
    let decoded = try await rig.read { try run.read([Customer].self, $0) }
    #expect(decoded == [Customer(name: "Sue", big: [.init(id: 4), .init(id: 5)], sums: [.init(total: 12)])])
    let payload = try #require(try await rig.read { try run.payload($0).payload })
    let entity = try #require(payload.entities?.first)
    #expect("\(entity)".contains("Big") && "\(entity)".contains("Sums"), "\(entity)")
    let traversal = try rig.run(
      "SalesOrganizations?$apply=traverse($root/SalesOrganizations,SalesOrgHierarchy,ID,preorder,filter(ID eq 'US'))",
      .minimal)
    let nodes = try await rig.read { try traversal.read([Node].self, $0) }
    #expect(
      nodes == [
        Node(id: "US", ancestors: []), Node(id: "US East", ancestors: ["US"]), Node(id: "US West", ancestors: ["US"]),
      ])
    let read = try #require(try await rig.read { try traversal.payload($0).payload })
    #expect("\(read)".contains("UpPath"), "\(read)")
  }

  @Test(
    "Undefined results are rejected: more than one instance where one is needed",
    arguments: ["filter(true)", "top(1)"])
  func rejections(_ steps: String) async throws {
    let rig = try await ApplyRig()
    let error = #expect(throws: OfflineODataError.self) {
      try rig.plan("Sales?$apply=addnested(Product,\(steps) as P)")
    }
    #expect(error?.category == .invalidInput && error?.errorMessage.contains("compute") == true, "\(error as Any)")
  }

  @Test("Statements of collections are shown, each with its values")
  func explained() async throws {
    let rig = try await ApplyRig()
    let plan = try rig.plan("Customers?$apply=addnested(Sales,filter(Amount gt 3) as Big)").0
    let text = try await rig.read { try Explanation(plan, on: $0).description }
    #expect(text.contains("-- Big\n"), "\(text)")
  }
}
