/// The properties of a value of an open type that the type does not declare, by their names in the service.
///
/// ```swift
/// if product.odataDynamic["Color"] == .string("red") { … }
/// product.odataDynamic["Color"] = .string("blue")
/// try await shop.products.update(product)
/// ```
///
/// A property that is null is absent. A literal gives the properties of a creation or update: `["Color": .string("red")]`.
public struct ODataDynamicProperties: Hashable, Sendable {
  private var values: [String: ODataValue]
  /// The values that were read. Both dictionaries have the same storage until a property is assigned.
  private var readValues: [String: ODataValue] = [:]

  private init(_ values: [String: ODataValue]) { self.values = values }

  /// Creates the properties that were read.
  init(read properties: [ODataProperty]) {
    let present = properties.filter { $0.value != .null }
    self.init(Dictionary(present.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last }))
    forgetChanges()
  }

  /// The value of a property; nil if there is none. An update sends null for a property that is set to nil.
  public subscript(name: String) -> ODataValue? {
    get { values[name] }
    set { values[name] = newValue }
  }

  /// All properties, in the order of their names.
  public var properties: [ODataProperty] {
    values.map { ODataProperty($0.key, $0.value) }.sorted { $0.name < $1.name }
  }

  /// The properties that have been changed since they were read, in the order of their names.
  public var changes: [ODataProperty] {
    let removed = readValues.keys.filter { values[$0] == nil }.map { ODataProperty($0, .null) }
    let assigned = values.filter { readValues[$0.key] != $0.value }.map { ODataProperty($0.key, $0.value) }
    return (removed + assigned).sorted { $0.name < $1.name }
  }

  /// Makes the present values those that were read.
  public mutating func forgetChanges() { readValues = values }

  /// Whether the values are equal.
  public static func == (left: ODataDynamicProperties, right: ODataDynamicProperties) -> Bool {
    left.values == right.values
  }

  /// Hashes the values.
  public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

extension ODataDynamicProperties: ExpressibleByDictionaryLiteral {
  /// Creates properties, all of which are changes. The last of several values with one name counts.
  public init(dictionaryLiteral properties: (String, ODataValue)...) {
    self.init(Dictionary(properties, uniquingKeysWith: { _, last in last }))
  }
}

extension ODataDynamicProperties: CustomStringConvertible {
  /// The names of the properties; their values may be personal data.
  public var description: String { "[\(values.keys.sorted().joined(separator: ", "))]" }
}
