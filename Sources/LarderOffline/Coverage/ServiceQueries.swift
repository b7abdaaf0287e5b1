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

  /// Creates the queries for a model.
  package init(_ model: EdmModel) {
    plan = ReplicaPlan(model: model)
    var sources: [Source] = []
    for table in plan.tables {
      switch table.place {
      case .entitySet: sources.append(Source(name: table.name, isSet: true))
      case .singleton: sources.append(Source(name: table.name, isSet: false))
      case .containment, .type: break
      }
    }
    // The plan has no table for a set whose type is not declared. A query of such a set reports the error.
    let names = Set(sources.map(\.name))
    for container in model.schemas.flatMap(\.containers) {
      sources += container.entitySets.map(\.name).filter { !names.contains($0) && model.entitySet($0) != nil }
        .map { Source(name: $0, isSet: true) }
      sources += container.singletons.map(\.name).filter { !names.contains($0) && model.singleton($0) != nil }
        .map { Source(name: $0, isSet: false) }
    }
    self.sources = sources
  }

  /// Returns a query for each of the names, with the links between these sets.
  package func queries(for names: [String]) -> [OfflineODataDefiningQuery] {
    let roots = names.map { plan.table($0) }
    var search = LinkSearch(plan: plan)
    for case let table? in roots { search.visit(table) }
    let ends = search.ends
    return zip(names, roots).map { name, table in
      let items = table.map { expands(of: $0, above: [], ends) } ?? []
      return OfflineODataDefiningQuery(name, items.isEmpty ? name : "\(name)?$expand=\(items.joined(separator: ","))")
    }
  }

  /// The items of `$expand` for a table, with the items below them.
  private func expands(of table: EntityTable, above: [Int], _ ends: Set<LinkSearch.End>) -> [String] {
    let above = above + [table.number]
    return table.navigations.indices.flatMap { number -> [String] in
      let navigation = table.navigations[number]
      let cast = table.type.isOrDerives(from: navigation.declaringType) ? [] : [navigation.declaringType.name]
      let path = (cast + navigation.path).joined(separator: "/")
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
  private var visited: Set<Int> = []
  /// The possible ends, by the number of the link table.
  private var candidates: [Int: [Candidate]] = [:]

  init(plan: ReplicaPlan) { self.plan = plan }

  /// Adds a table and the tables contained in it.
  mutating func visit(_ table: EntityTable) {
    guard visited.insert(table.number).inserted else { return }
    for (number, navigation) in table.navigations.enumerated() {
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

  /// The best end of each link for which both ends were added.
  var ends: Set<End> {
    Set(
      candidates.values.compactMap { candidates in
        let whole = candidates.filter { visited.contains($0.target) }
        return (whole.first { !$0.isCollection } ?? whole.first)?.end
      })
  }
}
