import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("$apply: recursive hierarchies (Data Aggregation 4.0 §6)", .timeLimit(.minutes(1)))
struct ApplyHierarchyTests {
  private static let hierarchy = "$root/SalesOrganizations,SalesOrgHierarchy"

  private static func ids(_ ids: [String]) -> String { ids.map { #"{"ID":"\#($0)"}"# }.joined(separator: ",") }

  @Test(
    "ancestors and descendants (§6.2.1)",
    arguments: [
      ("ancestors(H,ID,filter(Name eq 'US West'))", ["Sales", "US"]),
      ("ancestors(H,ID,filter(Name eq 'US West'),keep start)", ["Sales", "US", "US West"]),
      ("ancestors(H,ID,filter(Name eq 'US West'),1)", ["US"]),
      // Examples 60 and 61.
      ("ancestors(H,ID,filter(contains(Name,'East') or contains(Name,'Central')))", ["EMEA", "Sales", "US"]),
      ("descendants(H,ID,filter(Name eq 'US'),keep start)", ["US", "US East", "US West"]),
      ("descendants(H,ID,filter(Name eq 'US'))", ["US East", "US West"]),
      ("descendants(H,ID,filter(Name eq 'Corporate Sales'),1,keep start)", ["EMEA", "Sales", "US"]),
      ("descendants(H,ID,filter(ID eq 'Sales'))/filter(contains(Name,'Central'))", ["EMEA Central"]),
    ])
  func relatives(_ apply: String, _ expected: [String]) async throws {
    let apply = apply.replacing("H,", with: Self.hierarchy + ",")
    let text = try await ApplyRig().result("SalesOrganizations?$apply=\(apply)&$select=ID")
    #expect(text == Self.ids(expected))
  }

  @Test("The rows may be related to nodes, to one (example 62) or to many")
  func related() async throws {
    let rig = try await ApplyRig()
    let one = try await rig.result(
      "Sales?$apply=ancestors(\(Self.hierarchy),SalesOrganization/ID,filter(contains(SalesOrganization/Name,'East') or contains(SalesOrganization/Name,'Central')),keep start)&$select=ID"
    )
    #expect(one == (4...8).map { #"{"ID":\#($0)}"# }.joined(separator: ","))
    let many = try await rig.result(
      "Products?$apply=descendants(\(Self.hierarchy),Sales/SalesOrganization/ID,filter(ID eq 'P2'),keep start)&$select=ID"
    )
    #expect(many == Self.ids(["P1", "P2", "P3"]))
    let other = try await rig.result(
      "Customers?$apply=descendants(\(Self.hierarchy),Sales/SalesOrganization/ID,filter(ID eq 'C3'),keep start)&$select=ID"
    )
    #expect(other == Self.ids(["C3"]))
  }

  // MARK: traverse

  @Test(
    "traverse returns the nodes in preorder or postorder, siblings in the given order or by key (§6.2.2.1)",
    arguments: [
      ("traverse(H,ID,preorder)", ["Sales", "EMEA", "EMEA Central", "US", "US East", "US West"]),
      ("traverse(H,ID,postorder)", ["EMEA Central", "EMEA", "US East", "US West", "US", "Sales"]),
      ("traverse(H,ID,preorder,Name desc)", ["Sales", "US", "US West", "US East", "EMEA", "EMEA Central"]),
      (
        "traverse(H,ID,postorder,contains(Name,'U') desc,Name desc)",
        ["US West", "US East", "US", "EMEA Central", "EMEA", "Sales"]
      ),
      // Example 63.
      (
        "descendants(H,ID,filter(Name eq 'US'),keep start)/ancestors(H,ID,filter(contains(Name,'East')),keep start)/traverse(H,ID,preorder)",
        ["US", "US East"]
      ),
      ("traverse(H,ID,preorder)/skip(1)/top(3)", ["EMEA", "EMEA Central", "US"]),
      ("filter(ID ne 'US')/traverse(H,ID,postorder)", ["EMEA Central", "EMEA", "US East", "US West", "Sales"]),
      // Later options may sort again, and keep the order of equal values.
      (
        "traverse(H,ID,preorder)/orderby(contains(Name,'E') desc)",
        ["EMEA", "EMEA Central", "US East", "Sales", "US", "US West"]
      ),
      // Later steps may use a traversal to select rows.
      ("descendants(H,ID,traverse(H,ID,postorder)/top(1),keep start)", ["EMEA Central"]),
    ])
  func traverses(_ apply: String, _ expected: [String]) async throws {
    let apply = apply.replacing("H,", with: Self.hierarchy + ",")
    let text = try await ApplyRig().result("SalesOrganizations?$apply=\(apply)&$select=ID")
    #expect(text == Self.ids(expected))
  }

  @Test("Start nodes are those that the transformations select; UpPath contains the nodes above each place (§6.2.2.2)")
  func startNodes() async throws {
    let rig = try await ApplyRig()
    let text = try await rig.result(
      "SalesOrganizations?$apply=traverse(\(Self.hierarchy),ID,preorder,filter(ID eq 'US' or ID eq 'US East'),Name)&$select=ID"
    )
    let up = "@Org.OData.Aggregation.V1.UpPath#SalesOrgHierarchy"
    let expected = [("US", "[]"), ("US East", #"["US"]"#), ("US West", #"["US"]"#), ("US East", "[]")]
    #expect(text == expected.map { #"{"ID":"\#($0.0)","\#(up)":\#($0.1)}"# }.joined(separator: ","))
  }

  /// Relations to other nodes: Atlantis has two parents, Mars none.
  private static func addRelations(to dataSet: inout QueryDataSet) {
    let above = [("US", "Sales"), ("EMEA", "Sales"), ("EMEA Central", "EMEA")]
    for organization in dataSet.all("SalesOrganizations") {
      guard case .string(let id)? = organization.values["ID"],
        let other = above.first(where: { $0.0 == id })?.1
      else { continue }
      let relation = dataSet.add(
        "SalesOrganizations/Relations", "S.Relation", ["SuperordinateID": .string(other), "Weight": .decimal(1)])
      relation.parent = organization
    }
    _ = dataSet.organization("Atlantis", "Atlantis", below: nil, relations: ["US", "EMEA"])
    _ = dataSet.organization("AtlantisChild", "Child of Atlantis", below: nil, relations: ["Atlantis"])
    _ = dataSet.organization("Mars", "Mars", below: nil)
    _ = dataSet.organization("Phobos", "Phobos", below: nil, relations: ["Mars"])
  }

  /// Examples 64 and 117: Atlantis has two parents; Mars and the nodes below it are not part of the traversal.
  @Test("A node with several parents occurs below each of them; unreachable nodes are omitted (§6.2.2.2)")
  func severalParents() async throws {
    var dataSet = ApplySales.people()
    for organization in dataSet.all("SalesOrganizations") { organization.values["SuperordinateID"] = .null }
    Self.addRelations(to: &dataSet)
    let rig = try await ApplyRig(dataSet)
    let text = try await rig.result(
      "SalesOrganizations?$apply=traverse($root/SalesOrganizations,MultiParentHierarchy,ID,preorder,filter(ID eq 'Sales'))&$select=ID"
    )
    let expected = [
      ("Sales", "[]"), ("EMEA", #"["Sales"]"#), ("Atlantis", #"["EMEA","Sales"]"#),
      ("AtlantisChild", #"["Atlantis","EMEA","Sales"]"#), ("EMEA Central", #"["EMEA","Sales"]"#), ("US", #"["Sales"]"#),
      ("Atlantis", #"["US","Sales"]"#), ("AtlantisChild", #"["Atlantis","US","Sales"]"#),
    ]
    let up = "@Org.OData.Aggregation.V1.UpPath#MultiParentHierarchy"
    #expect(text == expected.map { #"{"ID":"\#($0.0)","\#(up)":\#($0.1)}"# }.joined(separator: ","))
  }

  @Test("Rows that are related to nodes are in the order of the nodes, each with its node inline (§6.2.2, case 2)")
  func traversesRelated() async throws {
    let rig = try await ApplyRig()
    let text = try await rig.result(
      "Sales?$apply=filter(Amount gt 1)/traverse(\(Self.hierarchy),SalesOrganization/ID,preorder,Name desc)&$select=ID,SalesOrganization"
    )
    let expected = [
      (2, "US West"), (3, "US West"), (4, "US East"), (5, "US East"), (6, "EMEA Central"), (8, "EMEA Central"),
    ]
    let above = ["US West": "US", "US East": "US", "EMEA Central": "EMEA"]
    let rows = expected.map { id, name in
      #"{"ID":\#(id),"SalesOrganization":{"ID":"\#(name)","Name":"\#(name)","SuperordinateID":"\#(above[name] ?? "")"}}"#
    }
    #expect(text == rows.joined(separator: ","))
  }

  /// Example 112.
  @Test("A row that is related to several nodes occurs once for each, with only that node")
  func traversesCollections() async throws {
    let dataSet = ApplySales.dataSet()
    for sale in dataSet.all("Sales") where sale.values["SalesOrganizationID"] == .string("US West") {
      sale.values["SalesOrganizationID"] = .string("US")
    }
    let text = try await ApplyRig(dataSet).result(
      "Products?$apply=traverse(\(Self.hierarchy),Sales/SalesOrganization/ID,preorder,Name asc)&$select=ID&$expand=Sales($expand=SalesOrganization($select=ID))"
    )
    let expected = [
      ("P1", "EMEA Central"), ("P3", "EMEA Central"), ("P1", "US"), ("P2", "US"), ("P3", "US"), ("P2", "US East"),
      ("P3", "US East"),
    ]
    #expect(
      text
        == expected.map { #"{"ID":"\#($0.0)","Sales":[{"SalesOrganization":{"ID":"\#($0.1)"}}]}"# }.joined(
          separator: ","))
  }

  // MARK: rolluprecursive

  @Test(
    "rolluprecursive returns a row for each node, over all rows at or below it (§6.3)",
    arguments: [
      // Example 65: nodes themselves.
      (
        "SalesOrganizations?$apply=groupby((rolluprecursive(H,ID)),aggregate($count as OrgCnt)/compute(OrgCnt sub 1 as SubOrgCnt))&$select=ID,SubOrgCnt&$expand=Superordinate($select=ID)",
        #"""
        {"ID":"EMEA","SubOrgCnt":1,"Superordinate":{"ID":"Sales"}},
        {"ID":"EMEA Central","SubOrgCnt":0,"Superordinate":{"ID":"EMEA"}},
        {"ID":"Sales","SubOrgCnt":5,"Superordinate":null},{"ID":"US","SubOrgCnt":2,"Superordinate":{"ID":"Sales"}},
        {"ID":"US East","SubOrgCnt":0,"Superordinate":{"ID":"US"}},
        {"ID":"US West","SubOrgCnt":0,"Superordinate":{"ID":"US"}}
        """#
      ),
      // The sub-hierarchy below US, as in example 66.
      (
        "Sales?$apply=groupby((rolluprecursive(H,SalesOrganization/ID,descendants(H,ID,filter(ID eq 'US'),keep start))),aggregate(Amount with sum as TotalAmountIncl))&$expand=SalesOrganization($select=ID)",
        #"""
        {"TotalAmountIncl":19,"SalesOrganization":{"ID":"US"}},{"TotalAmountIncl":12,"SalesOrganization":{"ID":"US East"}},
        {"TotalAmountIncl":7,"SalesOrganization":{"ID":"US West"}}
        """#
      ),
      // Example 67: actual totals, then visual ones.
      (
        "Sales?$apply=groupby((rolluprecursive(H,SalesOrganization/ID,ancestors(H,ID,filter(ID eq 'US East'),keep start))),aggregate(Amount with sum as Total))&$expand=SalesOrganization($select=ID)",
        #"""
        {"Total":24,"SalesOrganization":{"ID":"Sales"}},{"Total":19,"SalesOrganization":{"ID":"US"}},
        {"Total":12,"SalesOrganization":{"ID":"US East"}}
        """#
      ),
      (
        "Sales?$apply=ancestors(H,SalesOrganization/ID,filter(SalesOrganization/ID eq 'US East'),keep start)/groupby((rolluprecursive(H,SalesOrganization/ID,ancestors(H,ID,filter(ID eq 'US East'),keep start))),aggregate(Amount with sum as Total))&$expand=SalesOrganization($select=ID)",
        #"""
        {"Total":12,"SalesOrganization":{"ID":"Sales"}},{"Total":12,"SalesOrganization":{"ID":"US"}},
        {"Total":12,"SalesOrganization":{"ID":"US East"}}
        """#
      ),
      // Example 107: a thinned-out hierarchy.
      (
        "Sales?$apply=filter(Product/Name eq 'Paper')/groupby((rolluprecursive(H,SalesOrganization/ID)),aggregate($count as N))&$expand=SalesOrganization($select=ID)",
        #"""
        {"N":2,"SalesOrganization":{"ID":"EMEA"}},{"N":2,"SalesOrganization":{"ID":"EMEA Central"}},
        {"N":4,"SalesOrganization":{"ID":"Sales"}},{"N":2,"SalesOrganization":{"ID":"US"}},
        {"N":1,"SalesOrganization":{"ID":"US East"}},{"N":1,"SalesOrganization":{"ID":"US West"}}
        """#
      ),
      // Nodes without rows are included, if there is no other grouping property.
      (
        "Sales?$apply=filter(Amount gt 4)/groupby((rolluprecursive(H,SalesOrganization/ID)),aggregate(Amount with sum as T))&$expand=SalesOrganization($select=ID)&$filter=T eq null",
        #"""
        {"T":null,"SalesOrganization":{"ID":"EMEA"}},{"T":null,"SalesOrganization":{"ID":"EMEA Central"}},
        {"T":null,"SalesOrganization":{"ID":"US West"}}
        """#
      ),
      (
        "Sales?$apply=groupby((rolluprecursive(H,SalesOrganization/ID,filter(ID eq 'US')),Product/Name),aggregate(Amount with sum as T))&$expand=SalesOrganization($select=ID)",
        #"""
        {"Product":{"Name":"Coffee"},"T":12,"SalesOrganization":{"ID":"US"}},
        {"Product":{"Name":"Paper"},"T":5,"SalesOrganization":{"ID":"US"}},
        {"Product":{"Name":"Sugar"},"T":2,"SalesOrganization":{"ID":"US"}}
        """#
      ),
      // Example 68: identifiers that match nothing (case 3); the row has its grouping properties.
      (
        "Sales?$apply=groupby((rolluprecursive(H,CustomerID,filter(ID eq 'US'))),aggregate(Amount with sum as TotalAmount))",
        #"{"TotalAmount":null,"CustomerID":"US"}"#
      ),
      // Example 113, with a count for the names.
      (
        "Products?$apply=groupby((rolluprecursive(H,Sales/SalesOrganization/ID)),aggregate(ID with countdistinct as N,$count as C))&$expand=Sales($expand=SalesOrganization($select=ID))",
        #"""
        {"N":2,"C":2,"Sales":[{"SalesOrganization":{"ID":"EMEA"}}]},{"N":2,"C":2,"Sales":[{"SalesOrganization":{"ID":"EMEA Central"}}]},
        {"N":3,"C":3,"Sales":[{"SalesOrganization":{"ID":"Sales"}}]},{"N":3,"C":3,"Sales":[{"SalesOrganization":{"ID":"US"}}]},
        {"N":2,"C":2,"Sales":[{"SalesOrganization":{"ID":"US East"}}]},{"N":3,"C":3,"Sales":[{"SalesOrganization":{"ID":"US West"}}]}
        """#
      ),
    ])
  func rollsUp(_ url: String, _ expected: String) async throws {
    let url = url.replacing("H,", with: Self.hierarchy + ",")
    #expect(try await ApplyRig().result(url) == expected.replacing("\n", with: ""))
  }

  /// Example 66.
  @Test("rollupnode distinguishes rows of the node itself from those below it (§6.3)")
  func rollupNode() async throws {
    let rig = try await ApplyRig()
    let text = try await rig.result(
      "Sales?$apply=groupby((rolluprecursive(H,SalesOrganization/ID,descendants(H,ID,filter(ID eq 'US'),keep start))),compute(case(SalesOrganization eq Aggregation.rollupnode():Amount) as AmountExcl)/aggregate(Amount with sum as TotalAmountIncl,AmountExcl with sum as TotalAmountExcl))&$expand=SalesOrganization($select=ID)"
        .replacing("H,", with: Self.hierarchy + ","))
    let expected = [("US", "19", "null"), ("US East", "12", "12"), ("US West", "7", "7")]
    #expect(
      text
        == expected.map {
          #"{"TotalAmountIncl":\#($0.1),"TotalAmountExcl":\#($0.2),"SalesOrganization":{"ID":"\#($0.0)"}}"#
        }.joined(separator: ","))
    let result = try await rig.result(
      "Sales?$apply=groupby((rolluprecursive(H,SalesOrganization/ID)),filter(SalesOrganization/ID eq Org.OData.Aggregation.V1.rollupnode(Position=1)/ID)/aggregate($count as N))&$select=N"
        .replacing("H,", with: Self.hierarchy + ","))
    #expect(result == [0, 3, 0, 0, 2, 3].map { #"{"N":\#($0)}"# }.joined(separator: ","))
    #expect(throws: ODataBindingError.self) {
      try rig.plan("Sales?$apply=filter(SalesOrganization eq Aggregation.rollupnode())")
    }
  }

  @Test("The order of a traversal that selects the nodes is kept; grouped rows can be traversed (§6.3, example 111)")
  func orders() async throws {
    let rig = try await ApplyRig()
    let expected = [("Sales", 24), ("US", 19), ("US West", 7), ("US East", 12), ("EMEA", 5), ("EMEA Central", 5)]
    let chosen = try await rig.result(
      "Sales?$apply=groupby((rolluprecursive(H,SalesOrganization/ID,traverse(H,ID,preorder,Name desc))),aggregate(Amount with sum as T))&$expand=SalesOrganization($select=ID)"
        .replacing("H,", with: Self.hierarchy + ","))
    #expect(
      chosen
        == expected.map { #"{"T":\#($0.1),"SalesOrganization":{"ID":"\#($0.0)"}}"# }.joined(separator: ","))
    let traversed = try await rig.result(
      "Sales?$apply=groupby((rolluprecursive(H,SalesOrganization/ID)),aggregate(Amount with sum as T))/traverse(H,SalesOrganization/ID,preorder,Name desc)&$expand=SalesOrganization($select=ID)"
        .replacing("H,", with: Self.hierarchy + ","))
    #expect(traversed == chosen)
    let nodes = try await rig.result(
      "SalesOrganizations?$apply=groupby((rolluprecursive(H,ID)),aggregate($count as N))/traverse(H,ID,postorder)&$select=ID,N"
        .replacing("H,", with: Self.hierarchy + ","))
    #expect(
      nodes
        == [("EMEA Central", 1), ("EMEA", 2), ("US East", 1), ("US West", 1), ("US", 3), ("Sales", 6)]
        .map { #"{"ID":"\#($0.0)","N":\#($0.1)}"# }.joined(separator: ","))
  }

  @Test("Two hierarchies are combined node by node; other transformations stay within each portion")
  func combinations() async throws {
    let rig = try await ApplyRig()
    let two = try await rig.result(
      "Sales?$apply=groupby((rolluprecursive(H,SalesOrganization/ID,filter(ID eq 'US' or ID eq 'EMEA')),rolluprecursive(H,SalesOrganizationID,filter(ID eq 'US West' or ID eq 'Sales'))),aggregate($count as N))&$expand=SalesOrganization($select=ID)"
        .replacing("H,", with: Self.hierarchy + ","))
    let expected = [("EMEA", "Sales", 3), ("EMEA", "US West", 0), ("US", "Sales", 5), ("US", "US West", 3)]
    #expect(
      two
        == expected.map { #"{"N":\#($0.2),"SalesOrganizationID":"\#($0.1)","SalesOrganization":{"ID":"\#($0.0)"}}"# }
        .joined(separator: ","))
    let tops = try await rig.result(
      "Sales?$apply=groupby((rolluprecursive(H,SalesOrganization/ID)),topcount(1,Amount))&$select=ID&$expand=SalesOrganization($select=ID)"
        .replacing("H,", with: Self.hierarchy + ","))
    let best = [(6, "EMEA"), (6, "EMEA Central"), (4, "Sales"), (4, "US"), (4, "US East"), (3, "US West")]
    #expect(
      tops == best.map { #"{"ID":\#($0.0),"SalesOrganization":{"ID":"\#($0.1)"}}"# }.joined(separator: ","))
    let inner = try await rig.result(
      "Sales?$apply=groupby((Customer/Country),groupby((rolluprecursive(H,SalesOrganization/ID,filter(contains(ID,'US')))),aggregate($count as N)))&$filter=N eq 0&$expand=SalesOrganization($select=ID)"
        .replacing("H,", with: Self.hierarchy + ","))
    #expect(inner.components("Netherlands") == 3 && inner.components("\"N\":0") == 3, "\(inner)")
  }

  // MARK: What is no hierarchy

  @Test(
    "A hierarchy that the metadata does not define is rejected, and the error lists the defined ones",
    arguments: [
      "traverse($root/SalesOrganizations,Nope,ID,preorder)",
      "groupby((rolluprecursive($root/SalesOrganizations,Nope,ID)))",
    ])
  func unknown(_ apply: String) async throws {
    let rig = try await ApplyRig()
    let error = #expect(throws: OfflineODataError.self) { try rig.plan("SalesOrganizations?$apply=" + apply) }
    #expect(error?.category == .invalidInput)
    #expect(error?.errorMessage.contains("'SalesOrgHierarchy'") == true, "\(error as Any)")
    let other = #expect(throws: OfflineODataError.self) {
      try rig.plan("Sales?$apply=traverse($root/Customers,SalesOrgHierarchy,CustomerID,preorder)")
    }
    #expect(other?.errorMessage.contains("S.Customer") == true, "\(other as Any)")
  }

  @Test("Each query is one statement, whose values are parameters")
  func statements() async throws {
    let rig = try await ApplyRig()
    let plan = try rig.plan(
      "Sales?$apply=groupby((rolluprecursive(H,SalesOrganization/ID,filter(ID eq 'US'))),aggregate(Amount with sum as T))/traverse(H,SalesOrganization/ID,preorder)&$select=T"
        .replacing("H,", with: Self.hierarchy + ",")
    ).0
    #expect(plan.parameters.contains(.value(.text("US"))) && !plan.sql.contains("'US'"))
    let text = try await rig.read { try Explanation(plan, on: $0).description }
    #expect(text.contains("WITH RECURSIVE") && text.contains("-- plan: "))
  }

  @Test(
    "Rows at several places are paged, and occur as often as in a single result",
    arguments: [
      "SalesOrganizations?$apply=traverse(H,ID,preorder)&$select=ID",
      "SalesOrganizations?$apply=traverse($root/SalesOrganizations,MultiParentHierarchy,ID,preorder)&$select=ID",
      "SalesOrganizations?$apply=traverse($root/SalesOrganizations,MultiParentHierarchy,ID,preorder)/topcount(100,length(ID))&$select=ID",
      "Sales?$apply=groupby((rolluprecursive(H,SalesOrganization/ID)),topcount(1,Amount))/topcount(50,Amount)&$select=ID",
      "SalesOrganizations?$apply=groupby((rolluprecursive(H,ID)),filter(true))&$select=ID",
    ])
  func pages(_ url: String) async throws {
    var dataSet = ApplySales.dataSet()
    Self.addRelations(to: &dataSet)
    let rig = try await ApplyRig(dataSet)
    let url = url.replacing("H,", with: Self.hierarchy + ",")
    let whole = try await rig.rig.result(try rig.plan(url).0).rows.map { $0.values["ID"] ?? .null }
    #expect(whole.count > Set(whole.map { "\($0)" }).count || url.contains("SalesOrgHierarchy,ID,preorder"))
    #expect(try await rig.pages(url, size: 1, of: "ID") == whole.map { [$0] })
  }
}
