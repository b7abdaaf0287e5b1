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
  /// Creates a value with all members of the given ones; without any, the member with the value 0, or the number 0.
  public init(_ values: Self...) { self.init(members: values) }

  /// Creates a value with all members of the given ones; without any, the member with the value 0, or the number 0.
  public init(arrayLiteral values: Self...) { self.init(members: values) }

  private init(members values: [Self]) {
    let names = values.flatMap(\.memberNames)
    let nothing = Self.odataMemberValues.filter { $0.value == 0 }.keys.min() ?? "0"
    self.init(rawValue: names.isEmpty ? nothing : names.joined(separator: ","))
  }

  /// No values: members are compared by their names.
  public static var odataMemberValues: [String: Int64] { [:] }

  /// Whether this value has all members of another one. Declared members are compared by their values, others by their
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
