/// An entity type with a key.
public protocol ODataKeyed: ODataDescribed {
  /// The values of the key's properties.
  associatedtype Key: ODataKey
  /// The entity's key.
  var odataKey: Key { get }
}

/// The key of an entity: the values of its properties, with their names in the service.
public protocol ODataKey: Codable, Hashable, Sendable {
  /// The properties in the key's order.
  var odataParts: [(name: String, value: any ODataPrimitive)] { get }
}

/// A key of one property.
public protocol ODataSingleKey: ODataKey {
  /// The type of the property.
  associatedtype Value: ODataPrimitive

  /// Creates a key.
  init(_ value: Value)
}

extension ODataQuery where Entity: ODataKeyed {
  /// The entity with a key.
  public func key(_ key: Entity.Key) -> ODataQuery {
    let parts = key.odataParts
    if parts.count == 1, let part = parts.first { return self.key(part.value) }
    return with(arguments: parts.map { ODataArgument(name: $0.name, value: $0.value.odataExpression) })
  }
}
