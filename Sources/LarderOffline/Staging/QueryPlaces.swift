import LarderOData

/// The places of rows in the result of a defining query: its own entities, and the entities of each expanded navigation
/// property.
///
/// A row belongs to the query as long as it is at one of these places: among the query's own entities, or a member of
/// the navigation property of a row that belongs to it. This determines which rows a delta has removed.
struct QueryPlaces: Sendable {
  struct Place: Sendable {
    let table: Int
    /// The place of the enclosing entity, and its navigation property; nil for the query's own entities.
    let enclosing: (place: Int, navigation: Int)?
    /// Whether all members of the navigation property are at this place: false with `$top` and `$skip`.
    let isExact: Bool
  }

  /// The query's own entities first, each place after its enclosing one.
  private(set) var all: [Place]
  /// Whether all entities of the set are the query's own.
  let hasAll: Bool
  /// Whether the query's rows have no other places.
  private(set) var isComplete = true
  /// Whether the service has sent links that referential constraints contradict. Columns do not contain such links.
  var isContradicted = false
  /// The columns that the query's `$select` returns, by table. A table of which the query returns all columns has no
  /// entry.
  let selected: [Int: Set<Int>]
  /// The links that the query requests.
  let requested: RequestedLinks
  /// Whether the query keeps values that do not fit their declared type.
  var keepsRawValues = false

  init(_ bound: BoundDefiningQuery, _ plan: ReplicaPlan) {
    let options = bound.url.options
    requested = RequestedLinks(bound, plan: plan)
    selected = Coverage.selected(by: bound, plan: plan)
    all = [Place(table: bound.table.number, enclosing: nil, isExact: true)]
    hasAll = bound.isWholeSet && options.filter == nil && options.search == nil
    add(options.expand, enclosing: 0, plan)
    // If all places are in the set's own table, each of their entities is also one of the query's own entities.
    if hasAll, all.allSatisfy({ $0.table == bound.table.number }) { isComplete = true }
  }

  private mutating func add(_ items: [ODataBoundExpandItem], enclosing place: Int, _ plan: ReplicaPlan) {
    let table = plan.tables[all[place].table]
    for item in items where item.content == .entities {
      let path = QueryPlaces.names(item.path)
      // Each level of a recursion would be a separate place.
      if path == nil || item.unbound != nil || item.options?.levels != nil { isComplete = false }
      let isExact = item.options?.top == nil && item.options?.skip == nil
      for (number, navigation) in table.navigations.enumerated()
      where path?.isEmpty == true || navigation.path == path {
        all.append(Place(table: navigation.target, enclosing: (place, number), isExact: isExact))
        if let inner = item.options?.expand { add(inner, enclosing: all.count - 1, plan) }
      }
    }
  }

  /// The names of the properties on a path; empty for `*`, nil if the path has other steps.
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

  /// The tables of the query's rows.
  var tables: Set<Int> { Set(all.map(\.table)) }

  /// The places whose rows are in a table.
  func places(in table: Int) -> [Int] { all.indices.filter { all[$0].table == table } }

  /// The navigation properties by which rows of a table hold others; all of them if not all places are known.
  func navigations(from table: EntityTable) -> [Int] {
    guard isComplete else { return Array(table.navigations.indices) }
    let numbers = all.compactMap { place in
      place.enclosing.flatMap { all[$0.place].table == table.number ? $0.navigation : nil }
    }
    return Set(numbers).sorted()
  }

  /// The columns of a table, without the key, that join its rows to others at either end. When they change, a row may
  /// leave its place.
  func joiningColumns(of table: EntityTable, _ plan: ReplicaPlan) -> Set<Int> {
    var columns: Set<Int> = []
    for case let (place, enclosing?) in all.map({ ($0, $0.enclosing) }) {
      let source = plan.tables[all[enclosing.place].table]
      guard case .columns(let pairs) = source.navigations[enclosing.navigation].relation else { continue }
      if source === table { columns.formUnion(pairs.map(\.source)) }
      if place.table == table.number { columns.formUnion(pairs.map(\.target)) }
    }
    return columns.subtracting(table.key)
  }

  /// Whether a link table joins the rows of two places.
  func isJoined(by link: Int, _ plan: ReplicaPlan) -> Bool {
    all.contains { place in
      guard let enclosing = place.enclosing,
        case .links(link, _) = plan.tables[all[enclosing.place].table].navigations[enclosing.navigation].relation
      else { return false }
      return true
    }
  }

  /// The places of a query that may also return rows of other tables than those that it names.
  func bringing(_ others: Set<Int>) -> QueryPlaces {
    var places = self
    if !others.isSubset(of: tables) { places.isComplete = false }
    return places
  }
}
