/// A value that can be the value of a property in a request.
public protocol ODataConvertible: Sendable {
  /// The value as a payload contains it.
  var odataValue: ODataValue { get }
}

extension ODataPrimitive {
  /// The value as a payload contains it.
  public var odataValue: ODataValue {
    switch odataExpression.kind {
    case .literal(let value): value
    case .enumeration(let literal): .enumeration(literal.members)
    default: .null
    }
  }
}

/// The properties that a request creates or changes.
public protocol ODataChange: Hashable, Sendable {
  /// The properties in their order, with their names in the service.
  var odataProperties: [ODataProperty] { get }
  /// The related entities, new or existing, by the names of their navigation properties in the service.
  var odataLinks: [ODataNavigationLink] { get }
}

extension ODataChange {
  /// No related entities.
  public var odataLinks: [ODataNavigationLink] { [] }

  /// The entity to send, with the name of its type if the service needs it.
  public func odataEntity(of type: String? = nil) -> ODataEntity {
    ODataEntity(typeName: type, properties: odataProperties, navigationLinks: odataLinks)
  }
}

/// A complex value of a generated type.
public protocol ODataComplex: ODataDescribed, ODataConvertible {}

extension Array: ODataConvertible where Element: ODataConvertible {
  /// A collection of the values.
  public var odataValue: ODataValue { .collection(map(\.odataValue)) }
}

extension Optional: ODataConvertible where Wrapped: ODataConvertible {
  /// The value, or null.
  public var odataValue: ODataValue { map(\.odataValue) ?? .null }
}

/// Properties that are collected for a request, and entities that are parameters of an action.
public struct ODataPropertyList: Sendable {
  /// The properties so far.
  public private(set) var properties: [ODataProperty] = []
  /// The entities so far, by the names of their parameters.
  package private(set) var entities: [ODataNavigationLink] = []

  /// Creates an empty list.
  public init() {}

  /// Adds a property.
  public mutating func set(_ name: String, _ value: some ODataConvertible) {
    properties.append(ODataProperty(name, value.odataValue))
  }

  /// Adds a property, unless its value is nil. An optional value inside of the optional can be null.
  public mutating func setIfGiven(_ name: String, _ value: (some ODataConvertible)?) {
    if let value { set(name, value) }
  }

  /// Adds an entity of a type as a parameter.
  public mutating func set(_ name: String, _ entity: some ODataChange, of type: String) {
    entities.append(ODataNavigationLink(name: name, content: .entity(entity.odataEntity(of: type))))
  }

  /// Adds entities of a type as a parameter.
  public mutating func set(_ name: String, _ entities: [some ODataChange], of type: String) {
    let entities = entities.map { $0.odataEntity(of: type) }
    self.entities.append(
      ODataNavigationLink(name: name, content: .collection(ODataEntityCollection(entities: entities))))
  }

  /// Adds entities of a type as a parameter, unless they are nil.
  public mutating func setIfGiven(_ name: String, _ entities: [some ODataChange]?, of type: String) {
    if let entities { set(name, entities, of: type) }
  }

  /// Adds an entity of a type as a parameter, unless it is nil.
  public mutating func setIfGiven(_ name: String, _ entity: (some ODataChange)?, of type: String) {
    if let entity { set(name, entity, of: type) }
  }
}
