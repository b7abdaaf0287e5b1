package import LarderOData

/// The defining queries that copy whole entity sets and singletons of a service, with the links between them.
///
/// A link that a referential constraint defines is downloaded with its entities. Any other link is expanded from one of
/// its two ends: from the end where it leads to a single entity, if there is one. Contained entities are expanded.
package struct ServiceQueries: Sendable {
  /// An entity set or a singleton.
  package struct Source: Sendable, Hashable {
    /// The name of the set or singleton, and of its query.
    package let name: String
    /// False for a singleton.
    package let isSet: Bool
  }

  /// The sets and singletons of the model, in the order of the metadata.
  package let sources: [Source]
  private let plan: ReplicaPlan
  /// The tables of the sources, by name.
  private let tables: [String: EntityTable]

  /// Creates the queries for a model.
  package init(_ model: EdmModel) {
    plan = ReplicaPlan(model: model)
    var tables: [String: EntityTable] = [:]
    var withTable: [(number: Int, source: Source)] = []
    var withoutTable: [Source] = []
    var visited: Set<Int> = []
    let main = model.containersOfPlainNames
    let others = model.schemas.flatMap(\.containers).filter { container in
      !main.contains { $0.qualifiedName == container.qualifiedName }
    }
    for (place, container) in (main + others).enumerated() {
      // In URLs, sets of other containers have the name of their container.
      let prefix = place < main.count ? "" : container.name + "."
      let children =
        container.entitySets.map { ($0.name, true) } + container.singletons.map { ($0.name, false) }
      for (name, isSet) in children where isSet ? model.entitySet(name) != nil : model.singleton(name) != nil {
        let source = Source(name: prefix + name, isSet: isSet)
        guard let table = plan.table(container.qualifiedName + "." + name) ?? plan.table(name) else {
          withoutTable.append(source)
          continue
        }
        guard visited.insert(table.number).inserted else { continue }
        tables[source.name] = table
        withTable.append((table.number, source))
      }
    }
    self.tables = tables
    // The plan has no table for a set whose type is not declared. A query of such a set reports the error.
    sources = withTable.sorted { $0.number < $1.number }.map(\.source) + withoutTable
  }

  /// Returns a query for each of the names, with the links between these sets.
  package func queries(for names: [String]) -> [OfflineODataDefiningQuery] {
    let roots = names.map { tables[$0] }
    var search = LinkSearch(plan: plan)
    for case let table? in roots { search.visit(table) }
    let ends = search.ends
    return zip(names, roots).map { name, table in
      let items = table.map { expands(of: $0, above: [], ends) } ?? []
      return OfflineODataDefiningQuery(name, items.isEmpty ? name : "\(name)?$expand=\(items.joined(separator: ","))")
    }
  }

  /// The links of sets and singletons that no URL can expand, by the name of the set: before V3, URLs have no casts, and
  /// so none for navigation properties of derived types.
  package func linksWithoutURL(of names: [String]) -> [String: [String]] {
    var search = LinkSearch(plan: plan)
    for table in names.compactMap({ tables[$0] }) { search.visit(table) }
    var links: [String: [String]] = [:]
    for name in names {
      guard let table = tables[name] else { continue }
      let unreachable = table.navigations.filter { navigation in
        guard !navigation.hasURL(from: table, plan) else { return false }
        switch navigation.relation {
        case .containment: return true
        case .links(let link, _): return search.visited.contains(navigation.target) && !search.reaches(link)
        case .columns, .container: return false
        }
      }
      if !unreachable.isEmpty { links[name] = unreachable.map { $0.path.joined(separator: "/") } }
    }
    return links
  }

  /// The items of `$expand` for a table, with the items below them.
  private func expands(of table: EntityTable, above: [Int], _ ends: Set<LinkSearch.End>) -> [String] {
    let above = above + [table.number]
    return table.navigations.indices.flatMap { number -> [String] in
      let navigation = table.navigations[number]
      guard navigation.hasURL(from: table, plan) else { return [] }
      let path = navigation.pathWithCasts(from: table.type, plan.model)
      guard case .containment = navigation.relation else {
        return ends.contains(LinkSearch.End(table: table.number, navigation: number)) ? [path] : []
      }
      // Links within one table, as in a tree, are expanded to all levels. A longer cycle ends at the table where it
      // began.
      if navigation.target == table.number { return ["\(path)($levels=max)"] }
      if above.contains(navigation.target) { return [] }
      let below = expands(of: plan.tables[navigation.target], above: above, ends)
      if below.isEmpty { return [path] }
      return plan.model.version < .v4
        ? below.map { "\(path)/\($0)" } : ["\(path)($expand=\(below.joined(separator: ",")))"]
    }
  }
}

extension ReplicaNavigation {
  /// Whether a URL can name the navigation property in `$expand`: before V3 there are no casts.
  fileprivate func hasURL(from table: EntityTable, _ plan: ReplicaPlan) -> Bool {
    plan.model.version >= .v3 || steps(from: table.type, plan.model) == path
  }
}

/// Finds the ends from which links between tables are expanded: one end for each link table.
private struct LinkSearch {
  struct End: Hashable {
    let table: Int
    let navigation: Int
  }

  private struct Candidate {
    let end: End
    let target: Int
    let isCollection: Bool
  }

  let plan: ReplicaPlan
  private(set) var visited: Set<Int> = []
  /// The possible ends, by the number of the link table.
  private var candidates: [Int: [Candidate]] = [:]

  init(plan: ReplicaPlan) { self.plan = plan }

  /// Adds a table and the tables contained in it.
  mutating func visit(_ table: EntityTable) {
    guard visited.insert(table.number).inserted else { return }
    for (number, navigation) in table.navigations.enumerated() where navigation.hasURL(from: table, plan) {
      switch navigation.relation {
      case .containment: visit(plan.tables[navigation.target])
      case .links(let link, _):
        candidates[link, default: []].append(
          Candidate(
            end: End(table: table.number, navigation: number), target: navigation.target,
            isCollection: navigation.isCollection))
      case .columns, .container: break
      }
    }
  }

  /// Whether a link is expanded from one of its ends.
  func reaches(_ link: Int) -> Bool { candidates[link]?.contains { visited.contains($0.target) } == true }

  /// The best end of each link for which both ends were added.
  var ends: Set<End> {
    Set(
      candidates.values.compactMap { candidates in
        let whole = candidates.filter { visited.contains($0.target) }
        return (whole.first { !$0.isCollection } ?? whole.first)?.end
      })
  }
}
