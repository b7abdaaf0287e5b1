@testable import LarderOffline

/// A plan as lines of text, for comparison with the expected ones.
enum ReplicaPlanOutline {
  static func lines(_ plan: ReplicaPlan) -> [String] {
    plan.tables.flatMap { table in
      ["\(table.name)(\(table.key.map { table.columns[$0].name }.joined(separator: ",")))"]
        + table.columns.map { "  \($0.name): \($0.storage)" }
        + table.navigations.map { "  \(navigation($0, of: table, in: plan))" }
    }
  }

  static func navigations(_ name: String, in plan: ReplicaPlan) -> [String] {
    guard let table = plan.table(name) else { return ["no table \(name)"] }
    return table.navigations.map { navigation($0, of: table, in: plan) }
  }

  private static func navigation(
    _ navigation: ReplicaNavigation, of table: EntityTable, in plan: ReplicaPlan
  ) -> String {
    let target = plan.tables[navigation.target]
    let relation =
      switch navigation.relation {
      case .columns(let pairs):
        pairs.map { "\(table.columns[$0.source].name)=\(target.columns[$0.target].name)" }.joined(separator: ",")
      case .links(let number, let isForward): "\(plan.links[number].name)\(isForward ? "" : " back")"
      case .containment: "in"
      case .container: "out"
      }
    return "\(navigation.path.joined(separator: "/")) -> \(target.name) [\(relation)]"
  }
}
