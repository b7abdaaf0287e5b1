/// The position of an item in a coding path.
package struct ItemKey: CodingKey {
  package let intValue: Int?
  package var stringValue: String { intValue.map { "Index \($0)" } ?? "" }

  package init(intValue: Int) { self.intValue = intValue }
  package init?(stringValue: String) { nil }
}

/// The name of a member in a coding path.
struct MemberKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}
