import LarderOData
import LarderStorage

/// The other end of a link that an uncertain request sets, adds or removes.
struct LinkEnd: Sendable, Hashable {
  /// The navigation property.
  var name: String
  var isCollection = false
  /// The key of the entity that was sent, empty if the link was removed; nil if it is not known.
  var sent: [String: ODataValue]?
  /// The key of the entity that a single link had as its target before, empty for none; nil if it is not known.
  var before: [String: ODataValue]?

  /// Whether an entity has a key.
  static func isEntity(_ entity: ODataEntity?, _ key: [String: ODataValue]) -> Bool {
    guard let entity else { return key.isEmpty }
    return !key.isEmpty && key.allSatisfy { name, value in entity[name].map { SentContent.equal(value, $0) } ?? false }
  }

  /// Compares single links with an entity that was read with `$expand`.
  ///
  /// - Returns: whether all of them have the targets that were sent, and whether all have their former targets; nil for
  ///   the latter if that is not known.
  static func compare(_ ends: [LinkEnd], _ expanded: ODataEntity?) -> (isAsSent: Bool, isAsBefore: Bool?) {
    var result: (isAsSent: Bool, isAsBefore: Bool?) = (true, true)
    for end in ends {
      let linkedEntity: ODataEntity?
      switch expanded?.navigationLink(end.name)?.content {
      case .entity(let entity)?: linkedEntity = entity
      case .null?: linkedEntity = nil
      default: return (false, nil)
      }
      if end.isCollection || !(end.sent.map { isEntity(linkedEntity, $0) } ?? false) { result.isAsSent = false }
      guard !end.isCollection, let before = end.before else {
        result.isAsBefore = nil
        continue
      }
      if result.isAsBefore == true { result.isAsBefore = isEntity(linkedEntity, before) }
    }
    return result
  }
}

extension QueuedRequest {
  /// The navigation property of a request that changes only a link; nil for other requests.
  var linkName: String? {
    switch operation {
    case .createLink, .updateLink, .deleteLink: target.path.split(separator: "/").last.map(String.init)
    default: nil
    }
  }

  /// The link of such a request, as it would be written in the body of an update.
  func asBodyLink(_ name: String, _ end: LinkEnd) -> QueuedLink {
    var link = QueuedLink(name: name, isCollection: end.isCollection)
    if operation != .deleteLink, case .reference(let reference) = body { link.bindings = [reference] }
    link.isNull = operation == .deleteLink
    return link
  }
}

extension RowPath {
  /// The ends of the links in a body.
  func ends(of links: [QueuedLink], at row: RowReference, _ base: EntityCells?) throws -> [LinkEnd] {
    try links.filter { $0.entities.isEmpty || !$0.isCollection }.map { link in
      var end = LinkEnd(name: link.name, isCollection: link.isCollection)
      if !link.isCollection, link.entities.isEmpty {
        end.sent = link.isNull ? [:] : link.bindings.first.flatMap { key(of: $0, link.name, row) }
        end.before = try before(link.name, row: row, base: base, former: link.formerEnd)
      }
      return end
    }
  }

  /// The end of the link that a request changes.
  func end(of request: QueuedRequest, _ name: String, _ base: EntityCells?) throws -> LinkEnd? {
    guard let row = request.entity, let navigation = navigation(name, row) else { return nil }
    var end = LinkEnd(name: name, isCollection: navigation.isCollection)
    if case .reference(let reference) = request.body {
      end.sent = key(of: reference, name, row)
    } else if request.operation == .deleteLink, !navigation.isCollection {
      end.sent = [:]
    }
    if !navigation.isCollection { end.before = try before(name, row: row, base: base, former: request.formerEnd) }
    return end
  }

  private func navigation(_ name: String, _ row: RowReference) -> ReplicaNavigation? {
    snapshot.plan.table(row.table)?.navigations.first {
      $0.path.last == name || $0.path.joined(separator: "/") == name
    }
  }

  /// The service's key of an entity that a request refers to; nil if it is not known.
  private func key(of reference: QueuedReference, _ name: String, _ row: RowReference) -> [String: ODataValue]? {
    switch reference {
    case .row(let target):
      let key = (try? location(of: target))?.key ?? [:]
      return key.isEmpty ? nil : key
    case .url(let url):
      guard let target = navigation(name, row).map({ snapshot.plan.tables[$0.target] }),
        let cells = EntityID.key(of: url, in: target, model: snapshot.plan.model)
      else { return nil }
      var key: [String: ODataValue] = [:]
      for (place, number) in target.key.enumerated() where target.type.key.indices.contains(place) {
        guard let value = try? target.columns[number].value(of: cells[place], model: snapshot.plan.model) else {
          return nil
        }
        key[target.type.key[place].name] = value
      }
      return key.isEmpty ? nil : key
    }
  }

  /// The former target of a single link: before the change, if the request contains it, otherwise before all pending
  /// changes.
  private func before(
    _ name: String, row: RowReference, base: EntityCells?, former: FormerEnd?
  ) throws -> [String: ODataValue]? {
    guard let table = snapshot.plan.table(row.table), let navigation = navigation(name, row), !navigation.isCollection
    else {
      return nil
    }
    let target = snapshot.plan.tables[navigation.target]
    switch former {
    case .unknown?: return nil
    case .nothing?: return [:]
    case .row(let id)?:
      let key = (try? location(of: RowReference(target.name, id)))?.key ?? [:]
      return key.isEmpty ? nil : key
    case nil: break
    }
    switch navigation.relation {
    case .columns(let pairs):
      guard let base, snapshot.plan.isDependent(navigation, table) else { return nil }
      var key: [String: ODataValue] = [:]
      for (place, number) in target.key.enumerated() {
        guard let pair = pairs.first(where: { $0.target == number }), target.type.key.indices.contains(place),
          let cell = base[table.columns[pair.source].name]
        else { return nil }
        if cell == .null { return [:] }
        key[target.type.key[place].name] = try target.columns[number].value(of: cell, model: snapshot.plan.model)
      }
      return key
    case .links(let number, let isForward):
      guard !snapshot.state.links[number].hasPrefix("(") else { return nil }
      let (ownColumn, otherColumn) = isForward ? ("source", "target") : ("target", "source")
      let linked = try snapshot.connection.integers(
        """
        SELECT \(otherColumn) FROM larder_base_link WHERE name = ?1 AND \(ownColumn) = ?2 AND present = 1
        UNION SELECT \(otherColumn) FROM \(snapshot.state.links[number]) AS l WHERE \(ownColumn) = ?2 AND NOT EXISTS
          (SELECT 1 FROM larder_base_link b WHERE b.name = ?1 AND b.source = l.source AND b.target = l.target)
        """, .text(snapshot.plan.links[number].name), .integer(row.row))
      // Without a row, the link may have no target, or was never downloaded.
      guard let first = linked.first else { return nil }
      return linked.count == 1 ? try location(of: RowReference(target.name, first)).key : nil
    case .containment, .container: return nil
    }
  }
}
