import LarderOData

/// Entities that are created together with another one (deep insert), and how they are matched with those in a
/// response.
enum DeepInsert {
  /// Whether a request creates entities inside the one that it creates or changes.
  static func hasChildren(_ request: QueuedRequest) -> Bool { !expand(request).isEmpty }

  /// The navigation properties to expand to read all entities that a request creates, as `Items($expand=Notes)`.
  static func expand(_ request: QueuedRequest, isV4: Bool = true) -> String {
    guard case .entity(let entity) = request.body else { return "" }
    return expand(entity, isV4: isV4)
  }

  /// The navigation properties to expand to read all entities that a body creates.
  static func expand(_ entity: QueuedEntity, isV4: Bool) -> String {
    isV4 ? nested(entity) : paths(entity).joined(separator: ",")
  }

  private static func nested(_ entity: QueuedEntity) -> String {
    entity.links.filter { !$0.entities.isEmpty }.map { link in
      let inner = Set(link.entities.map(nested)).filter { !$0.isEmpty }.sorted().joined(separator: ",")
      return inner.isEmpty ? link.name : "\(link.name)($expand=\(inner))"
    }.joined(separator: ",")
  }

  /// The expand paths of V2: `Items,Items/Notes`.
  private static func paths(_ entity: QueuedEntity) -> [String] {
    var all: [String] = []
    for link in entity.links where !link.entities.isEmpty {
      all.append(link.name)
      for path in Set(link.entities.flatMap(paths)).sorted() { all.append("\(link.name)/\(path)") }
    }
    return all
  }

  /// Each entity created inside, at any depth, with the matching entity of the response.
  static func pairs(_ sent: QueuedEntity, _ received: ODataEntity?) -> [(QueuedEntity, ODataEntity?)] {
    var all: [(QueuedEntity, ODataEntity?)] = []
    for link in sent.links where !link.entities.isEmpty {
      for (child, match) in zip(link.entities, matches(of: link.entities, in: received?.related(link.name) ?? [])) {
        all.append((child, match))
        all += pairs(child, match)
      }
    }
    return all
  }

  /// The matching entity for each created one: the entity that has all the values that were sent, in order if several
  /// have; otherwise one that resembles them; otherwise, if as many entities are left as created ones have no match, the
  /// next of these.
  static func matches(of sent: [QueuedEntity], in received: [ODataEntity]) -> [ODataEntity?] {
    var remaining = received
    var matches = [ODataEntity?](repeating: nil, count: sent.count)
    let ways: [(QueuedEntity, ODataEntity) -> Bool] = [
      { SentContent.matches($0, $1) }, { SentContent.resembles($0, $1) },
    ]
    for isMatch in ways {
      for (place, child) in sent.enumerated() where matches[place] == nil {
        guard let match = remaining.firstIndex(where: { isMatch(child, $0) }) else { continue }
        matches[place] = remaining.remove(at: match)
      }
    }
    let missing = matches.indices.filter { matches[$0] == nil }
    if missing.count == remaining.count { for (place, match) in zip(missing, remaining) { matches[place] = match } }
    return matches
  }

  /// Whether a response contains all created entities.
  static func isWhole(_ sent: QueuedEntity, _ received: ODataEntity?) -> Bool {
    pairs(sent, received).allSatisfy { $0.1 != nil }
  }

  /// The rows of the created inner entities whose keys the service assigns, completely or partially.
  static func keyless(_ sent: QueuedEntity, _ plan: ReplicaPlan, isKeyless: Bool = false) -> Set<RowReference> {
    var rows: Set<RowReference> = []
    guard let table = sent.row.flatMap({ plan.table($0.table) }) else { return rows }
    for link in sent.links {
      guard let navigation = table.navigation(link.path) else { continue }
      let target = plan.tables[navigation.target]
      var tied: Set<Int> = []
      if case .columns(let pairs) = navigation.relation, !plan.isDependent(navigation, table) {
        tied = Set(pairs.map(\.target))
      }
      for child in link.entities {
        let lacks = target.key.contains { number in
          if tied.contains(number) { return isKeyless }
          return !child.properties.contains { [$0.name] == target.columns[number].path }
        }
        if lacks, let row = child.row { rows.insert(row) }
        rows.formUnion(keyless(child, plan, isKeyless: lacks))
      }
    }
    return rows
  }
}

extension ODataEntity {
  /// The entities of a navigation property that are included inline.
  func related(_ name: String) -> [ODataEntity] {
    navigationLink(name).map { $0.entities ?? $0.entity.map { [$0] } ?? [] } ?? []
  }
}

/// Comparison of the server's content with the content that was sent.
enum SentContent {
  /// Whether an entity has all the values that were sent.
  static func matches(_ sent: QueuedEntity, _ received: ODataEntity) -> Bool {
    sent.properties.allSatisfy { property in
      property.key != nil
        || received[property.name].map { equal(property.value.value, $0) } ?? (property.value.value == .null)
    }
  }

  /// Whether a service treats two values as equal: numbers by value, timestamps by instant, complex values by the
  /// members that were sent.
  static func equal(_ sent: ODataValue, _ received: ODataValue) -> Bool {
    if sent == received { return true }
    switch (sent, received) {
    case (.complex(let sent), .complex(let received)):
      return sent.properties.allSatisfy { property in
        received.properties.first { $0.name == property.name }.map { equal(property.value, $0.value) }
          ?? (property.value == .null)
      }
    case (.collection(let sent), .collection(let received)):
      return sent.count == received.count && zip(sent, received).allSatisfy { equal($0, $1) }
    case (.dateTimeOffset(let sent), .dateTimeOffset(let received)): return !(sent < received) && !(received < sent)
    default:
      if let sent = sent.exactNumber, let received = received.exactNumber { return sent == received }
      return false
    }
  }
}
