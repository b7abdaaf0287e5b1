/// A type that others derive from. An instance has the values of its own type's properties, and also the whole value if
/// the service sent a derived type.
///
/// ```swift
/// if let employee = person.as(Employee.self) { … }
/// ```
public protocol ODataBaseType: ODataDescribed {
  /// The value as the directly derived type that the service sent, or that its type derives from; nil if the value has
  /// no derived type that is known.
  var odataDerived: ODataDerivedValue? { get }
}

extension ODataBaseType {
  /// The value as a type that derives from this one; nil if it is of another type.
  public func `as`<Derived: ODataDescribed>(_ type: Derived.Type) -> Derived? {
    var derived = odataDerived
    while let value = derived?.value {
      if let value = value as? Derived { return value }
      derived = (value as? any ODataBaseType)?.odataDerived
    }
    return nil
  }
}

/// A value of a type that derives from another.
public struct ODataDerivedValue: Hashable, Sendable {
  /// A described type whose values are coded and compared.
  public typealias Value = ODataDescribed & Codable & Hashable

  /// The value.
  public let value: any Value

  /// Stores a value.
  public init(_ value: any Value) { self.value = value }

  /// Encodes the value itself.
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }

  /// Whether type and value are equal.
  public static func == (left: ODataDerivedValue, right: ODataDerivedValue) -> Bool {
    AnyHashable(left.value) == AnyHashable(right.value)
  }

  /// Hashes the value.
  public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}

/// A value that is stored outside of the value that contains it, so that a type can contain itself.
public indirect enum ODataIndirect<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
  /// The value.
  case value(Value)

  /// Creates a stored value; nil for nil.
  public init?(_ value: Value?) {
    guard let value else { return nil }
    self = .value(value)
  }

  /// The value.
  public var value: Value {
    switch self {
    case .value(let value): value
    }
  }

  /// Decodes the value itself.
  public init(from decoder: any Decoder) throws { self = .value(try Value(from: decoder)) }
  /// Encodes the value itself.
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
