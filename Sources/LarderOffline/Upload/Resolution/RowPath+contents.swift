import LarderOData

// The contents of updates as they were sent, for comparison. They contain the service's keys of entities that other
// changes created.
extension RowPath {
  /// The body as it was sent: references to keys are replaced by their values, and links by foreign keys are written as
  /// properties.
  func asSent(_ body: QueuedBody, of row: RowReference) -> QueuedBody {
    switch body {
    case .entity(var entity):
      entity.properties = entity.properties.map(asSent)
      let links = entity.links
      entity.links = []
      for link in links {
        if let keys = foreignKey(link, of: row) {
          entity.properties += keys
        } else {
          entity.links.append(link)
        }
      }
      return .entity(entity)
    case .properties(let properties): return .properties(properties.map(asSent))
    case .none, .parameters, .reference, .bytes, .media: return body
    }
  }

  /// The service's key of an entity of the store; nil if the service has not assigned one yet.
  func given(_ key: QueuedKey) -> ODataValue? { (try? location(of: key.row))?.key[key.property] }

  private func asSent(_ property: QueuedProperty) -> QueuedProperty {
    guard let key = property.key, let given = given(key) else { return property }
    return QueuedProperty(name: property.name, value: QueuedValue(given))
  }

  /// The entity's own properties that a link sets; nil if it sets none.
  func foreignKey(_ link: QueuedLink, of row: RowReference) -> [QueuedProperty]? {
    guard let table = snapshot.plan.table(row.table), let navigation = table.navigation(link.path),
      !link.isCollection,
      case .columns(let pairs) = navigation.relation, snapshot.plan.isDependent(navigation, table)
    else { return nil }
    let target = snapshot.plan.tables[navigation.target]
    var properties: [QueuedProperty] = []
    for pair in pairs {
      var value = ODataValue.null
      if case .row(let other)? = link.bindings.first {
        guard let place = target.key.firstIndex(of: pair.target),
          let given = given(QueuedKey(row: other, property: target.type.key[place].name))
        else { return nil }
        value = given
      } else if !link.isNull {
        return nil
      }
      guard let name = table.columns[pair.source].path.first, table.columns[pair.source].path.count == 1 else {
        return nil
      }
      properties.append(QueuedProperty(name: name, value: QueuedValue(value)))
    }
    return properties
  }
}
