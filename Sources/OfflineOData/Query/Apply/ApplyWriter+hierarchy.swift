import OData
import Storage

// `ancestors` and `descendants` (Data Aggregation 4.0 §6.2.1).
extension ApplyWriter {
  /// The rows whose nodes are above, or below, those of the rows that the steps leave.
  func relatives(
    _ relation: ODataHierarchyRelation, _ reference: ODataBoundHierarchy, _ steps: [ODataBoundTransformation],
    distance: Int?, keepsStart: Bool, _ rows: inout ApplySet
  ) throws {
    guard rows.keys.isEmpty else {
      throw OfflineODataError.unsupported("\(relation.rawValue) inside groupby or join")
    }
    let hierarchy = try RecursiveHierarchy(reference, statement.question.plan.model)
    let start = try apply(steps, rows)
    let begun = try node(reference.property, start)
    let own = try node(reference.property, rows)
    let walk = statement.question.alias("r")
    let (first, firstNode) = try nodes(hierarchy)
    let beginning = first.from("\(firstNode.node) IN (SELECT \(begun.text) \(start.set.rows.from()))")
    let (step, from, to) = try self.step(hierarchy, relation)
    let bound: SQLText = distance.map { " AND \(alias: walk).d < \(value: .integer(Int64($0)))" } ?? ""
    // Without a distance a node comes once, so that a hierarchy that goes in a circle ends.
    let next: SQLText = distance == nil ? "0" : "\(alias: walk).d + 1"
    let begin = statement.question.alias("r")
    let least: SQLText
    if keepsStart {
      least = "SELECT \(firstNode.id), 0 \(beginning)"
    } else {
      // The nodes next to the first ones.
      let inner: SQLText = "SELECT \(firstNode.id) AS id \(beginning)"
      var one = step
      one.tables.insert("(\(inner)) AS \(alias: begin)", at: 0)
      least = "SELECT \(to), \(distance == nil ? "0" : "1") \(one.from("\(from) = \(alias: begin).id"))"
    }
    var more = step
    more.tables.insert("\(alias: walk)", at: 0)
    let recursion: SQLText = "SELECT \(to), \(next) \(more.from("\(from) = \(alias: walk).id\(bound)"))"
    let (last, lastNode) = try nodes(hierarchy)
    var found = last
    found.tables.insert("\(alias: walk)", at: 0)
    rows.set.rows.conditions.append(
      "\(own.collated) IN (WITH RECURSIVE \(alias: walk)(id, d) AS (\(least) UNION \(recursion)) SELECT \(lastNode.node) \(found.from("\(lastNode.id) = \(alias: walk).id")))"
    )
  }

  /// The node of a row.
  private func node(_ path: ODataBoundPath, _ rows: ApplySet) throws -> SQLOperand {
    let writer = writer(rows.set.scope)
    let place = try writer.place(path)
    guard !place.isCollection else { throw OfflineODataError.unsupported("a hierarchy of rows with many nodes") }
    return try writer.value(of: place)
  }

  /// The nodes' rows, with the identity and the node of each.
  private func nodes(_ hierarchy: RecursiveHierarchy) throws -> (RelatedRows, (id: SQLText, node: SQLText)) {
    let writer = ExpressionWriter(statement: statement, environment: Environment())
    let place = try writer.place(hierarchy.nodes)
    guard case .entity(let entity) = place.scope, let rows = place.rows,
      let column = entity.table.column(hierarchy.node, on: entity.type)
    else { throw OfflineODataError.unsupported("the hierarchy '\(hierarchy.qualifier)'") }
    return (rows, (try writer.system(.id, of: entity), try writer.reference(column, of: entity)))
  }

  /// The rows that lead from a node to those above or below it.
  private func step(
    _ hierarchy: RecursiveHierarchy, _ relation: ODataHierarchyRelation
  ) throws -> (RelatedRows, from: SQLText, to: SQLText) {
    let writer = ExpressionWriter(statement: statement, environment: Environment())
    let place = try writer.place(hierarchy.nodes)
    guard case .entity(let child) = place.scope, var rows = place.rows else {
      throw OfflineODataError.unsupported("the hierarchy '\(hierarchy.qualifier)'")
    }
    let parent = try writer.related(hierarchy.parent, of: child, as: nil, &rows)
    let (below, above) = (try writer.system(.id, of: child), try writer.system(.id, of: parent))
    return relation == .ancestors ? (rows, below, above) : (rows, above, below)
  }
}

/// A recursive hierarchy as the nodes' type is annotated with it (Data Aggregation 4.0 §5.5.1).
struct RecursiveHierarchy {
  let nodes: ODataBoundPath
  let qualifier: String
  /// The path of the node's identifier.
  let node: [String]
  /// The path of the navigation property to the node above.
  let parent: [String]

  private static let term = "Org.OData.Aggregation.V1.RecursiveHierarchy"

  init(_ reference: ODataBoundHierarchy, _ model: EdmModel) throws {
    nodes = reference.nodes
    qualifier = reference.qualifier
    let targets = reference.nodes.type?.structure?.chain.map(\.name) ?? []
    let annotation = targets.lazy.compactMap {
      model.annotation(RecursiveHierarchy.term, qualifier: reference.qualifier, target: $0)
    }.first
    guard let node = RecursiveHierarchy.path(annotation?.value?["NodeProperty"]),
      let parent = RecursiveHierarchy.path(annotation?.value?["ParentNavigationProperty"])
    else {
      throw OfflineODataError.unsupported("the recursive hierarchy '\(reference.qualifier)', which nothing annotates")
    }
    self.node = node
    self.parent = parent
  }

  private static func path(_ value: EdmExpression?) -> [String]? {
    guard let value = value?.bare else { return nil }
    let text: String? = if case .path(_, let path) = value { path } else { value.string }
    return text.map { $0.split(separator: "/").map { String($0) } }
  }
}
