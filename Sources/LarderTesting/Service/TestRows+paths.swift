import LarderHTTP
import LarderOData

/// What the path of a URL leads to.
enum RowTarget {
  /// All entities of a place, to which others can be added.
  case collection(RowCollection)
  /// The entities that a navigation property of an entity leads to.
  case related(owner: String, EdmNavigationProperty, RowRelation)
  case row(String)
  /// A single-valued navigation property that leads to nothing.
  case nothing(owner: String, EdmNavigationProperty, RowRelation)
  /// The links of a navigation property; one of them if the path has its key.
  case reference(owner: String, EdmNavigationProperty, target: String?)
}

extension TestRows {
  /// What a path leads to, relative to the root and percent-encoded. Throws 404 if there is none.
  func target(_ path: String) throws(ServiceFault) -> RowTarget {
    let bound = try model.bind(resolved(String(path.prefix { $0 != "?" })))
    guard case .path(let path) = bound.resource else { throw .notSupported("changes of this resource") }
    return try target(path)
  }

  /// The path of an entity that the content of a request refers to: relative, or absolute.
  func path(ofReference url: String) throws(ServiceFault) -> String {
    guard case .row(let path) = try target(model.relative(url)) else {
      throw ServiceFault(400, "'\(url)' is not an entity.")
    }
    return path
  }

  /// A path in which `$1` is the entity that an earlier request of the change set created.
  func resolved(_ path: String) -> String {
    guard path.hasPrefix("$") else { return path }
    let id = path.dropFirst().prefix { $0 != "/" }
    guard let row = created[String(id)].flatMap({ rows[$0] }) else { return path }
    return row.url + path.dropFirst(id.count + 1)
  }

  func target(_ path: ODataBoundPath) throws(ServiceFault) -> RowTarget {
    var current: RowTarget?
    var last: (owner: String, navigation: EdmNavigationProperty)?
    for segment in path.segments {
      switch (segment.kind, current) {
      case (.source(let source), nil):
        guard let place = model.place(source.name) else { throw ServiceFault(404, "There is no '\(source.name)'.") }
        current = place.isCollection ? .collection(place) : .row(try row(place.path).path)
      case (.key(let key), .collection(let place)?):
        let row = try row(try model.address(key, in: place).path)
        if let cast = place.cast { try check(row, cast) }
        current = .row(row.path)
      case (.key(let key), .related(let owner, let navigation, let relation)?):
        current = .row(try related(key, owner: owner, navigation: navigation, relation: relation))
      case (.navigation(let declared), .row(let owner)?):
        last = (owner, declared.property)
        current = try follow(declared.property, from: owner)
      case (.cast(let type), .collection(var place)?):
        place.cast = type
        current = .collection(place)
      case (.cast(let type), .related(let owner, let navigation, let relation)?):
        current = .related(owner: owner, navigation, relation.cast(to: type))
      case (.cast(let type), .nothing(let owner, let navigation, let relation)?):
        current = .nothing(owner: owner, navigation, relation.cast(to: type))
      case (.cast(let type), .row(let path)?): try check(try row(path), type)
      case (.ref, .row(let target)?):
        guard let last else { throw .notSupported("'$ref' without a navigation property") }
        current = .reference(owner: last.owner, last.navigation, target: target)
      case (.ref, .related(let owner, let navigation, _)?), (.ref, .nothing(let owner, let navigation, _)?):
        current = .reference(owner: owner, navigation, target: nil)
      default: throw .notSupported("changes of \(TestRows.words(segment.kind))")
      }
    }
    guard let current else { throw .notSupported("changes of the service's root") }
    return current
  }

  private func check(_ row: StoredRow, _ type: EdmStructure) throws(ServiceFault) {
    guard model.model.isType(row.structure.name, derivedFrom: type.name) else {
      throw ServiceFault(404, "'\(row.path)' is not a \(type.name).")
    }
  }

  private func follow(_ navigation: EdmNavigationProperty, from owner: String) throws(ServiceFault) -> RowTarget {
    let row = try row(owner)
    let relation = model.relation(navigation, of: row.structure, in: row.place)
    switch relation {
    case .unknown: throw .notSupported("'\(navigation.name)', for which the model does not bind an entity set")
    case .contained:
      guard let place = model.contained(navigation, in: row) else { break }
      if place.isCollection { return .collection(place) }
      return rows[place.path] == nil ? .nothing(owner: owner, navigation, relation) : .row(place.path)
    case .columns, .links: if navigation.isCollection { return .related(owner: owner, navigation, relation) }
    }
    return targets(of: owner, navigation).first.map { .row($0) } ?? .nothing(owner: owner, navigation, relation)
  }

  private func related(
    _ key: [ODataBoundKeyPart], owner: String, navigation: EdmNavigationProperty, relation: RowRelation
  ) throws(ServiceFault) -> String {
    guard let place = relation.target else { throw .notSupported("'\(navigation.name)'") }
    let path = try row(try model.address(key, in: place).path).path
    guard targets(of: owner, navigation).contains(path) else {
      throw ServiceFault(404, "'\(owner)/\(navigation.name)' does not lead to '\(path)'.")
    }
    if let cast = place.cast { try check(try row(path), cast) }
    return path
  }

  private static func words(_ kind: ODataBoundSegment.Kind) -> String {
    switch kind {
    case .property(let property): "the property '\(property.name)' alone"
    case .operation(let operation, _): "the operation '\(operation.name)'"
    case .operationImport(let declared, _, _): "the operation '\(declared.name)'"
    case .value: "'$value'"
    case .each, .filter: "several entities at once"
    default: "this resource"
    }
  }
}

extension RowRelation {
  /// The place of the entities; nil for those that are contained, and if the model does not say.
  var target: RowCollection? {
    switch self {
    case .columns(_, let place, _), .links(let place, _): place
    case .contained, .unknown: nil
    }
  }

  /// The relation to entities of a derived type.
  func cast(to type: EdmStructure) -> RowRelation {
    switch self {
    case .columns(let pairs, var place, let isDependent):
      place.cast = type
      return .columns(pairs, place, isDependent: isDependent)
    case .links(var place, let partner):
      place.cast = type
      return .links(place, partner: partner)
    case .contained: return .contained(cast: type)
    case .unknown: return self
    }
  }
}
