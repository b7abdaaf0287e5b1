#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A Swift type whose values can be written as literals of one Edm type.
public protocol ODataPrimitive: ODataConvertible {
  /// The type's name, as used in `cast`: `Edm.Int32`, `Sales.Color`.
  static var odataTypeName: String { get }
  /// The value as an expression.
  var odataExpression: ODataExpression { get }
}

/// A type with an order: `<`, `<=`, `>` and `>=` (URL Conventions 4.01 §5.1.1.1).
public protocol ODataOrdered: ODataPrimitive {}

/// A numeric type (§5.1.1.2).
public protocol ODataNumeric: ODataOrdered {}

/// A type with a date: `year`, `month`, `day` (§5.1.1.8).
public protocol ODataDated: ODataOrdered {}

/// A type with a time of day: `hour`, `minute`, `second` (§5.1.1.8).
public protocol ODataTimed: ODataOrdered {}

/// A member of an enumeration type, or several if the type has flags.
///
/// ```swift
/// enum Color: String, ODataEnumeration {
///   case red = "Red", yellow = "Yellow"
///   static let odataTypeName = "Sales.Color"
/// }
/// ```
public protocol ODataEnumeration: ODataPrimitive {
  /// The member's name or number; several are joined by commas.
  var odataMembers: String { get }
}

extension ODataEnumeration {
  /// `Sales.Color'Red'`
  public var odataExpression: ODataExpression {
    ODataExpression(.enumeration(ODataEnumerationLiteral(typeName: Self.odataTypeName, members: odataMembers)))
  }
}

extension ODataEnumeration where Self: RawRepresentable, RawValue == String {
  /// The member's name, which is the raw value.
  public var odataMembers: String { rawValue }
}

extension ODataPrimitive {
  static func literal(_ value: ODataValue) -> ODataExpression { ODataExpression(.literal(value)) }
}

extension Bool: ODataPrimitive {
  /// `Edm.Boolean`
  public static var odataTypeName: String { "Edm.Boolean" }
  /// `true` or `false`
  public var odataExpression: ODataExpression { Self.literal(.boolean(self)) }
}

extension String: ODataOrdered {
  /// `Edm.String`
  public static var odataTypeName: String { "Edm.String" }
  /// `'…'`
  public var odataExpression: ODataExpression { Self.literal(.string(self)) }
}

extension Int8: ODataNumeric {
  /// `Edm.SByte`
  public static var odataTypeName: String { "Edm.SByte" }
  /// The number.
  public var odataExpression: ODataExpression { Self.literal(.sbyte(self)) }
}

extension UInt8: ODataNumeric {
  /// `Edm.Byte`
  public static var odataTypeName: String { "Edm.Byte" }
  /// The number.
  public var odataExpression: ODataExpression { Self.literal(.byte(self)) }
}

extension Int16: ODataNumeric {
  /// `Edm.Int16`
  public static var odataTypeName: String { "Edm.Int16" }
  /// The number.
  public var odataExpression: ODataExpression { Self.literal(.int16(self)) }
}

extension Int32: ODataNumeric {
  /// `Edm.Int32`
  public static var odataTypeName: String { "Edm.Int32" }
  /// The number.
  public var odataExpression: ODataExpression { Self.literal(.int32(self)) }
}

extension Int64: ODataNumeric {
  /// `Edm.Int64`
  public static var odataTypeName: String { "Edm.Int64" }
  /// The number.
  public var odataExpression: ODataExpression { Self.literal(.int64(self)) }
}

extension Int: ODataNumeric {
  /// `Edm.Int64`
  public static var odataTypeName: String { "Edm.Int64" }
  /// The number; in V2 with its suffix, `5L`.
  public var odataExpression: ODataExpression { Self.literal(.int64(Int64(self))) }
}

extension Float: ODataNumeric {
  /// `Edm.Single`
  public static var odataTypeName: String { "Edm.Single" }
  /// The number.
  public var odataExpression: ODataExpression { Self.literal(.single(self)) }
}

extension Double: ODataNumeric {
  /// `Edm.Double`
  public static var odataTypeName: String { "Edm.Double" }
  /// The number.
  public var odataExpression: ODataExpression { Self.literal(.double(self)) }
}

extension ODataDecimal: ODataNumeric {
  /// `Edm.Decimal`
  public static var odataTypeName: String { "Edm.Decimal" }
  /// The number.
  public var odataExpression: ODataExpression { Self.literal(.decimal(self)) }
}

extension ODataDecimal: ExpressibleByFloatLiteral {
  /// Creates the shortest decimal that reads back as the same `Double`: exact for literals of up to 15 digits.
  public init(floatLiteral value: Double) { self.init(value) }
}

extension ODataGuid: ODataPrimitive {
  /// `Edm.Guid`
  public static var odataTypeName: String { "Edm.Guid" }
  /// The 128 bits.
  public var odataExpression: ODataExpression { Self.literal(.guid(self)) }
}

extension UUID: ODataPrimitive {
  /// `Edm.Guid`
  public static var odataTypeName: String { "Edm.Guid" }
  /// The 128 bits.
  public var odataExpression: ODataExpression { Self.literal(.guid(ODataGuid(self))) }
}

extension Data: ODataPrimitive {
  /// `Edm.Binary`
  public static var odataTypeName: String { "Edm.Binary" }
  /// The bytes.
  public var odataExpression: ODataExpression { Self.literal(.binary(self)) }
}

extension ODataGeo: ODataPrimitive {
  /// `Edm.Geography`
  public static var odataTypeName: String { "Edm.Geography" }
  /// The shape.
  public var odataExpression: ODataExpression { Self.literal(.geo(self)) }
}
