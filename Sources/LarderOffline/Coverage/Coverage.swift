import LarderOData

/// What the defining queries have downloaded: rows of which tables, with which properties and links.
///
/// It is computed from the texts of the queries alone. Each row stores which queries it came from
/// (``SystemColumn/queries``).
struct Coverage: Sendable {
  /// The tables, by number.
  private let tables: [Table]
  private let plan: ReplicaPlan

  /// What is known about one table.
  struct Table: Sendable {
    /// The downloaded queries that return rows of the table.
    var queries: [Query] = []
    /// The name of a query that will return rows of the table and was never downloaded.
    var awaitedQuery: String?
    /// The bits of all queries that have returned rows.
    var bits: Int64 = 0
    /// By the number of a navigation property, the rows whose contained entities have a defining query of their own.
    var contained: [Int: [Rows]] = [:]
    /// By the number of a navigation property, the name of a query that expands it and received rows without it.
    var missing: [Int: String] = [:]
  }

  /// What a query returns of one table.
  struct Query: Sendable {
    let name: String
    /// The query's bit in the rows; nil if it has not returned any.
    let bit: Int64?
    /// How the query reaches the table: with its own rows, and with each `$expand` that leads to the table.
    var routes: [Route]
  }

  struct Route: Sendable {
    /// The numbers of the columns that are downloaded; nil for all.
    var columns: Set<Int>?
    /// The numbers of the navigation properties that are expanded.
    var navigations: Set<Int>
    /// The rows that come this way, if they can be determined without the service.
    var rows: Rows?
    /// Whether all rows of the table come this way.
    var coversAllRows = false
  }

  /// The rows that a path identifies in the local copy, or those of them that satisfy a condition; or the rows that such
  /// rows lead to.
  struct Rows: Sendable {
    let path: ODataBoundPath
    let filter: ODataBoundExpression?
    /// How the query expands the rows of the path; nil for these rows themselves.
    var link: Link?
  }

  /// The navigation property by which a query expands its rows, and the query's bit in these.
  struct Link: Sendable {
    let navigation: ODataDeclaredNavigation
    let bit: Int64
  }

  /// The rows that have a property or a link, if not all rows have it. Entities that were created in the store have it
  /// too.
  struct Partial: Sendable {
    /// The bits of the queries that return it with each row.
    var bits: Int64 = 0
    var rows: [Rows] = []
    /// The names of the queries that return rows without it.
    var queriesWithout: [String] = []
    /// The rows at the other end of the link that have it. If these are all rows there, the link is known from that
    /// end.
    var inverse: Inverse?
  }

  /// The rows of the table at the other end of a link that have the link.
  struct Inverse: Sendable {
    let table: Int
    let bits: Int64
    let rows: [Rows]
  }

  init(_ plan: ReplicaPlan, _ tables: [Table]) {
    self.plan = plan
    self.tables = tables
  }

  // MARK: Sets

  /// What the store has of the rows of a table.
  func content(of table: EntityTable) -> ReadOutcome.Content {
    let coverage = tables[table.number]
    if !coverage.queries.isEmpty || coverage.bits != 0 { return .downloaded }
    return coverage.awaitedQuery == nil ? .notCovered : .awaited
  }

  /// The error for a read of a table without rows.
  func failure(_ name: OfflineODataErrorName, of table: EntityTable) -> OfflineODataError {
    if name == .neverDownloaded, let query = tables[table.number].awaitedQuery {
      return OfflineODataError(
        name, "the defining query '\(query)', which includes '\(table.name)', has not been downloaded")
    }
    return OfflineODataError(
      name, "no defining query includes '\(table.name)'; '\(self.query(of: table))' would include it")
  }

  // MARK: Properties

  /// The rows that have a property; nil if all rows have it.
  func column(_ column: ReplicaColumn, in table: EntityTable) -> Partial? {
    partial(tables[table.number]) { route in route.columns?.contains(column.number) ?? true }
  }

  func failure(_ name: OfflineODataErrorName, of column: ReplicaColumn, in table: EntityTable, _ partial: Partial)
    -> OfflineODataError
  {
    let path = column.path.last == TableColumns.dynamicName ? column.path.dropLast() : column.path[...]
    let missingData =
      path.isEmpty ? "the undeclared properties of '\(table.name)'" : "'\(table.name)/\(path.joined(separator: "/"))'"
    guard let query = partial.queriesWithout.min() else {
      return OfflineODataError(
        name, "no defining query includes \(missingData); '\(self.query(of: table))' would include it")
    }
    return OfflineODataError(
      name,
      "\(missingData) is not in the $select of the defining query '\(query)'; add '\(path.joined(separator: "/"))' to it"
    )
  }

  // MARK: Links

  /// The rows that have the links of a navigation property. Nil if all rows have them, or if a referential constraint
  /// defines them.
  func navigation(_ number: Int, in table: EntityTable) -> Partial? {
    let coverage = tables[table.number]
    switch table.navigations[number].relation {
    case .columns, .container: return nil
    case .containment:
      var partial = self.partial(coverage) { $0.navigations.contains(number) }
      partial?.rows += coverage.contained[number] ?? []
      return partial
    case .links(let links, let isForward):
      var partial = self.partial(coverage) { $0.navigations.contains(number) }
      guard partial != nil else { return nil }
      let target = plan.tables[table.navigations[number].target]
      let back = target.navigations.indices.filter {
        target.navigations[$0].relation == .links(links, isForward: !isForward)
      }
      let other = tables[target.number]
      let hasBackLink = { (route: Route) in back.contains { route.navigations.contains($0) } }
      guard other.queries.contains(where: { $0.routes.contains(where: hasBackLink) }) else { return partial }
      guard let unknown = self.partial(other, hasBackLink) else { return nil }
      partial?.inverse = Inverse(table: target.number, bits: unknown.bits, rows: unknown.rows)
      return partial
    }
  }

  /// Whether a row is known to have the links of a navigation property.
  func hasLinks(_ navigation: ReplicaNavigation, of row: EntityCells, in table: EntityTable) -> Bool {
    guard let number = table.number(of: navigation) else { return false }
    guard let partial = self.navigation(number, in: table) else { return true }
    let isLocal = (row.integer(.state) ?? 0) & LocalState.made != 0
    return isLocal || (row.integer(.queries) ?? 0) & partial.bits != 0
  }

  func failure(_ name: OfflineODataErrorName, of navigation: ReplicaNavigation, in table: EntityTable)
    -> OfflineODataError
  {
    let path = navigation.path.joined(separator: "/")
    if let number = table.number(of: navigation), let query = tables[table.number].missing[number] {
      return OfflineODataError(
        name,
        "the service did not return '\(table.name)/\(path)' to the defining query '\(query)', which expands it; "
          + "a download that follows links requests it for each row")
    }
    return OfflineODataError(
      name,
      "no defining query includes '\(table.name)/\(path)'; '\(query(of: table, expanding: navigation))' would include it"
    )
  }

  private func partial(_ table: Table, _ has: (Route) -> Bool) -> Partial? {
    var partial = Partial()
    for query in table.queries {
      guard let bit = query.bit else { continue }
      if query.routes.allSatisfy(has) || query.routes.contains(where: { $0.coversAllRows && has($0) }) {
        partial.bits |= 1 << bit
      } else {
        partial.rows += query.routes.filter(has).compactMap(\.rows)
        partial.queriesWithout.append(query.name)
      }
    }
    return table.bits & ~partial.bits == 0 && !table.queries.isEmpty ? nil : partial
  }

  // MARK: Queries for missing data

  private func query(of table: EntityTable, expanding navigation: ReplicaNavigation? = nil) -> String {
    var steps: [String] = []
    if let navigation { steps = [navigation.pathWithCasts(from: table.type, plan.model)] }
    var root = table
    while case .containment(let parent, let path) = root.place, steps.count < 32 {
      steps.insert(path.joined(separator: "/"), at: 0)
      root = plan.tables[parent]
    }
    guard let first = steps.first else { return root.name }
    if plan.model.version < .v4 { return "\(root.name)?$expand=\(steps.joined(separator: "/"))" }
    let opening = steps.dropFirst().map { "($expand=\($0)" }.joined()
    return "\(root.name)?$expand=\(first)\(opening)\(String(repeating: ")", count: steps.count - 1))"
  }
}

extension EntityTable {
  /// The number of a navigation property.
  func number(of navigation: ReplicaNavigation) -> Int? {
    navigations.firstIndex { $0.path == navigation.path && $0.declaringType.name == navigation.declaringType.name }
  }
}
