import LarderOData

/// A JSON value, written as a literal: of the properties of a row.
///
/// ```swift
/// let order: ODataTestRow = ["ID": 1, "Note": "tea", "Price": 2.5, "Paid": true, "Buyer": nil, "Items": [["ID": 7]]]
/// ```
///
/// Decimals with many digits, dates and identifiers are strings, as in a payload: `"2026-05-01"`.
public struct ODataTestValue: Sendable, Hashable {
  let node: JSONNode

  init(_ node: JSONNode) { self.node = node }

  /// The text of a string; nil for other values.
  public var string: String? { node.string }
  /// The number, if it is an integer; nil for other values.
  public var int: Int? { if case .number(let digits) = node { Int(digits) } else { nil } }
  /// The number, also that of the strings `NaN`, `INF` and `-INF`; nil for other values.
  public var double: Double? {
    switch node {
    case .number(let digits): Double(digits)
    case .string("NaN"): .nan
    case .string("INF"): .infinity
    case .string("-INF"): -.infinity
    default: nil
    }
  }
  /// The truth value; nil for other values.
  public var bool: Bool? { if case .boolean(let flag) = node { flag } else { nil } }
  /// Whether the value is null.
  public var isNull: Bool { node == .null }
  /// The items of an array; nil for other values.
  public var array: [ODataTestValue]? { node.items?.map { ODataTestValue($0) } }
  /// The members of an object; nil for other values.
  public var object: ODataTestRow? {
    node.members.map { ODataTestRow($0.map { ($0.name, ODataTestValue($0.value)) }) { $1 } }
  }
}

/// The properties of an entity by their names. A navigation property has the related rows, or `Name@odata.bind` has the
/// paths of existing rows.
public typealias ODataTestRow = [String: ODataTestValue]

extension ODataTestValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Creates a string.
  public init(stringLiteral text: String) { node = .string(text) }
  /// Creates an integer.
  public init(integerLiteral number: Int) { node = .number(String(number)) }
  /// Creates a number.
  public init(floatLiteral number: Double) { node = JSONNode(number) }
  /// Creates a truth value.
  public init(booleanLiteral flag: Bool) { node = .boolean(flag) }
  /// Creates null.
  public init(nilLiteral: ()) { node = .null }
  /// Creates an array.
  public init(arrayLiteral items: ODataTestValue...) { node = .array(items.map(\.node)) }
  /// Creates an object.
  public init(dictionaryLiteral members: (String, ODataTestValue)...) {
    node = .object(members.map { JSONNode.Member($0.0, $0.1.node) })
  }

  /// Creates a string.
  public init(_ text: String) { node = .string(text) }
  /// Creates an integer.
  public init(_ number: Int) { node = .number(String(number)) }
  /// Creates a number.
  public init(_ number: Double) { node = JSONNode(number) }
  /// Creates a truth value.
  public init(_ flag: Bool) { node = .boolean(flag) }
  /// Creates an object.
  public init(_ row: ODataTestRow) { node = JSONNode(row) }
}

extension ODataTestValue: CustomStringConvertible {
  /// The value as JSON.
  public var description: String { node.json }
}

extension JSONNode {
  /// The object with the properties of a row, in the order of their names.
  init(_ row: ODataTestRow) {
    self = .object(row.sorted { $0.key < $1.key }.map { Member($0.key, $0.value.node) })
  }

  /// The node as compact JSON.
  var json: String { String(decoding: bytes, as: UTF8.self) }

  /// The node as compact JSON.
  var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.node(self)
    return writer.bytes
  }

  /// A number; 2.0 becomes `2`, as the service writes it. Numbers that JSON does not have are the strings of OData
  /// (JSON Format 4.01 §7.1).
  fileprivate init(_ number: Double) {
    if number.isFinite {
      self = .number(Int64(exactly: number).map { String($0) } ?? String(number))
    } else {
      self = .string(number.isNaN ? "NaN" : number < 0 ? "-INF" : "INF")
    }
  }
}
