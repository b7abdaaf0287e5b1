import LarderOData

/// The links that a defining query requests with `$expand`, for the rows of each level: the query's own rows, and those
/// of each expanded navigation property.
struct RequestedLinks: Sendable {
  struct Level: Sendable {
    let table: EntityTable
    /// The path of links from the query's own rows to this level; empty for the own rows.
    let path: String
    var links: [Link] = []
  }

  struct Link: Sendable {
    /// The number of the navigation property in the level's table.
    let navigation: Int
    /// The path from the query's own rows, for people and for the file: `Items/Product`.
    let name: String
    /// The level of the entities behind the link; nil if only references are requested.
    var target: Int?
  }

  /// The levels; the query's own rows are at the first one.
  private(set) var levels: [Level] = []
  private let model: EdmModel

  init(_ model: EdmModel) { self.model = model }

  /// Whether the query requests no links.
  var isEmpty: Bool { levels.allSatisfy(\.links.isEmpty) }

  /// The link with a name, and the table of its level.
  func link(_ name: String) -> (EntityTable, ReplicaNavigation)? {
    for level in levels {
      if let link = level.links.first(where: { $0.name == name }) {
        return (level.table, level.table.navigations[link.navigation])
      }
    }
    return nil
  }

  /// The names of the links of the entities behind a link.
  func links(behind name: String) -> [String] {
    let target = levels.lazy.flatMap(\.links).first { $0.name == name }?.target
    return target.map { levels[$0].links.map(\.name) } ?? []
  }

  /// Adds a level of rows. Returns its number.
  mutating func addLevel(_ table: EntityTable, path: String) -> Int {
    levels.append(Level(table: table, path: path))
    return levels.count - 1
  }

  /// Adds a link to a level. Returns its name.
  @discardableResult
  mutating func add(_ navigation: Int, to level: Int, target: Int? = nil) -> String {
    if let known = levels[level].links.firstIndex(where: { $0.navigation == navigation }) {
      if target != nil { levels[level].links[known].target = target }
      return levels[level].links[known].name
    }
    let (table, path) = (levels[level].table, levels[level].path)
    let step = table.navigations[navigation].pathWithCasts(from: table.type, model)
    let name = path.isEmpty ? step : "\(path)/\(step)"
    levels[level].links.append(Link(navigation: navigation, name: name, target: target))
    return name
  }
}

extension ReplicaNavigation {
  /// The path of the navigation property from an entity of a type, with the casts that derived entity types and complex
  /// types need (URL Conventions 4.01 §4.11).
  func steps(from type: EdmStructure, _ model: EdmModel) -> [String] {
    var steps = type.isOrDerives(from: declaringType) ? [] : [declaringType.name]
    var current: EdmStructure? = declaringType
    for name in path {
      if let holder = current, holder.property(name) == nil, holder.navigationProperty(name) == nil {
        let derived = model.schemas.flatMap(\.complexTypes).lazy.compactMap { model.structure($0.qualifiedName) }
          .first { $0.isOrDerives(from: holder) && ($0.property(name) != nil || $0.navigationProperty(name) != nil) }
        if let derived {
          steps.append(derived.name)
          current = derived
        }
      }
      steps.append(name)
      current = current?.property(name).flatMap { model.underlying($0.type).0.name }.flatMap { model.structure($0) }
    }
    return steps
  }

  func pathWithCasts(from type: EdmStructure, _ model: EdmModel) -> String {
    steps(from: type, model).joined(separator: "/")
  }
}

/// What the rows of a response show of a requested link.
struct LinkFacts: Codable, Sendable, Hashable {
  /// Whether a row has the link inline: related entities, an empty collection, or null.
  var isShown = false
  /// The number of rows that can have the link and do not have it inline.
  var lacking: Int64 = 0
  /// The URL of the link of one of these rows; nil if it is not known.
  var url: String?
  let isCollection: Bool

  /// Returns the facts of both.
  static func sum(_ left: [String: LinkFacts]?, _ right: [String: LinkFacts]) -> [String: LinkFacts]? {
    let all = (left ?? [:]).merging(right) { left, right in
      var sum = left
      sum.isShown = left.isShown || right.isShown
      sum.lacking += right.lacking
      sum.url = left.url ?? right.url
      return sum
    }
    return all.isEmpty ? nil : all
  }
}

/// A requested link that no row of a whole answer has inline. One row's link is requested to find out whether the
/// service does not expand it, or no row has related entities.
struct LinkQuestion: Codable, Sendable, Hashable {
  let link: String
  /// The URL of one row's link; nil if it is not known.
  let url: String?
  let isCollection: Bool

  /// The response to the request of one row's link.
  enum Answer: Sendable, Hashable, CaseIterable {
    /// There are related entities.
    case related
    /// There are none: an empty collection, or no content.
    case none
    /// The service responds with 404. V2 services also do so if a single link leads nowhere.
    case notFound
    /// Everything else.
    case unknown
  }

  /// What the whole response does not show of the links.
  static func all(_ facts: [String: LinkFacts]?) -> [LinkQuestion] {
    (facts ?? [:]).filter { !$0.value.isShown && $0.value.lacking > 0 }.sorted { $0.key < $1.key }
      .map { LinkQuestion(link: $0.key, url: $0.value.url, isCollection: $0.value.isCollection) }
  }

  /// Whether the link was not downloaded.
  ///
  /// An expanded collection is an array even if it is empty, and a single link that leads nowhere is null (JSON Format
  /// 4.01 §8.3). Services omit null. If a service shows other links inline, it expands, and may also omit empty
  /// collections.
  func isMissing(_ answer: Answer, version: ODataVersion, showsOthers: Bool) -> Bool {
    switch answer {
    case .related, .unknown: true
    case .none: isCollection && !showsOthers
    case .notFound: version >= .v4 || isCollection || !showsOthers
    }
  }
}
