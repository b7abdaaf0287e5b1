import OData

/// Entities that are made with another one, and how those of an answer are known.
enum DeepInsert {
  /// Whether a request makes entities inside the one that it is about.
  static func hasChildren(_ request: QueuedRequest) -> Bool { !expand(request).isEmpty }

  /// The navigation properties to expand so that all that a request makes is read, as `Items($expand=Notes)`.
  static func expand(_ request: QueuedRequest, isV4: Bool = true) -> String {
    guard case .entity(let entity) = request.body else { return "" }
    return isV4 ? nested(entity) : paths(entity).joined(separator: ",")
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

  /// Each entity made inside, at any depth, with the one of the answer that it is: the one that has all the values that
  /// were sent, in order where several have.
  static func pairs(_ made: QueuedEntity, _ found: ODataEntity?) -> [(QueuedEntity, ODataEntity?)] {
    var all: [(QueuedEntity, ODataEntity?)] = []
    for link in made.links where !link.entities.isEmpty {
      var candidates = found?.navigationLink(link.name).map { $0.entities ?? $0.entity.map { [$0] } ?? [] } ?? []
      for child in link.entities {
        let place = candidates.firstIndex { SentContent.matches(child, $0) }
        let match = place.map { candidates.remove(at: $0) }
        all.append((child, match))
        all += pairs(child, match)
      }
    }
    return all
  }
}

/// Whether what the server has is what was sent.
enum SentContent {
  /// Whether an entity has all the values that were sent.
  static func matches(_ sent: QueuedEntity, _ found: ODataEntity) -> Bool {
    sent.properties.allSatisfy { property in
      property.key != nil
        || found[property.name].map { equal(property.value.value, $0) } ?? (property.value.value == .null)
    }
  }

  /// Whether two values are the same to a service: numbers by value, moments by instant, complex values by what was sent.
  static func equal(_ sent: ODataValue, _ found: ODataValue) -> Bool {
    if sent == found { return true }
    switch (sent, found) {
    case (.complex(let sent), .complex(let found)):
      return sent.properties.allSatisfy { property in
        found.properties.first { $0.name == property.name }.map { equal(property.value, $0.value) }
          ?? (property.value == .null)
      }
    case (.collection(let sent), .collection(let found)):
      return sent.count == found.count && zip(sent, found).allSatisfy { equal($0, $1) }
    case (.dateTimeOffset(let sent), .dateTimeOffset(let found)): return !(sent < found) && !(found < sent)
    default:
      if let sent = sent.exactNumber, let found = found.exactNumber { return sent == found }
      return false
    }
  }
}
