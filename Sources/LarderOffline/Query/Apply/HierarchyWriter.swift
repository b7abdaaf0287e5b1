import LarderOData
import LarderStorage

/// Writes a recursive hierarchy in SQL (Data Aggregation 4.0 §5.5.2): a table of its nodes in their order, and a table
/// of parents and children.
///
/// Each transformation that follows a hierarchy is a recursive query over these two tables, so that missing nodes,
/// several parents and cycles are handled in one place: a node without a parent among the nodes is a root, a node with
/// several parents comes below each of them, and a node that is its own ancestor is not entered again.
struct HierarchyWriter {
  let apply: ApplyWriter
  let reference: ODataBoundHierarchy

  private static let term = "Org.OData.Aggregation.V1.RecursiveHierarchy"

  private var statement: SelectStatement { apply.statement }
  private var context: QueryContext { statement.context }
  private var writer: ExpressionWriter { ExpressionWriter(statement: statement, environment: Environment()) }
  private var bounds: Bounds { context.options.hierarchy }

  /// The size limits of hierarchies. A query that exceeds a limit fails; its result is never truncated.
  struct Bounds: Sendable, Hashable {
    /// The maximum number of places of a traversal, and of its levels.
    var places = 100_000
    var levels = 1000
    /// The maximum number of pairs of nodes of which one is at or below the other.
    var pairs = 10_000_000
  }

  init(_ apply: ApplyWriter, _ reference: ODataBoundHierarchy) throws {
    self.apply = apply
    self.reference = reference
    guard reference.nodeProperty.isEmpty || reference.parentNavigation.isEmpty else { return }
    let structure = reference.nodes.type?.structure
    let qualifiers = (structure?.chain.map(\.name) ?? []).flatMap {
      apply.statement.context.plan.model.annotations(target: $0)
    }
    .filter { $0.term == HierarchyWriter.term }.compactMap(\.qualifier)
    let others =
      qualifiers.isEmpty ? "it has no hierarchies" : "it has \(qualifiers.map { "'\($0)'" }.joined(separator: ", "))"
    throw OfflineODataError(
      .malformedURL,
      "The metadata has no RecursiveHierarchy#\(reference.qualifier) annotation for \(structure?.name ?? "the nodes' type"): \(others)"
    )
  }

  // MARK: Nodes

  /// The nodes as rows.
  struct Nodes {
    var rows: ApplySet
    let id: SQLText
    let identifier: SQLOperand
  }

  /// The nodes: the entities that have an identifier.
  func nodes() throws -> Nodes {
    let place = try writer.place(reference.nodes)
    guard place.isCollection, case .entity(let entity) = place.scope, let rows = place.rows else {
      throw OfflineODataError.unsupported(
        "the hierarchy '\(reference.qualifier)' of rows that are not entities in the store")
    }
    let set = RowSet(rows: rows, scope: place.scope, source: reference.nodes.source)
    var nodes = try self.nodes(ApplySet(set, core: entity.alias))
    nodes.rows.set.rows.conditions.append("\(nodes.identifier.text) IS NOT NULL")
    return nodes
  }

  /// The nodes of rows that are nodes already.
  private func nodes(_ rows: ApplySet) throws -> Nodes {
    guard case .entity(let entity) = rows.set.scope,
      let column = entity.table.column(reference.nodeProperty, on: entity.type)
    else { throw OfflineODataError.unsupported("the identifier of the hierarchy '\(reference.qualifier)'") }
    let identifier = SQLOperand(
      text: try writer.reference(column, of: entity), storage: column.storage,
      type: ColumnTypes(context.plan.model).type(column), isNullable: false, hasCollation: true,
      canBeNaN: column.storage == .real)
    return Nodes(rows: rows, id: try writer.system(.id, of: entity), identifier: identifier)
  }

  /// The nodes that transformations have chosen.
  private func chosen(_ steps: [ODataBoundTransformation]) throws -> Nodes {
    try nodes(try apply.apply(steps, try nodes().rows))
  }

  /// The node whose identity is an expression of the row, and the join that reads it.
  func node(_ id: SQLText) throws -> (entity: EntityScope, join: SQLText) {
    guard case .entity(let entity) = try writer.place(reference.nodes).scope else {
      throw OfflineODataError.unsupported("the hierarchy '\(reference.qualifier)'")
    }
    let alias = context.alias()
    let table = try context.table(entity.table.number)
    let node = EntityScope(statement: statement, alias: alias, table: entity.table, type: entity.type)
    return (node, " LEFT JOIN \(table) AS \(alias: alias) ON \(alias: alias).\"@id\" = \(id)")
  }

  private func terms(_ order: [ODataBoundOrderBy], _ nodes: Nodes) throws -> SQLText {
    let terms = try OrderWriter(writer: apply.writer(nodes.rows.set.scope)).terms(order, nodes.rows.set)
    return SQLText.joined(terms.map(\.text), ", ")
  }

  // MARK: Above and below

  /// The rows that connect each node with its parents.
  func step() throws -> (rows: RelatedRows, below: SQLText, above: SQLText) {
    let nodes = try self.nodes()
    guard case .entity(let child) = nodes.rows.set.scope else {
      throw OfflineODataError.unsupported("the hierarchy '\(reference.qualifier)'")
    }
    var rows = nodes.rows.set.rows
    var owner = child
    var path: [String] = []
    for name in reference.parentNavigation {
      if let type = context.plan.model.structure(name) {
        owner.type = type
        continue
      }
      path.append(name)
      guard owner.table.navigation(path, on: owner.type) != nil else { continue }
      owner = try writer.related(path, of: owner, as: nil, &rows)
      path = []
    }
    guard path.isEmpty, owner.alias != child.alias else {
      throw OfflineODataError.unsupported(
        "'\(reference.parentNavigation.joined(separator: "/"))' as a path to parent nodes")
    }
    return (rows, nodes.id, try writer.system(.id, of: owner))
  }

  /// Whether a node may have several parents.
  private var hasManyParents: Bool {
    get throws {
      guard case .entity(let child) = try writer.place(reference.nodes).scope else { return false }
      var table = child.table
      var path: [String] = []
      for name in reference.parentNavigation where context.plan.model.structure(name) == nil {
        path.append(name)
        guard let navigation = table.navigation(path) else { continue }
        if navigation.isCollection { return true }
        guard context.plan.tables.indices.contains(navigation.target) else { return false }
        table = context.plan.tables[navigation.target]
        path = []
      }
      return false
    }
  }

  /// The tables of the `WITH` clause, which all queries over the hierarchy use.
  private struct Tables {
    /// `n(id, node, k)`: nodes with their identifiers and ranks.
    let nodes: String
    /// `e(above, id)`: the children of each node.
    let edges: String
    let text: SQLText
  }

  private func tables(_ order: [ODataBoundOrderBy]) throws -> Tables {
    let (n, e) = (context.alias("n"), context.alias("e"))
    let nodes = try self.nodes()
    let rank = try terms(order, nodes)
    let step = try self.step()
    let text: SQLText =
      "\(alias: n)(id, node, k) AS (SELECT \(nodes.id), \(nodes.identifier.text), row_number() OVER (ORDER BY \(rank)) \(nodes.rows.set.rows.from())), \(alias: e)(above, id) AS (SELECT DISTINCT \(step.above), \(step.below) \(step.rows.from()))"
    return Tables(nodes: n, edges: e, text: text)
  }

  // MARK: Traversal

  /// A table of nodes: the columns `id` and `place`, and `node` and `up` if they are needed.
  struct NodeTable {
    let select: SQLText
    /// Whether `up` contains the nodes above as JSON: if more than one path may lead to a node (§6.2.2.2).
    let hasUpPath: Bool
  }

  /// Selects the places of a traversal in their order (§6.2.2), each with its node.
  ///
  /// A place is the path to it. Each step of the path contains the rank of a node, which orders the places, and the
  /// node's identity, so that the node is not entered again. The recursion continues at the deepest places first, which
  /// keeps its queue short.
  func traversal(
    isPostorder: Bool, _ steps: [ODataBoundTransformation], _ order: [ODataBoundOrderBy]
  ) throws -> NodeTable {
    let tables = try self.tables(order)
    let (n, e, w, m) = (tables.nodes, tables.edges, context.alias("w"), context.alias("n"))
    let hasUpPath = try !steps.isEmpty || hasManyParents
    let name: SQLText = .atom("json_quote(\(try text("\(alias: n).node")))")
    let start: SQLText
    if steps.isEmpty {
      start =
        "SELECT \(alias: n).id, printf('/%08x.%d', \(alias: n).k, \(alias: n).id), 1, '[]', \(name) FROM \(alias: n) WHERE \(alias: n).id NOT IN (SELECT \(alias: e).id FROM \(alias: e) JOIN \(alias: m) ON \(alias: m).id = \(alias: e).above)"
    } else {
      let s = context.alias("s")
      let chosen = try self.chosen(steps)
      start =
        "SELECT \(alias: n).id, printf('/%08x.%d', \(alias: s).k, \(alias: n).id), 1, '[]', \(name) FROM (SELECT \(chosen.id) AS id, row_number() OVER (ORDER BY \(try terms(order, chosen))) AS k \(chosen.rows.set.rows.from())) AS \(alias: s) JOIN \(alias: n) ON \(alias: n).id = \(alias: s).id"
    }
    let upPath: SQLText =
      hasUpPath
      ? "'[' || \(alias: w).j || CASE \(alias: w).u WHEN '[]' THEN ']' ELSE ',' || substr(\(alias: w).u, 2) END"
      : "'[]'"
    let level = HierarchyWriter.limited(
      "\(alias: w).d + 1", bounds.levels, "too many levels in a traversal")
    let next: SQLText =
      "SELECT \(alias: n).id, \(alias: w).p || printf('/%08x.%d', \(alias: n).k, \(alias: n).id), \(level), \(upPath), \(name) FROM \(alias: w) JOIN \(alias: e) ON \(alias: e).above = \(alias: w).id JOIN \(alias: n) ON \(alias: n).id = \(alias: e).id WHERE instr(\(alias: w).p || '/', '.' || \(alias: n).id || '/') = 0 ORDER BY 3 DESC LIMIT \(number: bounds.places + 1)"
    let key: SQLText = isPostorder ? "\(alias: w).p || '0'" : "\(alias: w).p"
    let place = HierarchyWriter.limited("r", bounds.places, "too many rows in a traversal")
    let head = try heads(tables, m)
    let select: SQLText =
      "WITH RECURSIVE \(head), \(alias: w)(id, p, d, u, j) AS (\(start) UNION ALL \(next)) SELECT id, node, r AS place, up FROM (SELECT \(alias: w).id AS id, \(alias: n).node AS node, row_number() OVER (ORDER BY \(key)) AS r, \(alias: w).u AS up FROM \(alias: w) JOIN \(alias: n) ON \(alias: n).id = \(alias: w).id) WHERE \(place) > 0\(HierarchyWriter.mergeBarrier)"
    return NodeTable(select: select, hasUpPath: hasUpPath)
  }

  /// The tables, and the nodes under a second name.
  private func heads(_ tables: Tables, _ other: String) throws -> SQLText {
    "\(tables.text), \(alias: other)(id) AS (SELECT id FROM \(alias: tables.nodes))"
  }

  /// An identifier as Edm.String.
  private func text(_ node: SQLText) throws -> SQLText {
    let type = try nodes().identifier.type
    guard let primitive = type.item.primitive, primitive != .string else { return node }
    return .atom(
      "larder_cast(\(node), \(value: .text(primitive.qualifiedName)), 'Edm.String')")
  }

  /// A limit without effect, which prevents SQLite from merging the statement into the enclosing one. There, the bounds
  /// would be checked only for the rows that the enclosing statement joins.
  private static let mergeBarrier: SQLText = " LIMIT -1"

  private static func limited(_ number: SQLText, _ maximum: Int, _ message: String) -> SQLText {
    .atom(
      "CASE WHEN \(number) > \(number: maximum) THEN larder_bounded(\(number), \(number: maximum), \(value: .text(message))) ELSE \(number) END"
    )
  }

  // MARK: Portions

  /// Selects the groups of `rolluprecursive` (§6.3): the nodes that have a portion, and for each of them the nodes of
  /// its portion.
  func portions(_ steps: [ODataBoundTransformation]) throws -> (nodes: NodeTable, portions: NodeTable) {
    (try portions(steps, withNodes: false), try portions(steps, withNodes: true))
  }

  private func portions(_ steps: [ODataBoundTransformation], withNodes: Bool) throws -> NodeTable {
    let tables = try self.tables([])
    let (n, e, x, c) = (tables.nodes, tables.edges, context.alias("x"), context.alias("c"))
    var start: SQLText = "SELECT \(alias: n).id, \(alias: n).k, NULL FROM \(alias: n)"
    var hasUpPath = false
    if !steps.isEmpty {
      let chosen = try self.chosen(steps)
      var upPath: SQLText = "NULL"
      if case .entity(let entity) = chosen.rows.set.scope,
        case .json(let up)? = entity.computed[HierarchyWriter.upPathName(reference)]
      {
        upPath = up.json
        hasUpPath = true
      }
      start =
        "SELECT \(chosen.id), row_number() OVER (ORDER BY \(try terms([], chosen))), \(upPath) \(chosen.rows.set.rows.from())"
    }
    let head: SQLText = "WITH RECURSIVE \(tables.text), \(alias: x)(id, place, up) AS (\(start))"
    guard withNodes else {
      return NodeTable(
        select:
          "\(head) SELECT \(alias: x).id AS id, \(alias: x).place AS place, \(alias: x).up AS up FROM \(alias: x)",
        hasUpPath: hasUpPath)
    }
    let below = HierarchyWriter.limited("r", bounds.pairs, "too many pairs of nodes in rolluprecursive")
    let p = context.alias("p")
    let select: SQLText =
      "\(head), \(alias: c)(top, id) AS (SELECT DISTINCT \(alias: x).id, \(alias: x).id FROM \(alias: x) UNION SELECT \(alias: c).top, \(alias: e).id FROM \(alias: c) JOIN \(alias: e) ON \(alias: e).above = \(alias: c).id LIMIT \(number: bounds.pairs + 1)), \(alias: p)(top, id, r) AS (SELECT top, id, \(below) FROM (SELECT top, id, row_number() OVER () AS r FROM \(alias: c))) SELECT \(alias: x).id AS id, \(alias: x).place AS place, \(alias: x).up AS up, \(alias: n).node AS node FROM \(alias: x) JOIN \(alias: p) ON \(alias: p).top = \(alias: x).id JOIN \(alias: n) ON \(alias: n).id = \(alias: p).id WHERE \(alias: p).r > 0\(HierarchyWriter.mergeBarrier)"
    return NodeTable(select: select, hasUpPath: hasUpPath)
  }

  /// Whether a row may be related to several nodes.
  static func leadsToSeveral(_ path: ODataBoundPath) -> Bool {
    path.segments.contains { $0.type?.isCollection == true }
  }

  /// The name of the annotation that contains the nodes above a node (§6.2.2.2).
  static func upPathName(_ reference: ODataBoundHierarchy) -> String {
    "@Org.OData.Aggregation.V1.UpPath#" + reference.qualifier
  }
}
