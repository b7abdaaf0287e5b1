import LarderOData

/// An entity of the service.
struct StoredRow: Sendable {
  var path: String
  var url: String
  var place: RowCollection
  var structure: EdmStructure
  /// The structural properties, all of them.
  var values: [String: JSONNode]
  /// The types of undeclared properties, if clients gave them.
  var types: [String: EdmTypeReference] = [:]
  /// The paths that links lead to, by navigation property.
  var links: [String: [String]] = [:]
  /// The number of the last change.
  var version: Int

  var etag: String { "W/\"\(version)\"" }
}

/// The data of the service as a value: after a failed change set, the former value is used again.
struct TestRows: Sendable {
  let model: TestModel
  private(set) var rows: [String: StoredRow] = [:]
  /// The paths of the entities of a place, in the order of their creation.
  private var paths: [String: [String]] = [:]
  /// The number of the last change.
  private(set) var version = 0
  /// The entities that earlier requests of the batch created, by Content-ID.
  var created: [String: String] = [:]

  private let clock: LarderTestClock

  init(_ model: TestModel, clock: LarderTestClock) {
    self.model = model
    self.clock = clock
  }

  private var reader: RowReader { RowReader(model: model, clock: clock, number: version + 1) }

  /// The depth to which containment may nest, which the copy of the rows for queries has.
  static let containmentDepth = 4

  func row(_ path: String) throws(ServiceFault) -> StoredRow {
    guard let row = rows[path] else { throw ServiceFault(404, "'\(path)' does not exist.") }
    return row
  }

  /// The entities of a place.
  func rows(in place: String) -> [StoredRow] { (paths[place] ?? []).compactMap { rows[$0] } }

  /// Puts entities into the order of a list; others follow.
  mutating func sort(_ list: [String]) {
    let numbers = Dictionary(list.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    for (place, former) in paths {
      paths[place] = former.enumerated().sorted { left, right in
        (numbers[left.element] ?? .max, left.offset) < (numbers[right.element] ?? .max, right.offset)
      }.map(\.element)
    }
  }

  // MARK: Creating

  /// Adds an entity with those inside it, and returns its path.
  ///
  /// - Parameter presets: the foreign keys that follow from where the entity is created.
  mutating func insert(
    _ node: JSONNode, into place: RowCollection, presets: [String: JSONNode] = [:]
  ) throws(ServiceFault) -> String {
    guard place.steps.count <= TestRows.containmentDepth else {
      throw .notSupported("containment as deep as '\(place.path)'")
    }
    let content = try reader.entity(node, of: place.cast ?? place.structure)
    var place = place
    place.cast = nil
    var values = content.values.merging(presets) { $1 }
    var later: [(EdmNavigationProperty, RowRelation, entities: [JSONNode], urls: [String])] = []
    let parts =
      content.children.map { ($0.navigation, $0.entities, [String]()) }
      + content.bindings.map { ($0.navigation, [JSONNode](), $0.urls) }
    for (navigation, entities, urls) in parts {
      let relation = model.relation(navigation, of: content.structure, in: place)
      guard case .columns(let pairs, let target, isDependent: true) = relation else {
        later.append((navigation, relation, entities, urls))
        continue
      }
      // The foreign key of the entity needs the entity that it leads to.
      for entity in entities {
        let path = try insert(entity, into: target)
        let principal = try row(path)
        for pair in pairs { values[pair.own] = principal.values[pair.other] }
      }
      for url in urls {
        let principal = try row(try path(ofReference: url))
        for pair in pairs { values[pair.own] = principal.values[pair.other] }
      }
    }
    let path = try add(values, content.structure, in: place)
    rows[path]?.types = content.types
    for (navigation, relation, entities, urls) in later {
      for entity in entities { try insert(entity, relatedTo: path, navigation, relation) }
      for url in urls { try link(path, navigation, to: try self.path(ofReference: url)) }
    }
    return path
  }

  private mutating func add(
    _ values: [String: JSONNode], _ structure: EdmStructure, in place: RowCollection
  ) throws(ServiceFault) -> String {
    var values = values
    for key in place.structure.key where values[key.path] == nil { values[key.path] = newKey(key.path, in: place) }
    let (path, url) = try model.address(values, in: place)
    values = try reader.complete(values, structure, at: path)
    guard rows[path] == nil else { throw ServiceFault(409, "'\(path)' exists already.") }
    version += 1
    rows[path] = StoredRow(path: path, url: url, place: place, structure: structure, values: values, version: version)
    paths[place.path, default: []].append(path)
    return path
  }

  /// The key that the service gives a new entity: the next integer, an identifier with the number of the change, or for
  /// a computed text that number.
  private func newKey(_ name: String, in place: RowCollection) -> JSONNode? {
    guard let property = place.structure.property(name) else { return nil }
    switch model.model.underlying(property.type).type.primitive {
    case .byte, .sbyte, .int16, .int32, .int64:
      let largest = rows(in: place.path).compactMap { $0.values[name]?.text.flatMap(Int.init) }.max()
      return .number(String((largest ?? 0) + 1))
    case .guid: return .string(RowReader.guid(version + 1))
    case .string where reader.computedNames(of: place.structure).contains(name):
      let texts = Set(rows(in: place.path).compactMap { $0.values[name]?.text })
      return ((version + 1)...).lazy.map(String.init).first { !texts.contains($0) }.map(JSONNode.string)
    default: return nil
    }
  }

  /// Adds an entity that a navigation property of another leads to, and returns its path.
  @discardableResult
  mutating func insert(
    _ node: JSONNode, relatedTo owner: String, _ navigation: EdmNavigationProperty, _ relation: RowRelation
  ) throws(ServiceFault) -> String {
    let row = try row(owner)
    switch relation {
    case .contained(let cast):
      guard var place = model.contained(navigation, in: row) else { break }
      place.cast = cast
      return try insert(node, into: place)
    case .columns(let pairs, let target, isDependent: false):
      let presets = Dictionary(pairs.map { ($0.other, row.values[$0.own] ?? .null) }, uniquingKeysWith: { $1 })
      return try insert(node, into: target, presets: presets)
    case .columns(_, let target, isDependent: true), .links(let target, _):
      let path = try insert(node, into: target)
      try link(owner, navigation, to: path)
      return path
    case .unknown: break
    }
    throw .notSupported("'\(navigation.name)', for which the model does not bind an entity set")
  }

  // MARK: Changing and deleting

  /// Changes an entity. `replaces` sets the properties that are not given to their defaults, except those that the service
  /// alone sets.
  mutating func update(_ path: String, _ node: JSONNode, replaces: Bool) throws(ServiceFault) {
    let old = try row(path)
    let content = try reader.entity(node, of: old.structure)
    if let child = content.children.first { throw .notSupported("'\(child.navigation.name)' in an update") }
    let keys = Set(old.structure.key.map(\.path))
    var row = old
    if replaces {
      let retainedNames = keys.union(reader.computedNames(of: old.structure))
      row.values = row.values.filter { retainedNames.contains($0.key) }
    }
    for (name, value) in content.values where !keys.contains(name) {
      row.types[name] = content.types[name]
      row.values[name] = reader.merged(replaces ? nil : old.values[name], with: value)
    }
    row.values = try reader.complete(row.values, row.structure, at: path)
    rows[path] = row
    touch(path)
    for binding in content.bindings { try bind(path, binding) }
  }

  private mutating func bind(_ path: String, _ binding: RowContent.Binding) throws(ServiceFault) {
    let navigation = binding.navigation
    var new: [String] = []
    for url in binding.urls { new.append(try self.path(ofReference: url)) }
    if binding.isWhole {
      for former in targets(of: path, navigation) where !new.contains(former) {
        let row = try row(path)
        switch model.relation(navigation, of: row.structure, in: row.place) {
        case .contained: try delete(former)
        // The new foreign key replaces the former one.
        case .columns(_, _, isDependent: true) where !new.isEmpty: break
        default: try unlink(path, navigation, from: former)
        }
      }
    }
    for target in new { try link(path, navigation, to: target) }
  }

  /// Gives an entity a new ETag.
  mutating func touch(_ path: String) {
    version += 1
    rows[path]?.version = version
  }

  /// Removes an entity with those that it contains, and what the model deletes with it (`OnDelete`).
  mutating func delete(_ path: String) throws(ServiceFault) {
    var deleting: Set<String> = []
    try delete(path, &deleting)
  }

  /// - Parameter deleting: the entities whose deletion has begun: deletions can lead back to them.
  private mutating func delete(_ path: String, _ deleting: inout Set<String>) throws(ServiceFault) {
    let row = try row(path)
    guard row.place.isCollection || !row.place.steps.isEmpty || model.isNullableSingleton(path) else {
      throw ServiceFault(405, "The singleton '\(path)' must not be null, so it cannot be deleted.")
    }
    deleting.insert(path)
    for navigation in row.structure.navigationProperties {
      guard let action = navigation.onDelete?.action, action != "None" else { continue }
      let related = targets(of: path, navigation)
      switch (action, model.relation(navigation, of: row.structure, in: row.place)) {
      case ("Cascade", _):
        for target in related where rows[target] != nil && !deleting.contains(target) { try delete(target, &deleting) }
      case ("SetNull", .columns(let pairs, _, isDependent: false)):
        for target in related where !deleting.contains(target) {
          try setForeignKey(of: target, pairs.map { ($0.other, .null) })
        }
      default: throw .notSupported("OnDelete '\(action)' of '\(navigation.name)'")
      }
    }
    version += 1
    let removed = rows.keys.filter { $0 == path || $0.hasPrefix(path + "/") }
    for path in removed {
      if let place = rows.removeValue(forKey: path)?.place.path { paths[place]?.removeAll { $0 == path } }
    }
    let gone = Set(removed)
    for (path, row) in rows {
      for (name, links) in row.links where links.contains(where: gone.contains) {
        rows[path]?.links[name] = links.filter { !gone.contains($0) }
      }
    }
  }

  // MARK: Links

  /// The entities that a navigation property leads to.
  func targets(of path: String, _ navigation: EdmNavigationProperty) -> [String] {
    guard let row = rows[path] else { return [] }
    switch model.relation(navigation, of: row.structure, in: row.place) {
    case .contained: return model.contained(navigation, in: row).map { rows(in: $0.path).map(\.path) } ?? []
    case .columns(let pairs, let target, _):
      let columns = pairs.map {
        (pair: $0, property: row.structure.property($0.own), value: row.values[$0.own] ?? .null)
      }
      guard columns.allSatisfy({ $0.value != .null }) else { return [] }
      return rows(in: target.path).filter { other in
        columns.allSatisfy { model.isEqual($0.value, other.values[$0.pair.other] ?? .null, as: $0.property) }
      }.map(\.path)
    case .links: return row.links[navigation.name] ?? []
    case .unknown: return []
    }
  }

  /// Makes a navigation property lead to an entity, also to it if it leads to many.
  mutating func link(_ path: String, _ navigation: EdmNavigationProperty, to target: String) throws(ServiceFault) {
    let (row, other) = (try row(path), try row(target))
    switch model.relation(navigation, of: row.structure, in: row.place) {
    case .columns(let pairs, let place, let isDependent):
      try check(other, place, navigation)
      if isDependent {
        try setForeignKey(of: path, pairs.map { ($0.own, other.values[$0.other] ?? .null) })
      } else {
        try setForeignKey(of: target, pairs.map { ($0.other, row.values[$0.own] ?? .null) })
      }
    case .links(let place, let partner):
      try check(other, place, navigation)
      addLink(path, navigation, to: target, partner)
      if let partner { addLink(target, partner, to: path, navigation) }
      version += 1
    case .contained, .unknown: throw .notSupported("links of '\(navigation.name)'")
    }
  }

  /// Throws 400 if a property must not be null, or is part of the key and would change: the path has the key.
  private mutating func setForeignKey(
    of path: String, _ values: [(name: String, value: JSONNode)]
  ) throws(ServiceFault) {
    var row = try row(path)
    let keys = Set(row.structure.key.map(\.path))
    for (name, value) in values {
      let property = row.structure.property(name)
      guard value != .null || property?.isNullable ?? true else {
        throw ServiceFault(400, "'\(name)' of '\(path)' must not be null.")
      }
      guard !keys.contains(name) || model.isEqual(row.values[name] ?? .null, value, as: property) else {
        throw ServiceFault(400, "'\(name)' of '\(path)' is part of its key, which cannot change.")
      }
      row.values[name] = value
    }
    rows[path] = row
    touch(path)
  }

  private func check(_ row: StoredRow, _ place: RowCollection, _ navigation: EdmNavigationProperty) throws(ServiceFault)
  {
    guard row.place.path == place.path else {
      throw ServiceFault(400, "'\(navigation.name)' leads to '\(place.path)', not to '\(row.path)'.")
    }
  }

  private mutating func addLink(
    _ path: String, _ navigation: EdmNavigationProperty, to target: String, _ partner: EdmNavigationProperty?
  ) {
    let former = rows[path]?.links[navigation.name] ?? []
    guard !former.contains(target) else { return }
    rows[path]?.links[navigation.name] = navigation.isCollection ? former + [target] : [target]
    guard !navigation.isCollection, let partner else { return }
    for old in former { rows[old]?.links[partner.name]?.removeAll { $0 == path } }
  }

  /// Removes the link to an entity.
  mutating func unlink(_ path: String, _ navigation: EdmNavigationProperty, from target: String) throws(ServiceFault) {
    let row = try row(path)
    guard targets(of: path, navigation).contains(target) else {
      throw ServiceFault(404, "'\(path)/\(navigation.name)' does not lead to '\(target)'.")
    }
    switch model.relation(navigation, of: row.structure, in: row.place) {
    case .columns(let pairs, _, let isDependent):
      try setForeignKey(of: isDependent ? path : target, pairs.map { (isDependent ? $0.own : $0.other, .null) })
    case .links(_, let partner):
      rows[path]?.links[navigation.name]?.removeAll { $0 == target }
      if let partner { rows[target]?.links[partner.name]?.removeAll { $0 == path } }
      version += 1
    case .contained, .unknown: throw .notSupported("links of '\(navigation.name)'")
    }
  }
}
