import LarderOData

/// The tables of a model: which entities each one holds, and how they are joined.
///
/// A plan is computed from the model alone; equal models have equal plans. ``ReplicaState`` says which physical table
/// currently holds the rows of an entity table.
struct ReplicaPlan: Sendable {
  let model: EdmModel
  /// The entity tables, by number.
  let tables: [EntityTable]
  /// The link tables, by number.
  let links: [LinkTable]
  private let byName: [String: Int]

  init(model: EdmModel, tables: [EntityTable], links: [LinkTable]) {
    self.model = model
    self.tables = tables
    self.links = links
    byName = Dictionary(zip(tables.map(\.name), tables.indices), uniquingKeysWith: { first, _ in first })
  }

  /// The table with a name: a set, a singleton, `Set/Navigation` for contained entities, or a type's qualified name.
  func table(_ name: String) -> EntityTable? { byName[name].map { tables[$0] } }

  /// The tables whose entities may contain those of a table. There are several if containment is recursive or shared.
  func containers(of table: Int) -> [Int] {
    tables.filter { $0.navigations.contains { $0.target == table && $0.relation == .containment } }.map(\.number)
  }

  /// The table that a bound path's entities come from.
  func table(of source: ODataBoundSource) -> EntityTable? {
    guard var table = root(source.source) else { return nil }
    for step in source.containment {
      let path = tables[table.number].navigations.first { $0.property.name == step.name && $0.relation == .containment }
      guard let path else { return nil }
      table = tables[path.target]
    }
    return table
  }

  /// The table of a set or singleton. Containers may have sets of the same name and of different types.
  private func root(_ source: ODataNavigationSource) -> EntityTable? {
    guard let plain = table(source.name) else { return nil }
    guard plain.type.name != source.type.name else { return plain }
    return tables.first { $0.name.hasSuffix("." + source.name) && $0.type.name == source.type.name } ?? plain
  }
}
