import LarderOData
import LarderStorage

// `rolluprecursive` in `groupby` (Data Aggregation 4.0 §6.3).
extension ApplyWriter {
  /// Returns the current groups of the rows, one row for each; a single row if the rows are not grouped.
  func groups(_ rows: ApplySet) throws -> ApplySet {
    guard !rows.keys.isEmpty else {
      let alias = statement.context.alias("a")
      return ApplySet(
        RowSet(rows: RelatedRows(tables: ["(SELECT 1 AS c0) AS \(alias: alias)"]), scope: .row([:])), core: alias)
    }
    var keys = Projection(statement)
    let there = try keys.row(rows.keys)
    var groups = ApplySet(RowSet(rows: RelatedRows(), scope: .row([:])), core: keys.alias)
    groups.joins = keys.joins
    groups.table(try AggregateParts(keys: keys, values: []).groups(rows))
    groups.keys = there
    return groups
  }

  /// Repeats each row for each node that the row's node is at or below. These nodes are groups from here on: a group's
  /// rows are the portion of its node.
  func divide(
    _ reference: ODataBoundHierarchy, chosen: [ODataBoundTransformation], level: String, number: Int,
    rows: inout ApplySet, groups: inout ApplySet
  ) throws {
    let hierarchy = try HierarchyWriter(self, reference)
    let (nodes, portions) = try hierarchy.portions(chosen)
    // If a row has one node, the join uses its identifier; if it may have several, each portion is searched for them.
    let node =
      HierarchyWriter.leadsToSeveral(reference.property)
      ? try joinNodes(hierarchy, nodes, isRelated: true, portions: portions, &rows)
      : try joinNodes(hierarchy, portions, isRelated: true, &rows)
    rows.keys[level] = .row(ApplyWriter.key(node))
    RollupNode(number).set(.entity(node.entity), in: &rows.set.scope)
    groups.keys[level] = .row(ApplyWriter.key(try joinNodes(hierarchy, nodes, isRelated: false, &groups)))
  }

  private static func key(_ node: JoinedNode) -> ComputedRow {
    ["node": .entity(node.entity), "node id": .value(node.identifier), "place": .value(node.place)]
  }

  /// Adds the node of each group to the rows that were computed for the group, and orders the groups like the nodes.
  func identifyGroup(
    _ level: String, number: Int, _ reference: ODataBoundHierarchy, _ rows: inout ApplySet
  ) throws {
    RollupNode(number).set(nil, in: &rows.set.scope)
    guard case .row(let key)? = rows.keys[level], case .entity(let node)? = key["node"],
      case .value(let identifier)? = key["node id"], case .value(let place)? = key["place"]
    else { return }
    rows.keys[level] = nil
    try repeated(at: place, &rows)
    try identifyNode(JoinedNode(entity: node, identifier: identifier, place: place), reference, &rows, isSame: false)
  }
}

/// The node of the group, which each row contains while the group is transformed (χ of §6.3).
struct RollupNode {
  /// The name contains a space, so that no property can have it.
  private let name: String

  init(_ number: Int) { name = "rollupnode " + String(number) }

  func of(_ scope: Scope) -> Scope? {
    switch scope {
    case .entity(let entity): entity.computed[name]
    case .row(let computedRow): computedRow[name]
    default: nil
    }
  }

  func set(_ node: Scope?, in scope: inout Scope) {
    switch scope {
    case .entity(var entity):
      entity.computed[name] = node
      scope = .entity(entity)
    case .row(var computedRow):
      computedRow[name] = node
      scope = .row(computedRow)
    default: break
    }
  }
}
