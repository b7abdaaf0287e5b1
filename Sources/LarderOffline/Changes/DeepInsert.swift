import LarderOData

/// Entities that are made with another one, and how those of an answer are known.
enum DeepInsert {
  /// Whether a request makes entities inside the one that it is about.
  static func hasChildren(_ request: QueuedRequest) -> Bool { !expand(request).isEmpty }

  /// The navigation properties to expand so that all that a request makes is read, as `Items($expand=Notes)`.
  static func expand(_ request: QueuedRequest, isV4: Bool = true) -> String {
    guard case .entity(let entity) = request.body else { return "" }
    return expand(entity, isV4: isV4)
  }

  /// The navigation properties to expand so that all that a body makes is read.
  static func expand(_ entity: QueuedEntity, isV4: Bool) -> String {
    isV4 ? nested(entity) : paths(entity).joined(separator: ",")
  }

  private static func nested(_ entity: QueuedEntity) -> String {
    entity.links.filter { !$0.entities.isEmpty }.map { link in
      let inner = Set(link.entities.map(nested)).filter { !$0.isEmpty }.sorted().joined(separator: ",")
      return inner.isEmpty ? link.name : "\(link.name)($expand=\(inner))"
    }.joined(separator: ",")
  }

  /// V2 has paths: `Items,Items/Notes`.
  private static func paths(_ entity: QueuedEntity) -> [String] {
    var all: [String] = []
    for link in entity.links where !link.entities.isEmpty {
      all.append(link.name)
      for path in Set(link.entities.flatMap(paths)).sorted() { all.append("\(link.name)/\(path)") }
    }
    return all
  }

  /// Each entity made inside, at any depth, with the one of the answer that it is.
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

  /// For each entity that was made the one that it is: the one that has all the values that were sent, in order where
  /// several have; else one that may have come of them; else, where as many are left as were made, the next of these.
  static func matches(of sent: [QueuedEntity], in received: [ODataEntity]) -> [ODataEntity?] {
    var left = received
    var matches = [ODataEntity?](repeating: nil, count: sent.count)
    let ways: [(QueuedEntity, ODataEntity) -> Bool] = [
      { SentContent.matches($0, $1) }, { SentContent.resembles($0, $1) },
    ]
    for isMatch in ways {
      for (place, child) in sent.enumerated() where matches[place] == nil {
        guard let match = left.firstIndex(where: { isMatch(child, $0) }) else { continue }
        matches[place] = left.remove(at: match)
      }
    }
    let missing = matches.indices.filter { matches[$0] == nil }
    if missing.count == left.count { for (place, match) in zip(missing, left) { matches[place] = match } }
    return matches
  }

  /// Whether an answer shows all that was made.
  static func isWhole(_ sent: QueuedEntity, _ received: ODataEntity?) -> Bool {
    pairs(sent, received).allSatisfy { $0.1 != nil }
  }

  /// The rows of the entities made inside whose keys the service gives, in whole or in part.
  static func keyless(_ sent: QueuedEntity, _ plan: ReplicaPlan, isKeyless: Bool = false) -> Set<RowReference> {
    var rows: Set<RowReference> = []
    guard let table = sent.row.flatMap({ plan.table($0.table) }) else { return rows }
    for link in sent.links {
      guard let navigation = table.navigation([link.name]) else { continue }
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
  /// The entities behind a navigation property, as far as they are in line.
  func related(_ name: String) -> [ODataEntity] {
    navigationLink(name).map { $0.entities ?? $0.entity.map { [$0] } ?? [] } ?? []
  }
}

/// Whether what the server has is what was sent.
enum SentContent {
  /// Whether an entity has all the values that were sent.
  static func matches(_ sent: QueuedEntity, _ received: ODataEntity) -> Bool {
    sent.properties.allSatisfy { property in
      property.key != nil
        || received[property.name].map { equal(property.value.value, $0) } ?? (property.value.value == .null)
    }
  }

  /// Whether two values are the same to a service: numbers by value, moments by instant, complex values by what was sent.
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
