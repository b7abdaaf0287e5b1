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

  /// The entity to send, with the name of its type where the service needs it.
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

/// Properties that are collected for a request.
public struct ODataPropertyList: Sendable {
  /// The properties so far.
  public private(set) var properties: [ODataProperty] = []

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
}
