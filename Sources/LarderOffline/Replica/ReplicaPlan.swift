import LarderOData

/// The tables that a model becomes: which entities live where, and how they find each other.
///
/// Made from the model alone, the same for the same model. Which physical table holds the rows of an entity table at a
/// moment is said by ``ReplicaState``.
struct ReplicaPlan: Sendable {
  let model: EdmModel
  /// By number.
  let tables: [EntityTable]
  /// By number.
  let links: [LinkTable]
  private let byName: [String: Int]

  init(model: EdmModel, tables: [EntityTable], links: [LinkTable]) {
    self.model = model
    self.tables = tables
    self.links = links
    byName = Dictionary(zip(tables.map(\.name), tables.indices), uniquingKeysWith: { first, _ in first })
  }

  /// The table of a name: a set, a singleton, `Set/Navigation` for contained entities, a type's qualified name.
  func table(_ name: String) -> EntityTable? { byName[name].map { tables[$0] } }

  /// The tables whose entities may contain those of a table: one, and more where containment is recursive or shared.
  func containers(of table: Int) -> [Int] {
    tables.filter { $0.navigations.contains { $0.target == table && $0.relation == .containment } }.map(\.number)
  }

  /// The table that a bound path's entities come from.
  func table(of source: ODataBoundSource) -> EntityTable? {
    guard var table = table(source.source.name) else { return nil }
    for step in source.containment {
      let path = tables[table.number].navigations.first { $0.property.name == step.name && $0.relation == .containment }
      guard let path else { return nil }
      table = tables[path.target]
    }
    return table
  }
}

/// Which physical tables hold what a transaction sees. Read at the beginning of each, kept while the number stays.
struct ReplicaState: Sendable, Hashable {
  /// Grows with every change of the names below.
  var version: Int64
  /// The SQL name, quoted, of each entity table, by number.
  var tables: [String]
  /// The SQL name, quoted, of each link table, by number.
  var links: [String]
  /// The SQL name, quoted, of each entity table's full-text index; nil where it has none yet.
  var search: [String?]
  /// Whether rows have had other keys before the service gave them theirs.
  var hasFormerKeys = false
  /// The defining queries, as far as they say what rows have.
  var queries: [KnownQuery] = []
}
