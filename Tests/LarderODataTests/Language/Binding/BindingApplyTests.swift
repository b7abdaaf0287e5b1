import LarderOData
import Testing

@Suite("Binding: $apply, hierarchies and many items", .timeLimit(.minutes(5)))
struct BindingApplyTests {
  private static func bind(_ text: String) throws -> ODataBoundURL {
    let bound = try BindingURLTests.bind(text)
    try BindingURLTests.roundTrip(bound)
    return bound
  }

  private static func problem(_ text: String) throws -> String {
    let url = try ODataParser(.v401).relativeURL(text)
    do {
      return "bound: \(try BindingModel.binder.bind(url).type?.description ?? "")"
    } catch {
      return error.problem.description
    }
  }

  private static func names(_ url: ODataBoundURL) -> [String] {
    guard case .shape(let shape)? = url.options.type?.item else { return [] }
    return shape.members.map(\.name)
  }

  @Test("rollup groups by every level, and keeps the properties of all (Data Aggregation §3.2.3)")
  func rollup() throws {
    let bound = try Self.bind(
      "Products?$apply=groupby((rollup(Category/ID,Category/Name),Color),aggregate(Price with sum as T))"
        + "&$filter=Category/Name eq 'x' and T gt 1&$orderby=Category/ID,Color")
    #expect(Self.names(bound) == ["Category", "Color", "T"])
    guard case .groupBy(let elements, _)? = bound.options.apply?.first, case .rollup(let levels)? = elements.first
    else {
      Issue.record("no rollup")
      return
    }
    #expect(levels.count == 2)
    let named = try Self.bind("Products?$apply=groupby((rollup(Sorts),Color),aggregate(Price with sum as T))")
    guard case .groupBy(let named, _)? = named.options.apply?.first else { return }
    #expect(named.first == .rollupHierarchy("Sorts", levels: levels))
    let all = try Self.bind("Products?$apply=groupby((rollup($all,Category/ID)),aggregate(Price with sum as T))")
    guard case .groupBy(let levelsOfAll, _)? = all.options.apply?.first, case .rollup(let withAll)? = levelsOfAll.first
    else {
      Issue.record("no rollup of all")
      return
    }
    #expect(withAll.map(\.segments.count) == [0, 2] && Self.names(all) == ["Category", "T"])
    #expect(
      try Self.problem("Products?$apply=groupby((rollup(Category/ID,Category/Nam)))")
        == "there is no property 'Nam' in Sales.Category; did you mean 'Name'?")
  }

  @Test("traverse, descendants and rolluprecursive keep or create the instances that the standard defines (§6.2, §6.3)")
  func hierarchies() throws {
    // What nodes are chosen and ordered by is theirs, not of the instances that are related to them.
    let traversed = try Self.bind(
      "Products?$apply=traverse($root/Categories,H,Category/ID,preorder,filter(Name ne 'x'),Name desc)")
    #expect(traversed.options.type?.description == "Collection(Sales.Product)")
    guard case .traverse(let hierarchy, let isPostorder, let before, let order)? = traversed.options.apply?.first else {
      Issue.record("no traverse")
      return
    }
    #expect(hierarchy.nodes.source?.source.name == "Categories" && hierarchy.qualifier == "H")
    #expect(hierarchy.property.type?.primitive == .int32 && !isPostorder && before.count == 1 && order.count == 1)
    #expect(
      try Self.problem("Products?$apply=traverse($root/Categories,H,Category/ID,preorder,Rating desc)")
        == "there is no property 'Rating' in Sales.Category")
    let descendants = try Self.bind(
      "Products?$apply=descendants($root/Categories,H,Category/ID,filter(Rating gt 1),2,keep start)&$filter=Rating lt 5"
    )
    guard case .relatives(.descendants, _, let start, 2, true)? = descendants.options.apply?.first else {
      Issue.record("no descendants")
      return
    }
    #expect(start.count == 1)
    let grouped = try Self.bind(
      "Products?$apply=groupby((rolluprecursive($root/Categories,H,Category/ID)),aggregate(Price with sum as T))")
    #expect(Self.names(grouped) == ["Category", "T"])
    let result = try Self.bind(
      "Products?$apply=groupby((rolluprecursive($root/Categories,H,Category/ID)),filter(Category eq Org.OData.Aggregation.V1.rollupnode(Position=1)))"
    )
    guard case .groupBy(_, let steps)? = result.options.apply?.first, case .filter(let condition)? = steps.first,
      case .binary(_, _, let node) = condition.kind, case .path(let path) = node.kind
    else {
      Issue.record("no rollupnode")
      return
    }
    #expect(path.segments.map(\.kind) == [.rollupNode(1)] && path.source?.source.name == "Categories")
  }

  @Test(
    "Invalid hierarchies",
    arguments: [
      (
        "Products?$apply=traverse($root/Categories,H,Category,preorder)",
        "expected the node's identifier, found Sales.Category"
      ),
      (
        "Products?$apply=traverse($root/Me,H,Category/ID,preorder)",
        "expected a collection of nodes, found Sales.Customer"
      ),
      (
        "Products?$apply=traverse($root/Categorys,H,Category/ID,preorder)",
        "there is no entity set, singleton or operation 'Categorys' in the service; did you mean 'Categories'?"
      ),
    ])
  func noHierarchies(_ text: String, _ message: String) throws {
    #expect(try Self.problem(text) == message)
  }

  @Test("Thousands of items take linear time: $compute, groupby, aggregate, and names that refer to them")
  func many() throws {
    let count = 5_000
    let binder = ODataBinder(model: BindingModel.sales, options: ODataBinderOptions(maxNodes: 1_000_000))
    func bind(_ text: String) throws -> ODataBoundURL {
      try binder.bind(try ODataParser(.v401).relativeURL(text))
    }
    func items(_ item: (Int) -> String) -> String { (0..<count).map(item).joined(separator: ",") }
    // What this thread computes: other work of the machine only lengthens the clock's time.
    let start = FuzzChecks.processorTime()
    let computed = try bind(
      "Products?$compute=" + items { "Rating add \($0) as A\($0)" } + "&$select=" + items { "A\($0)" })
    #expect(computed.options.compute.count == count && computed.options.select.count == count)
    let grouped = try bind("Customers?$apply=groupby((" + items { "P\($0)/Q" } + "))/filter(P\(count - 1)/Q eq 1)")
    #expect(grouped.options.apply?.count == 2)
    let summed = try bind("Orders?$apply=aggregate(" + items { "Amount with sum as A\($0)" } + ")")
    #expect(Self.names(summed).count == count)
    // A second without optimisation; what grew with the square took half a minute.
    #expect(FuzzChecks.processorTime() - start < 10)
  }

  @Test("Imports of V3 that are bindable are called on their first parameter, and at the root with all")
  func bindable() throws {
    var item = EdmEntityType(namespace: "V", name: "Item")
    item.key = [EdmPropertyRef(path: "ID")]
    item.properties = [EdmProperty(name: "ID", type: .primitive(.int32), nullable: false)]
    var container = EdmEntityContainer(namespace: "V", name: "C")
    container.isDefault = true
    container.entitySets = [EdmEntitySet(name: "Items", entityType: "V.Item")]
    var function = EdmFunctionImport(name: "Near")
    function.isBindable = true
    function.entitySet = "Items"
    function.parameters = [
      EdmParameter(name: "it", type: .named("V.Item")), EdmParameter(name: "by", type: .primitive(.int32)),
    ]
    function.returnType = EdmReturnType(type: .collection(.named("V.Item")))
    container.functionImports = [function]
    var schema = EdmSchema(namespace: "V")
    schema.entityTypes = [item]
    schema.containers = [container]
    let binder = ODataBinder(
      model: EdmModel(version: .v3, schemas: [schema]), options: ODataBinderOptions(version: .v3))
    for text in ["Items(1)/Near?by=3", "Items(1)/C.Near?by=3", "Items(1)/V.C.Near?by=3"] {
      let bound = try binder.bind(try ODataParser(.v3).relativeURL(text))
      #expect(bound.type?.description == "Collection(V.Item)", "\(text)")
      guard case .path(let path) = bound.resource, case .operation(_, let arguments)? = path.segments.last?.kind else {
        Issue.record("no operation: \(text)")
        continue
      }
      #expect(arguments.map(\.parameter.name) == ["by"] && bound.options.custom.isEmpty)
    }
    #expect(throws: ODataBindingError.self) { try binder.bind(try ODataParser(.v3).relativeURL("Items/Near?by=3")) }
    #expect(throws: ODataBindingError.self) {
      try binder.bind(try ODataParser(.v3).relativeURL("Items(1)/Near?by='x'"))
    }
  }
}
