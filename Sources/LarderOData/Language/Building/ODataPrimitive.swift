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

/// An enumeration type whose members can be combined. A value has the names of its members, joined by commas.
///
/// Several members are written as an array literal: `[.gift, .fast]`; `[]` is the member with the value 0.
public protocol ODataFlags: ODataEnumeration, RawRepresentable, ExpressibleByArrayLiteral
where RawValue == String, ArrayLiteralElement == Self {
  /// Creates a value by the names of its members.
  init(rawValue: String)

  /// The values of the declared members, by their names; empty if they are not known.
  static var odataMemberValues: [String: Int64] { get }
}

extension ODataFlags {
  /// Creates a value with all members of others; without any, the member with the value 0, or the number 0.
  public init(_ values: Self...) { self.init(members: values) }

  /// Creates a value with all members of others; without any, the member with the value 0, or the number 0.
  public init(arrayLiteral values: Self...) { self.init(members: values) }

  private init(members values: [Self]) {
    let names = values.flatMap(\.memberNames)
    let nothing = Self.odataMemberValues.filter { $0.value == 0 }.keys.min() ?? "0"
    self.init(rawValue: names.isEmpty ? nothing : names.joined(separator: ","))
  }

  /// No values: members are compared by their names.
  public static var odataMemberValues: [String: Int64] { [:] }

  /// Whether all members of another value are in this one: by their values, and those that are not declared by their
  /// names.
  public func contains(_ other: Self) -> Bool {
    let (members, others) = (members, other.members)
    return members.value & others.value == others.value && members.unknownNames.isSuperset(of: others.unknownNames)
  }

  /// A value that is equal for two values with the same members: the combined value of those that are declared, and the
  /// names of the others in alphabetical order.
  public var odataIdentity: [String] {
    let members = members
    return [String(members.value)] + members.unknownNames.sorted()
  }

  /// The combined value of the members that are declared, or numbers, and the names of the others.
  private var members: (value: Int64, unknownNames: Set<String>) {
    let values = Self.odataMemberValues
    var members: (value: Int64, unknownNames: Set<String>) = (0, [])
    for name in memberNames {
      if let value = values[name] ?? Int64(name) {
        members.value |= value
      } else {
        members.unknownNames.insert(name)
      }
    }
    return members
  }

  private var memberNames: [String] {
    rawValue.split(separator: ",").map { String($0.drop { $0 == " " }) }
  }
}
