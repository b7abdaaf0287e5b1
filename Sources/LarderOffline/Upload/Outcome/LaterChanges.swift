import LarderOData

/// An entity as later requests of its transaction leave it. The service returns it in this state, and not as one of the
/// requests has sent it. This type does no I/O.
enum LaterChanges: Hashable, Sendable {
  /// It has these values, if it exists as it was sent. Values that cannot be determined are left out.
  case like(QueuedEntity)
  /// One of the requests deletes it.
  case gone
  /// One of the requests is an action, whose effect only the service knows.
  case unclear

  /// Applies the later requests of a transaction to the content that one of its requests has sent.
  ///
  /// - Parameters:
  ///   - sent: the body of the request, with its row, and those of the entities that are created together with it.
  ///   - later: the requests after it, in their order. Requests of other entities have no effect.
  static func of(_ sent: QueuedEntity, _ later: some Sequence<QueuedRequest>) -> LaterChanges {
    var entity = sent
    for request in later {
      for place in entity.links.indices {
        var remaining: [QueuedEntity] = []
        for child in entity.links[place].entities {
          switch of(child, [request]) {
          case .like(let child): remaining.append(child)
          case .gone: break
          case .unclear: remaining.append(QueuedEntity(typeName: child.typeName, row: child.row, links: child.links))
          }
        }
        entity.links[place].entities = remaining
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
  /// Applies a later change of the entity. A value that is set partially, or as bytes, is no longer known.
  fileprivate mutating func take(_ request: QueuedRequest) {
    let name = request.target.path.prefix { $0 != "/" }.description
    let isWhole = name == request.target.path
    switch (request.operation, request.body) {
    case (.replace, .entity(let body)):
      // Properties that it leaves out get their default.
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
