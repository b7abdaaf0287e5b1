/// A type that others derive from. An instance has the values of its own type's properties, and also the whole value if
/// the service sent a derived type.
///
/// ```swift
/// if let employee = person.as(Employee.self) { … }
/// ```
public protocol ODataBaseType: ODataDescribed {
  /// The value as the directly derived type that the service sent, or that its type derives from; nil if the value has
  /// no derived type that is known.
  var odataDerivedValue: (any ODataDescribed)? { get }
}

extension ODataBaseType {
  /// The value as a type that derives from this one; nil if it is of another type.
  public func `as`<Derived: ODataDescribed>(_ type: Derived.Type) -> Derived? {
    var value: (any ODataDescribed)? = odataDerivedValue
    while let current = value {
      if let derived = current as? Derived { return derived }
      value = (current as? any ODataBaseType)?.odataDerivedValue
    }
    return nil
  }
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
    switch self { case .value(let value): value }
  }

  /// Decodes the value itself.
  public init(from decoder: any Decoder) throws { self = .value(try Value(from: decoder)) }
  /// Encodes the value itself.
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
