import LarderOData

/// What an entity looks like behind later requests of its transaction: a service shows it so, and not as one of them alone
/// has sent it. Pure.
enum LaterChanges: Hashable, Sendable {
  /// It has these values, where it is as it was sent. What cannot be told is not in it.
  case like(QueuedEntity)
  /// One of them deletes it.
  case gone
  /// One of them is an action of its own: what that does is the service's.
  case unclear

  /// Lays the later requests of a transaction over what one of its requests has sent.
  ///
  /// - Parameters:
  ///   - sent: the body of the request, with its row, and those of the entities that are made with it.
  ///   - later: the requests behind it, in their order; those of other entities change nothing.
  static func of(_ sent: QueuedEntity, _ later: some Sequence<QueuedRequest>) -> LaterChanges {
    var entity = sent
    for request in later {
      for place in entity.links.indices {
        var left: [QueuedEntity] = []
        for child in entity.links[place].entities {
          switch of(child, [request]) {
          case .like(let child): left.append(child)
          case .gone: break
          case .unclear: left.append(QueuedEntity(typeName: child.typeName, row: child.row, links: child.links))
          }
        }
        entity.links[place].entities = left
      }
      guard let row = entity.row, request.entity == row, !request.makesEntity else { continue }
      switch request.operation {
      case .delete: return .gone
      case .action: return .unclear
      default: entity.take(request)
      }
    }
    return .like(entity)
  }
}

extension QueuedEntity {
  /// Takes a later change of the entity; a value that is said in part, or as bytes, is told no more.
  fileprivate mutating func take(_ request: QueuedRequest) {
    let name = request.target.path.prefix { $0 != "/" }.description
    let isWhole = name == request.target.path
    switch (request.operation, request.body) {
    case (.replace, .entity(let body)):
      // What it leaves out has its default.
      properties = body.properties
      links = links.filter { link in !body.links.contains { $0.name == link.name } } + body.links
    case (.patch, .entity(let body)), (.merge, .entity(let body)):
      for property in body.properties { set(property.name, to: property) }
      links = links.filter { link in !body.links.contains { $0.name == link.name } } + body.links
    case (.replaceProperty, .properties(let values)), (.patchProperty, .properties(let values)):
      set(name, to: isWhole && values.first?.name == name ? values.first : nil)
    case (.deleteProperty, _):
      set(name, to: isWhole ? QueuedProperty(name: name, value: QueuedValue(.null)) : nil)
    case (.replaceValue, _): set(name, to: nil)
    case (.updateLink, .reference(let reference)):
      links.removeAll { $0.name == name }
      links.append(QueuedLink(name: name, isCollection: false, bindings: [reference]))
    case (.createLink, .reference(let reference)):
      links.append(QueuedLink(name: name, isCollection: true, bindings: [reference]))
    case (.deleteLink, .reference(let reference)):
      for place in links.indices where links[place].name == name {
        links[place].bindings.removeAll { $0 == reference }
      }
    case (.deleteLink, _): links.removeAll { $0.name == name }
    default: break
    }
  }

  private mutating func set(_ name: String, to property: QueuedProperty?) {
    properties.removeAll { $0.name == name }
    if let property { properties.append(property) }
  }
}
