import LarderOData
import LarderStorage

// Recursive hierarchies (Data Aggregation 4.0 §6.2).
extension ApplyWriter {
  // MARK: ancestors, descendants

  /// Keeps the rows whose nodes are ancestors, or descendants, of the nodes of the rows that the steps return (§6.2.1).
  func relatives(
    _ relation: ODataHierarchyRelation, reference: ODataBoundHierarchy, steps: [ODataBoundTransformation],
    distance: Int?, keepsStart: Bool, rows: inout ApplySet
  ) throws {
    guard rows.keys.isEmpty else {
      throw OfflineODataError.unsupported("\(relation.rawValue) inside groupby or join")
    }
    let hierarchy = try HierarchyWriter(self, reference)
    let startIdentifiers = try identifiers(reference.property, try apply(steps, rows))
    let walk = statement.context.alias("r")
    let first = try hierarchy.nodes()
    let startRows = first.rows.set.rows.from("\(first.identifier.text) IN (\(startIdentifiers))")
    let step = try hierarchy.step()
    let (from, to) = relation == .ancestors ? (step.below, step.above) : (step.above, step.below)
    let bound: SQLText = distance.map { " AND \(alias: walk).d < \(value: .integer(Int64($0)))" } ?? ""
    // Without a distance, UNION keeps each node once, so that the recursion ends if the hierarchy has a cycle.
    let next: SQLText = distance == nil ? "0" : "\(alias: walk).d + 1"
    let start = statement.context.alias("r")
    let startNodes: SQLText
    if keepsStart {
      startNodes = "SELECT \(first.id), 0 \(startRows)"
    } else {
      // Starts with the nodes next to the first ones.
      var stepRows = step.rows
      stepRows.tables.insert("(SELECT \(first.id) AS id \(startRows)) AS \(alias: start)", at: 0)
      startNodes = "SELECT \(to), \(distance == nil ? "0" : "1") \(stepRows.from("\(from) = \(alias: start).id"))"
    }
    var recursiveRows = step.rows
    recursiveRows.tables.insert("\(alias: walk)", at: 0)
    let recursion: SQLText = "SELECT \(to), \(next) \(recursiveRows.from("\(from) = \(alias: walk).id\(bound)"))"
    let last = try hierarchy.nodes()
    var matchingRows = last.rows.set.rows
    matchingRows.tables.insert("\(alias: walk)", at: 0)
    let nodes: SQLText =
      "WITH RECURSIVE \(alias: walk)(id, d) AS (\(startNodes) UNION \(recursion)) SELECT \(last.identifier.text) \(matchingRows.from("\(last.id) = \(alias: walk).id"))"
    rows.set.rows.conditions.append(try condition(reference.property, rows) { "\($0.collated) IN (\(nodes))" })
  }

  // MARK: traverse

  /// Repeats each row for each place of the hierarchy that it is related to, in the order of the places (§6.2.2).
  func traverse(
    _ reference: ODataBoundHierarchy, isPostorder: Bool, steps: [ODataBoundTransformation],
    order: [ODataBoundOrderBy], rows: inout ApplySet
  ) throws {
    let hierarchy = try HierarchyWriter(self, reference)
    let places = try hierarchy.traversal(isPostorder: isPostorder, steps, order)
    let node = try joinNodes(hierarchy, places, isRelated: true, &rows)
    try repeated(at: node.place, &rows)
    rows.isThinned = true
    try identifyNode(node, reference, &rows, isSame: true)
  }

  /// Orders rows that are repeated for several places by their place, which becomes part of their identity.
  func repeated(at place: SQLOperand, _ rows: inout ApplySet) throws {
    rows.set.identity =
      try OrderWriter(writer: writer(rows.set.scope)).identity(rows.set) + [OrderTerm(value: place)]
    rows.set.order.insert(OrderTerm(value: place), at: 0)
  }

  /// A node that is joined to each row.
  struct JoinedNode {
    let entity: EntityScope
    let identifier: SQLOperand
    let place: SQLOperand
  }

  /// Joins the nodes of a table to the rows: all nodes, or those that a row is related to (F of §6.2.2.1 and §6.3).
  ///
  /// - Parameter portions: the nodes of each node's portion. A row must be related to at least one of them; a row that
  ///   is related to several occurs once in the portion.
  func joinNodes(
    _ hierarchy: HierarchyWriter, _ nodeTable: HierarchyWriter.NodeTable, isRelated: Bool,
    portions: HierarchyWriter.NodeTable? = nil, _ rows: inout ApplySet
  ) throws -> JoinedNode {
    let context = statement.context
    let table = context.alias("h")
    if isRelated {
      let nodeAlias = portions == nil ? table : context.alias("g")
      let node: SQLText = "\(alias: nodeAlias).node"
      var joinedRows = RelatedRows()
      if let portions {
        joinedRows.tables = ["(\(portions.select)) AS \(alias: nodeAlias)"]
        joinedRows.conditions = [
          "\(alias: nodeAlias).id = \(alias: table).id", "\(alias: nodeAlias).place = \(alias: table).place",
        ]
      }
      let isSame = try condition(hierarchy.reference.property, rows, with: joinedRows) { "\($0.collated) = \(node)" }
      rows.set.rows.conditions.append(isSame)
    }
    rows.set.rows.tables.append("(\(nodeTable.select)) AS \(alias: table)")
    let (id, place, up) = (context.alias("w"), context.alias("w"), context.alias("w"))
    let (entity, join) = try hierarchy.node("\(alias: rows.core).\(alias: id)")
    rows.joins.append(join)
    rows.wrap([
      "\(alias: table).id AS \(alias: id)", "\(alias: table).place AS \(alias: place)",
      "\(alias: table).up AS \(alias: up)",
    ])
    var node = entity
    if nodeTable.hasUpPath {
      node.computed[HierarchyWriter.upPathName(hierarchy.reference)] = .json(
        JSONPlace(
          base: "\(alias: rows.core).\(alias: up)",
          type: ODataBoundType(.primitive(.string), isCollection: true)))
    }
    let writer = ExpressionWriter(statement: statement, environment: Environment(current: .entity(node)))
    guard let column = node.table.column(hierarchy.reference.nodeProperty, on: node.type) else {
      throw OfflineODataError.unsupported("the identifier of the hierarchy '\(hierarchy.reference.qualifier)'")
    }
    let identifier = SQLOperand(
      text: try writer.reference(column, of: node), storage: column.storage,
      type: ColumnTypes(context.plan.model).type(column), canBeNaN: column.storage == .real)
    return JoinedNode(
      entity: node, identifier: identifier,
      place: SQLOperand(
        text: .atom("\(alias: rows.core).\(alias: place)"), storage: .integer, type: .plain(.int64, isNullable: false),
        isNullable: false))
  }

  // MARK: The nodes of a row

  /// A condition on the identifier of a row's node. If the row may have several nodes, one of them must meet the
  /// condition, together with a row of `others`.
  private func condition(
    _ path: ODataBoundPath, _ rows: ApplySet, with others: RelatedRows = RelatedRows(),
    _ test: (SQLOperand) throws -> SQLText
  ) throws -> SQLText {
    guard HierarchyWriter.leadsToSeveral(path) || !others.tables.isEmpty else {
      let writer = writer(rows.set.scope)
      return try test(try writer.value(of: try writer.place(path)))
    }
    var (joinedRows, value) = try walked(path, rows)
    joinedRows.tables += others.tables
    joinedRows.conditions += others.conditions
    return .atom("EXISTS (SELECT 1 \(joinedRows.from(try test(value))))")
  }

  /// Selects the identifiers of all rows' nodes.
  private func identifiers(_ path: ODataBoundPath, _ rows: ApplySet) throws -> SQLText {
    let (joinedRows, value) = try walked(path, rows)
    let all = RelatedRows(
      tables: rows.set.rows.tables + joinedRows.tables, conditions: rows.set.rows.conditions + joinedRows.conditions)
    return "SELECT \(value.text) \(all.from())"
  }

  /// The value that a path leads to, with one row for each.
  private func walked(_ path: ODataBoundPath, _ rows: ApplySet) throws -> (RelatedRows, SQLOperand) {
    var walk = try AggregateWalk(self, path, rows)
    try walk.finish()
    let writer = writer(rows.set.scope)
    return (walk.place.rows ?? RelatedRows(), try writer.value(of: PathPlace(scope: walk.place.scope)))
  }

  // MARK: Identifying nodes

  /// Adds to each row the data that identifies its node (Π of §6.2.2): the whole node if the rows are nodes, otherwise
  /// the related node, or only its identifier.
  ///
  /// - Parameter isSame: whether a row that is an entity is that node itself.
  func identifyNode(
    _ node: JoinedNode, _ reference: ODataBoundHierarchy, _ rows: inout ApplySet, isSame: Bool
  ) throws {
    switch reference.nodeSteps {
    case 0?: try replace(node.entity, &rows, isSame: isSame)
    case let count?:
      let steps = reference.property.segments[..<count].filter { $0.propertyName != nil }
      rows.set.scope = try setting(.entity(node.entity), steps: steps[...], scope: rows.set.scope, rows: &rows)
    case nil:
      let steps = reference.property.segments.filter { $0.propertyName != nil }
      // An entity whose path to the node has no collection contains the identifier already.
      if isSame, case .entity = rows.set.scope, steps.allSatisfy({ $0.type?.isCollection != true }) { break }
      rows.set.scope = try setting(.value(node.identifier), steps: steps[...], scope: rows.set.scope, rows: &rows)
    }
    if case .row(let computedRow) = rows.set.scope { rows.set.names = computedRow.shown }
    rows.set.source = rows.set.source ?? (reference.nodeSteps == 0 ? reference.nodes.source : nil)
  }

  /// Replaces a row by its node. Computed members are kept.
  private func replace(_ node: EntityScope, _ rows: inout ApplySet, isSame: Bool) throws {
    var entity = node
    switch rows.set.scope {
    case .entity(let current):
      if isSame {
        entity = current
        entity.computed.merge(node.computed) { _, new in new }
      } else {
        entity.computed.merge(current.computed) { new, _ in new }
        entity.inLine = current.inLine
      }
    case .row(let computedRow):
      guard computedRow.kinds.isEmpty else {
        throw OfflineODataError.unsupported("a hierarchy of rows with different properties")
      }
      for name in computedRow.names where node.type.property(name) == nil && node.type.navigationProperty(name) == nil {
        entity.computed[name] = computedRow[name]
      }
      entity.inLine = computedRow.inLine
      rows.set.names = computedRow.names.filter { entity.computed[$0] != nil }
    default: throw OfflineODataError.unsupported("a hierarchy of rows that are not entities")
    }
    rows.set.names += node.computed.keys.sorted().filter { !rows.set.names.contains($0) }
    rows.set.scope = .entity(entity)
  }

  /// Sets a value at the end of a path in a row. A collection on the path gets one item.
  private func setting(
    _ new: Scope, steps: ArraySlice<ODataBoundSegment>, scope: Scope, rows: inout ApplySet
  ) throws -> Scope {
    guard let step = steps.first, let name = step.propertyName else { return new }
    let rest = steps.dropFirst()
    let isCollection = step.type?.isCollection == true
    var value = new
    if !rest.isEmpty {
      let currentValue = isCollection ? .row([:]) : try self.currentValue(step, name: name, scope: scope, rows: &rows)
      value = try setting(new, steps: rest, scope: currentValue, rows: &rows)
    }
    if isCollection { value = .nested(NestedRows(origin: .item(value, statement), source: step.source)) }
    var computedRow: ComputedRow
    switch scope {
    case .entity(var entity):
      switch value {
      case .entity, .nested:
        entity.computed[name] = value
        entity.inLine.insert(name)
        return .entity(entity)
      default: computedRow = try RowParts(statement).row(of: entity)
      }
    case .row(let row): computedRow = row
    default: throw OfflineODataError.unsupported("a hierarchy with nodes reached through '\(name)'")
    }
    computedRow[name] = value
    computedRow.kinds[name] = nil
    if case .entity = value { computedRow.inLine.insert(name) }
    return .row(computedRow)
  }

  /// The current value at a segment, in a form into which a value can be set.
  private func currentValue(
    _ step: ODataBoundSegment, name: String, scope: Scope, rows: inout ApplySet
  ) throws -> Scope {
    if case .row(let computedRow) = scope {
      if case .complex(let complex)? = computedRow[name] { return .row(try RowParts(statement).row(of: complex)) }
      return computedRow[name] ?? .row([:])
    }
    let writer = writer(scope)
    let place = try writer.step(step, PathPlace(scope: scope))
    switch place.scope {
    case .entity(let entity):
      guard let joinedRows = place.rows else { return place.scope }
      return .entity(try attached(joinedRows.value(try writer.system(.id, of: entity)), entity, &rows))
    case .complex(let complex): return .row(try RowParts(statement).row(of: complex))
    default: return place.scope
    }
  }
}
