import LarderOData
import LarderStorage

/// The rows that are missing until the first download of a defining query: those of a table for which no query has been
/// downloaded yet, and those contained in one entity, if each such entity has a defining query of its own.
struct AwaitedRows: Sendable {
  /// The names of queries that will download rows, by table.
  private var awaited: [Int: String] = [:]
  /// Tables of which a query has been downloaded, and those of which a query without a containing entity has been.
  private var presentTables: Set<Int> = []
  private var completeTables: Set<Int> = []
  private var contained: [Contained] = []

  private struct Contained {
    let container: RowContainer
    let query: String
    let tables: Set<Int>
    let isDownloaded: Bool
  }

  var isEmpty: Bool { awaited.isEmpty }

  mutating func add(_ query: DefiningQueryRow, _ bound: BoundDefiningQuery) {
    let tables = bound.tables ?? [bound.table.number]
    let isDownloaded = query.downloaded != nil
    if isDownloaded { presentTables.formUnion(tables) } else { for table in tables { awaited[table] = query.name } }
    if let container = bound.container {
      contained.append(Contained(container: container, query: query.name, tables: tables, isDownloaded: isDownloaded))
    } else if isDownloaded {
      completeTables.formUnion(tables)
    }
  }

  /// The name of a defining query whose download `preparedQuery` needs; nil if all the rows it reads are there.
  func missingQuery(for preparedQuery: PreparedQuery, _ rows: LocalRows) throws -> String? {
    let tablesRead = preparedQuery.plan.tables(rows.snapshot)
    let names = tablesRead.subtracting(presentTables).compactMap { awaited[$0] }
    return try names.min() ?? queryOfContainer(preparedQuery, tablesRead, rows)
  }

  private func queryOfContainer(
    _ preparedQuery: PreparedQuery, _ tablesRead: Set<Int>, _ rows: LocalRows
  ) throws -> String? {
    guard case .path(let path) = preparedQuery.url.resource else { return nil }
    let missing = try missing(tablesRead, rows)
    guard !missing.isEmpty else { return nil }
    let reach = try ContainedReach(path, rows)
    let associated = AssociatedTables(preparedQuery.url, path, rows.plan)
    return missing.filter { associated.canInclude($0.tables) || reach.mayLack($0, preparedQuery.plan) }.map(\.query)
      .min()
  }

  /// An entity with a navigation property that contains others.
  private struct ContainmentKey: Hashable {
    let table: Int
    let navigation: Int
    let row: Int64

    init(_ container: RowContainer, _ row: Int64) {
      (table, navigation, self.row) = (container.table, container.navigation, row)
    }
  }

  /// The contained rows of existing entities that have not been downloaded, in the tables that are read.
  ///
  /// Each entity is looked up once, because there may be as many defining queries as entities.
  private func missing(_ tablesRead: Set<Int>, _ rows: LocalRows) throws -> [MissingRows] {
    let tables = rows.plan.tables
    let lacking = tablesRead.subtracting(completeTables).filter {
      tables.indices.contains($0) && tables[$0].isContained
    }
    let missingQueries = contained.filter { !$0.isDownloaded && !$0.tables.isDisjoint(with: lacking) }
    guard !missingQueries.isEmpty else { return [] }
    var presentByKey: [ContainmentKey: Set<Int>] = [:]
    for containedQuery in contained
    where containedQuery.isDownloaded && !containedQuery.tables.isDisjoint(with: lacking) {
      guard let row = try containedQuery.container.row(rows) else { continue }
      presentByKey[ContainmentKey(containedQuery.container, row), default: []].formUnion(containedQuery.tables)
    }
    return try missingQueries.compactMap { containedQuery in
      guard let row = try containedQuery.container.row(rows) else { return nil }
      let tables = containedQuery.tables.intersection(lacking).subtracting(
        presentByKey[ContainmentKey(containedQuery.container, row)] ?? [])
      guard !tables.isEmpty else { return nil }
      let table = rows.plan.tables[containedQuery.container.table]
      return MissingRows(
        query: containedQuery.query, tables: tables,
        target: table.navigations[containedQuery.container.navigation].target,
        containers: try rows.containers(of: RowReference(table.name, row)))
    }
  }
}

/// Contained entities that a defining query includes and that have not been downloaded.
private struct MissingRows {
  let query: String
  /// The tables of these entities; `target` is the table of the navigation property.
  let tables: Set<Int>
  let target: Int
  /// The containing entity, the entity that contains that one, and so on.
  let containers: [RowReference]
}

/// The contained entities that a query may read: those that its path goes through, and others below the entity at the
/// end of its path.
private struct ContainedReach {
  private enum PathEnd {
    /// The resource that the path names does not exist.
    case nowhere
    case anywhere
    /// Below an entity; the array is the entity and those that contain it.
    case below([RowReference])
  }

  private let rows: LocalRows
  /// The entities whose contained entities the path goes through, by the table of the contained ones.
  private var passed: [Int: RowReference] = [:]
  private var pathEnd = PathEnd.anywhere

  init(_ path: ODataBoundPath, _ rows: LocalRows) throws {
    self.rows = rows
    var isEntity = false
    for (number, segment) in path.segments.enumerated() {
      switch segment.kind {
      case .source, .key, .cast: break
      case .navigation(let step):
        if isEntity, case .below(let owners) = pathEnd, let owner = owners.first,
          let navigation = rows.plan.table(owner.table)?.navigation([step.name]), navigation.relation == .containment
        {
          passed[navigation.target] = owner
        } else {
          pathEnd = .anywhere
        }
      default:
        // There may be more navigation steps after properties. Their targets are not analyzed.
        if path.segments[number...].contains(where: \.isNavigating) { pathEnd = .anywhere }
        return
      }
      var pathPrefix = path
      pathPrefix.segments.removeSubrange((number + 1)...)
      isEntity = pathPrefix.type?.isCollection == false
      if isEntity { pathEnd = try ContainedReach.pathEnd(of: pathPrefix, rows) }
      if case .nowhere = pathEnd { return }
    }
  }

  private static func pathEnd(of path: ODataBoundPath, _ rows: LocalRows) throws -> PathEnd {
    do {
      guard let entity = try ChangeWalk.target(of: path, rows).entity else { return .nowhere }
      return .below(try rows.containers(of: entity))
    } catch let error as OfflineODataError { return error.name == .entityNotFound ? .nowhere : .anywhere }
  }

  /// Whether the result may lack rows that have not been downloaded.
  func mayLack(_ missing: MissingRows, _ plan: ReadPlan) -> Bool {
    if let owner = passed[missing.target], owner == missing.containers.first { return true }
    return mayLack(missing, plan, pathEnd, besides: Set(passed.keys))
  }

  private func mayLack(
    _ missing: MissingRows, _ plan: ReadPlan, _ pathEnd: PathEnd, besides knownTables: Set<Int> = []
  ) -> Bool {
    if case .nowhere = pathEnd { return false }
    let unresolvedTables = plan.directTables(rows.snapshot).subtracting(knownTables)
    if !unresolvedTables.isDisjoint(with: missing.tables), mayContain(missing, pathEnd) { return true }
    guard let shape = plan.shape else { return false }
    return shape.expands.contains { expand in
      mayLack(missing, expand.plan, behind(shape.table?.navigation(expand.path), pathEnd))
    }
  }

  /// Whether the missing rows may be among the entities below the end of a path.
  private func mayContain(_ missing: MissingRows, _ pathEnd: PathEnd) -> Bool {
    guard case .below(let owners) = pathEnd, let owner = owners.first, let container = missing.containers.first else {
      return true
    }
    if missing.containers.contains(owner) || owners.contains(container) { return true }
    // The missing rows belong to the same tables but to another entity.
    return Set(owners.map(\.table)).isDisjoint(with: missing.containers.map(\.table))
  }

  private func behind(_ navigation: ReplicaNavigation?, _ pathEnd: PathEnd) -> PathEnd {
    switch (navigation?.relation, pathEnd) {
    case (.containment, _): pathEnd
    case (.container, .below(let owners)): .below(Array(owners.suffix(1)))
    default: .anywhere
    }
  }
}
