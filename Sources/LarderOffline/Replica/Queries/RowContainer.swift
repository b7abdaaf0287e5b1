import LarderOData
import LarderStorage

/// The one entity that contains all rows of a defining query, as `Orders(1)` contains those of `Orders(1)/Items`.
struct RowContainer: Sendable {
  /// The entity's path.
  let path: ODataBoundPath
  /// The entity's table, and the navigation property that contains the rows.
  let table: Int
  let navigation: Int

  /// Nil for a path that does not lead from one entity to the entities that it contains.
  init?(_ path: ODataBoundPath, _ plan: ReplicaPlan) {
    let last = path.segments.lastIndex { if case .navigation = $0.kind { true } else { false } }
    guard let last, case .navigation(let step) = path.segments[last].kind else { return nil }
    var above = path
    above.segments.removeSubrange(last...)
    guard above.type?.isCollection == false, let source = above.source, let table = plan.table(of: source) else {
      return nil
    }
    let position = table.navigations.firstIndex { $0.path == [step.name] && plan.tables[$0.target].isContained }
    guard let position else { return nil }
    self.path = above
    self.table = table.number
    navigation = position
  }
}
