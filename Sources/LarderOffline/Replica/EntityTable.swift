import LarderOData

/// The table of the entities of one place: an entity set, a singleton or a containment navigation property. If the
/// model binds a navigation property to no set, the place is a type.
///
/// The table holds the declared type and all types derived from it. In addition to the columns of properties it has
/// those of ``SystemColumn``.
final class EntityTable: Sendable {
  /// The table's index in the plan.
  let number: Int
  /// The name, for people and for the view of the same name: `Orders`, `Orders/Items`, `Ns.Address`.
  let name: String
  /// The place where the entities are found.
  let place: Place
  /// The declared type, then all types derived from it, each after its base. A row's `@type` is an index in this array.
  let types: [EdmStructure]
  /// The columns of properties, by number.
  let columns: [ReplicaColumn]
  /// The columns of the key in the order of the model; empty for a singleton without a key.
  let key: [Int]
  /// Navigation properties of all types of the hierarchy. Those in complex properties have a path.
  let navigations: [ReplicaNavigation]
  /// The names of all columns of the physical table: those of ``SystemColumn``, then those of properties.
  let columnNames: [String]

  /// The place where the entities of a table are found.
  enum Place: Sendable, Hashable {
    case entitySet(String)
    case singleton(String)
    /// The table of the containing entities, and the path of the navigation property.
    case containment(parent: Int, path: [String])
    case type(String)
  }

  private let columnsByPath: [String: [Int]]
  private let navigationsByPath: [String: [Int]]
  private let typeNumbers: [String: Int]

  init(
    number: Int, name: String, place: Place, types: [EdmStructure], columns: [ReplicaColumn], key: [Int],
    navigations: [ReplicaNavigation]
  ) {
    self.number = number
    self.name = name
    self.place = place
    self.types = types
    self.columns = columns
    self.key = key
    self.navigations = navigations
    columnNames = SystemColumn.allCases.map(\.rawValue) + columns.map(\.name)
    columnsByPath = Dictionary(grouping: columns.indices) { columns[$0].path.joined(separator: "/") }
    navigationsByPath = Dictionary(grouping: navigations.indices) { navigations[$0].path.joined(separator: "/") }
    typeNumbers = Dictionary(
      zip(types.map(\.name), types.indices), uniquingKeysWith: { first, _ in first })
  }

  /// The declared type.
  var type: EdmStructure { types[0] }

  /// Whether rows store their type, because there is more than one possible type.
  var hasTypes: Bool { types.count > 1 }

  /// Whether the entities are contained in other entities.
  var isContained: Bool { if case .containment = place { true } else { false } }

  /// The column of a path of properties, as seen from a type of the hierarchy; nil if there is none.
  func column(_ path: [String], on type: EdmStructure? = nil) -> ReplicaColumn? {
    guard let numbers = columnsByPath[path.joined(separator: "/")] else { return nil }
    let all = numbers.map { columns[$0] }
    return choose(all, on: type) { $0.declaringType }
  }

  /// The navigation property of a path, as seen from a type of the hierarchy; nil if there is none.
  func navigation(_ path: [String], on type: EdmStructure? = nil) -> ReplicaNavigation? {
    guard let numbers = navigationsByPath[path.joined(separator: "/")] else { return nil }
    let all = numbers.map { navigations[$0] }
    return choose(all, on: type) { $0.declaringType }
  }

  /// The number of a type in a row's `@type`.
  func typeNumber(_ name: String) -> Int? { typeNumbers[name] }

  /// The numbers of a type and of all types derived from it.
  func typeNumbers(derivedFrom type: EdmStructure) -> [Int] {
    types.indices.filter { types[$0].chain.contains { $0.name == type.name } }
  }

  private func choose<Item>(_ all: [Item], on type: EdmStructure?, _ declaringType: (Item) -> EdmStructure) -> Item? {
    guard let type, all.count > 1 else { return all.first }
    let chain = type.chain
    return all.first { item in chain.contains { $0.name == declaringType(item).name } } ?? all.first
  }
}

/// The columns that every entity table has in addition to those of properties. No property's name contains an `@`.
enum SystemColumn: String, CaseIterable, Sendable {
  /// An integer, the primary key: the entity's identity in the store. It is unique across all tables and never changes.
  case id = "@id"
  /// An integer: an index in ``EntityTable/types``. All tables have it; 0 if there is only one type.
  case type = "@type"
  /// An integer: the `@id` of the containing entity; NULL if the entity is not contained.
  case parent = "@parent"
  /// An integer: one bit for each defining query that returned the row. Each query has a bit number for each table.
  case queries = "@queries"
  /// An integer: 1 created in the store and not downloaded yet, 2 changes are queued, 4 in the error archive.
  case state = "@state"
  /// Text: the entity's ETag, with quotes.
  case etag = "@etag"
  /// Text: ``EntityLinks``, if the entity-id or the edit link differ from those that the conventions give.
  case uri = "@uri"
  /// Text: JSON of what is known about a media entity's bytes (`contentType`, `etag`, `readLink`, `editLink`, `isReadOnly`).
  case media = "@media"
}

/// A navigation property of an entity table.
struct ReplicaNavigation: Sendable {
  /// The path of names from the entity: one name, or several through complex properties.
  let path: [String]
  /// The type of the hierarchy that declares the path's first step.
  let declaringType: EdmStructure
  /// The declaration.
  let property: EdmNavigationProperty
  /// The number of the table that the navigation property leads to.
  let target: Int
  /// How the two tables are joined.
  let relation: ReplicaRelation

  /// Whether the navigation property leads to a collection.
  var isCollection: Bool { property.isCollection }
}

/// How the rows at the two ends of a navigation property are joined.
enum ReplicaRelation: Sendable, Hashable {
  /// Equal columns: a referential constraint, read in either direction. The pairs contain column numbers.
  case columns([Pair])
  /// Rows of a link table; `isForward` if this end is the link's source.
  case links(Int, isForward: Bool)
  /// The target's `@parent` is the source's `@id`.
  case containment
  /// The target's `@id` is the source's `@parent`: the way back from a contained entity.
  case container

  struct Pair: Sendable, Hashable {
    let source: Int
    let target: Int
  }
}

/// A table of links between entities that no referential constraint defines. `source` and `target` are identities,
/// unique as a pair.
///
/// A navigation property and its partner share one link table.
struct LinkTable: Sendable {
  /// The link table's index in the plan.
  let number: Int
  /// The table and path at the source, for people: `Orders/Tags`.
  let name: String
  /// The numbers of the tables at both ends.
  let source: Int
  let target: Int
  /// Whether a source has at most one target, and a target at most one source.
  let isSingle: (target: Bool, source: Bool)
}
