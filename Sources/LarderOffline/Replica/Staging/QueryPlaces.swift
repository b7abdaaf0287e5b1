import LarderOData

/// Where rows stand in the answer of a defining query: its own entities, and those of each expanded navigation property.
///
/// A row is the query's as long as it stands at one of these places: among its own entities, or behind the navigation property
/// of a row that does. Which rows a delta has taken out is told by that.
struct QueryPlaces: Sendable {
  struct Place: Sendable {
    let table: Int
    /// The place of the entity around, and its navigation property; nil for the query's own entities.
    let around: (place: Int, navigation: Int)?
    /// Whether all that the navigation property leads to stands here: not with `$top` and `$skip`.
    let isExact: Bool
  }

  /// The query's own entities first, each place behind the one around.
  private(set) var all: [Place]
  /// Whether all entities of the set are the query's own.
  let hasAll: Bool
  /// Whether the query's rows stand nowhere else.
  private(set) var isComplete = true
  /// Whether the service has stated links that their referential constraints contradict: columns do not tell them.
  var isContradicted = false
  /// The columns that its `$select` brings, by table; none of a table of which it brings all.
  let selected: [Int: Set<Int>]

  init(_ bound: BoundDefiningQuery, _ plan: ReplicaPlan) {
    let options = bound.url.options
    selected = Coverage.selected(by: bound, plan: plan)
    all = [Place(table: bound.table.number, around: nil, isExact: true)]
    hasAll = bound.isWholeSet && options.filter == nil && options.search == nil
    add(options.expand, around: 0, plan)
    // In a tree of the set's own entities each of them stands among these.
    if hasAll, all.allSatisfy({ $0.table == bound.table.number }) { isComplete = true }
  }

  private mutating func add(_ items: [ODataBoundExpandItem], around place: Int, _ plan: ReplicaPlan) {
    let table = plan.tables[all[place].table]
    for item in items where item.content == .entities {
      let path = QueryPlaces.names(item.path)
      // Every level of a recursion is a place of its own.
      if path == nil || item.kept != nil || item.options?.levels != nil { isComplete = false }
      let isExact = item.options?.top == nil && item.options?.skip == nil
      for (number, navigation) in table.navigations.enumerated()
      where path?.isEmpty == true || navigation.path == path {
        all.append(Place(table: navigation.target, around: (place, number), isExact: isExact))
        if let inner = item.options?.expand { add(inner, around: all.count - 1, plan) }
      }
    }
  }

  /// The names of the properties on a path; none for `*`, nil where it has other steps.
  private static func names(_ path: ODataBoundPath) -> [String]? {
    var names: [String] = []
    for segment in path.segments {
      switch segment.kind {
      case .navigation(let navigation): names.append(navigation.name)
      case .property(let property): names.append(property.name)
      case .cast, .star: continue
      default: return nil
      }
    }
    return names
  }

  /// The tables of its rows.
  var tables: Set<Int> { Set(all.map(\.table)) }

  /// The places whose rows are in a table.
  func places(in table: Int) -> [Int] { all.indices.filter { all[$0].table == table } }

  /// The navigation properties by which rows of a table hold others; all of them where not all places are known.
  func navigations(from table: EntityTable) -> [Int] {
    guard isComplete else { return Array(table.navigations.indices) }
    let found = all.compactMap { place in
      place.around.flatMap { all[$0.place].table == table.number ? $0.navigation : nil }
    }
    return Set(found).sorted()
  }

  /// The columns of a table that join its rows to others, at either end, and are none of its key: what stands at a place may
  /// stand there no more once they change.
  func joiningColumns(of table: EntityTable, _ plan: ReplicaPlan) -> Set<Int> {
    var columns: Set<Int> = []
    for case let (place, around?) in all.map({ ($0, $0.around) }) {
      let source = plan.tables[all[around.place].table]
      guard case .columns(let pairs) = source.navigations[around.navigation].relation else { continue }
      if source === table { columns.formUnion(pairs.map(\.source)) }
      if place.table == table.number { columns.formUnion(pairs.map(\.target)) }
    }
    return columns.subtracting(table.key)
  }

  /// Whether a table of links joins the rows of two places.
  func isJoined(by link: Int, _ plan: ReplicaPlan) -> Bool {
    all.contains { place in
      guard let around = place.around,
        case .links(link, _) = plan.tables[all[around.place].table].navigations[around.navigation].relation
      else { return false }
      return true
    }
  }

  /// The places of a query that brings rows of other tables than those that it names: rows that came unasked.
  func bringing(_ others: Set<Int>) -> QueryPlaces {
    var places = self
    if !others.isSubset(of: tables) { places.isComplete = false }
    return places
  }
}
