import LarderOData

extension ReadPlan {
  /// The numbers of the entity tables that the plan's statements read, including the tables at both ends of links. If
  /// the statements read what the last download changed, the set also contains `ReplicaChanges.downloads`.
  func tables(_ snapshot: ReplicaSnapshot) -> Set<Int> { tables(of: statements, snapshot) }

  /// The numbers of the tables that the plan's own statements read, without those that only nested plans read.
  func directTables(_ snapshot: ReplicaSnapshot) -> Set<Int> { tables(of: directStatements, snapshot) }

  private func tables(of statements: [String], _ snapshot: ReplicaSnapshot) -> Set<Int> {
    let state = snapshot.state
    var numbers: Set<Int> = []
    for sql in statements {
      if DownloadMarks.isRead(by: sql) { numbers.insert(ReplicaChanges.downloads) }
      for (number, name) in state.tables.enumerated() where sql.contains(name) { numbers.insert(number) }
      for (number, name) in state.search.enumerated() {
        if let name, sql.contains(name) { numbers.insert(number) }
      }
      for link in snapshot.plan.links where link.number < state.links.count && sql.contains(state.links[link.number]) {
        numbers.formUnion([link.source, link.target])
      }
    }
    return numbers
  }

  /// The SQL of all statements of the plan and of its nested plans.
  private var statements: [String] {
    var all = directStatements
    for expand in shape?.expands ?? [] { all += expand.plan.statements }
    return all
  }

  private var directStatements: [String] { [sql] + [count?.sql, owner?.sql].compactMap(\.self) }

  /// The shape of the plan's rows; nil for values and numbers.
  var shape: ReadShape? {
    switch content {
    case .objects(let shape), .references(let shape), .media(let shape, _): shape
    case .value, .count: nil
    }
  }
}
