import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("$apply on random hierarchies, against an evaluation in memory", .timeLimit(.minutes(5)))
struct ApplyHierarchyFuzzTests {
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      var mixed = state
      mixed = (mixed ^ (mixed >> 33)) &* 0xff51_afd7_ed55_8ccd
      return mixed ^ (mixed >> 33)
    }
  }

  /// Nodes with their parents: some have none, some several, some are in a cycle, some refer to a missing node.
  private struct Graph {
    var names: [String] = []
    var parents: [[Int]] = []
    /// The node of each sale; -1 for a missing node, nil for none.
    var sales: [Int?] = []

    init(_ random: inout Generator) {
      let count = Int.random(in: 1...9, using: &random)
      let isTree = Bool.random(using: &random)
      for node in 0..<count {
        names.append(["b", "a", "c"][Int.random(in: 0..<3, using: &random)])
        var direct: Set<Int> = []
        if isTree {
          if node > 0, Int.random(in: 0..<5, using: &random) > 0 { direct = [Int.random(in: 0..<node, using: &random)] }
        } else {
          for _ in 0..<Int.random(in: 0...2, using: &random) {
            direct.insert(Int.random(in: 0..<count, using: &random))
          }
        }
        parents.append(direct.sorted())
      }
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        let node = Int.random(in: -2..<count, using: &random)
        sales.append(node == -2 ? nil : node)
      }
    }

    var nodes: Range<Int> { 0..<names.count }

    func dataSet() -> QueryDataSet {
      var dataSet = ApplySales.people()
      dataSet.entities.removeAll { $0.place == "SalesOrganizations" }
      let nodes = nodes.map { dataSet.organization("N\($0)", names[$0], below: parents[$0].first.map { "N\($0)" }) }
      for node in self.nodes where !parents[node].isEmpty {
        nodes[node].links["Parents"] = parents[node].map { nodes[$0] }
      }
      for (place, node) in sales.enumerated() {
        let organization: ODataValue = node.map { .string($0 < 0 ? "X" : "N\($0)") } ?? .null
        _ = dataSet.add(
          "Sales", "S.Sale",
          [
            "ID": .int32(Int32(place + 1)), "SalesOrganizationID": organization,
            "Amount": .decimal(ODataDecimal(place + 1)),
          ])
      }
      return dataSet
    }

    func children(_ node: Int) -> [Int] { nodes.filter { parents[$0].contains(node) } }

    /// A node and all below it.
    func portion(_ node: Int) -> Set<Int> {
      var nodes: Set<Int> = [node]
      var open = [node]
      while let next = open.popLast() {
        for child in children(next) where nodes.insert(child).inserted { open.append(child) }
      }
      return nodes
    }

    func sorted(_ nodes: [Int], _ isByName: Bool) -> [Int] {
      nodes.sorted { one, other in
        isByName && names[one] != names[other] ? names[one] < names[other] : "N\(one)" < "N\(other)"
      }
    }

    /// The places of a traversal: the node, then those above it.
    func places(from start: [Int], isPostorder: Bool, isByName: Bool) -> [[Int]] {
      func visit(_ path: [Int]) -> [[Int]] {
        let below = sorted(children(path[0]).filter { !path.contains($0) }, isByName).flatMap { visit([$0] + path) }
        return isPostorder ? below + [path] : [path] + below
      }
      return sorted(start, isByName).flatMap { visit([$0]) }
    }
  }

  private typealias Bounds = HierarchyWriter.Bounds

  private static let up = "@Org.OData.Aggregation.V1.UpPath#ManyParents"

  private static func object(_ path: [Int]) -> String {
    let above = path.dropFirst().map { #""N\#($0)""# }.joined(separator: ",")
    return #"{"ID":"N\#(path[0])","\#(up)":[\#(above)]}"#
  }

  @Test(
    "traverse of trees, of nodes with several parents, of cycles; from roots or from selected nodes",
    arguments: [1, 2, 3])
  func traversals(_ seed: UInt64) async throws {
    print("seed \(seed)")
    var random = Generator(state: seed)
    for _ in 0..<15 {
      let graph = Graph(&random)
      let rig = try await ApplyRig(graph.dataSet())
      let (isPostorder, isByName) = (Bool.random(using: &random), Bool.random(using: &random))
      let chosen = Bool.random(using: &random) ? Int.random(in: graph.nodes, using: &random) : nil
      let start =
        chosen.map { last in graph.nodes.filter { "N\($0)" >= "N\(last)" } }
        ?? graph.nodes.filter { graph.parents[$0].isEmpty }
      let places = graph.places(from: start, isPostorder: isPostorder, isByName: isByName)
      let rest =
        (isPostorder ? "postorder" : "preorder") + (chosen.map { ",filter(ID ge 'N\($0)')" } ?? "")
        + (isByName ? ",Name" : "")
      let url = "SalesOrganizations?$apply=traverse($root/SalesOrganizations,ManyParents,ID,\(rest))&$select=ID"
      let text = try await rig.result(url)
      #expect(text == places.map(Self.object).joined(separator: ","), "seed \(seed): \(rest) of \(graph)")
      let related = try await rig.result(
        "Sales?$apply=traverse($root/SalesOrganizations,ManyParents,SalesOrganizationID,\(rest))&$select=ID")
      let sales = places.flatMap { path in graph.sales.indices.filter { graph.sales[$0] == path[0] } }
      #expect(
        related == sales.map { #"{"ID":\#($0 + 1)}"# }.joined(separator: ","), "seed \(seed): \(rest) of \(graph)")
    }
  }

  @Test(
    "rolluprecursive over the same hierarchies: each node once, with all rows at and below it", arguments: [1, 2, 3])
  func portions(_ seed: UInt64) async throws {
    print("seed \(seed)")
    var random = Generator(state: seed &+ 100)
    for _ in 0..<15 {
      let graph = Graph(&random)
      let rig = try await ApplyRig(graph.dataSet())
      let least = Int.random(in: 0...6, using: &random)
      var expected: [String] = []
      for node in graph.sorted(Array(graph.nodes), false) {
        let portion = graph.portion(node)
        let direct = graph.sales.indices.filter { $0 + 1 >= least && graph.sales[$0].map(portion.contains) ?? false }
        let sum = direct.isEmpty ? "null" : "\(direct.reduce(0) { $0 + $1 + 1 })"
        expected.append(#"{"S":\#(sum),"N":\#(direct.count),"SalesOrganization":{"ID":"N\#(node)"}}"#)
      }
      let text = try await rig.result(
        "Sales?$apply=groupby((rolluprecursive($root/SalesOrganizations,ManyParents,SalesOrganization/ID)),filter(Amount ge \(least))/aggregate(Amount with sum as S,$count as N))&$expand=SalesOrganization($select=ID)"
      )
      #expect(text == expected.joined(separator: ","), "seed \(seed): \(graph)")
    }
  }

  @Test("A traversal with more rows than the limit ends with an error")
  func bounds() async throws {
    var dataSet = ApplySales.people()
    dataSet.entities.removeAll { $0.place == "SalesOrganizations" }
    // All are above and below each other: the paths are the orders of all subsets.
    let nodes = (0..<12).map { dataSet.organization("N\($0)", "", below: nil) }
    for node in nodes { node.links["Parents"] = nodes.filter { $0 !== node } }
    let tangled = try await ApplyRig(dataSet)
    // The limit also applies if only few of the places have rows.
    let many = await #expect(throws: StorageError.self) {
      try await tangled.result(
        "SalesOrganizations?$apply=filter(ID eq 'N1')/traverse($root/SalesOrganizations,ManyParents,ID,preorder,filter(ID eq 'N0'))/aggregate($count as N)"
      )
    }
    #expect("\(many as Any)".contains("too many rows in a traversal"), "\(many as Any)")
    let deepRig = try await ApplyRig(Self.chain(1002))
    let deep = await #expect(throws: StorageError.self) {
      try await deepRig.result(
        "SalesOrganizations?$apply=traverse($root/SalesOrganizations,SalesOrgHierarchy,ID,preorder)/top(1)")
    }
    #expect("\(deep as Any)".contains("too many levels in a traversal"), "\(deep as Any)")
    let short = try await ApplyRig(Self.chain(150))
    let sum = try await short.result(
      "SalesOrganizations?$apply=groupby((rolluprecursive($root/SalesOrganizations,SalesOrgHierarchy,ID)),aggregate($count as N))&$filter=N ge 149&$select=N"
    )
    #expect(sum == #"{"N":150},{"N":149}"#)
  }

  /// Three nodes below each other: three places on three levels, and six pairs. All are counted, whatever rows are requested.
  @Test(
    "The limits apply to a whole hierarchy, also for rows at few of its nodes",
    arguments: ["", "filter(ID eq 'N0')/", "filter(ID eq 'N1')/", "filter(ID eq 'N9')/"])
  func boundedAsWhole(_ rows: String) async throws {
    let rig = try await ApplyRig(Self.chain(3))
    let hierarchy = "$root/SalesOrganizations,SalesOrgHierarchy,ID"
    let traversal = "SalesOrganizations?$apply=\(rows)traverse(\(hierarchy),preorder)"
    let portions = "SalesOrganizations?$apply=\(rows)groupby((rolluprecursive(\(hierarchy))),aggregate($count as N))"
    // The rows are at none of the nodes but may be at several, so that each portion is searched for them.
    let several =
      "Customers?$apply=groupby((rolluprecursive(\(hierarchy.replacing(",ID", with: ",Sales/SalesOrganizationID")))),aggregate($count as N))"
    for (url, fits, isTooMuch, what) in [
      (traversal, Bounds(places: 3), Bounds(places: 2), "too many rows in a traversal"),
      (traversal, Bounds(levels: 3), Bounds(levels: 2), "too many levels in a traversal"),
      (portions, Bounds(pairs: 6), Bounds(pairs: 5), "too many pairs of nodes in rolluprecursive"),
      (several, Bounds(pairs: 6), Bounds(pairs: 5), "too many pairs of nodes in rolluprecursive"),
    ] {
      _ = try await rig.bounded(fits).result(url)
      let error = await #expect(throws: StorageError.self) { try await rig.bounded(isTooMuch).result(url) }
      #expect("\(error as Any)".contains(what), "\(url): \(error as Any)")
    }
  }

  /// Nodes each of which is below the previous one.
  private static func chain(_ count: Int) -> QueryDataSet {
    var dataSet = ApplySales.people()
    dataSet.entities.removeAll { $0.place == "SalesOrganizations" }
    for number in 0..<count {
      _ = dataSet.organization("N\(number)", "", below: number == 0 ? nil : "N\(number - 1)")
    }
    return dataSet
  }
}
