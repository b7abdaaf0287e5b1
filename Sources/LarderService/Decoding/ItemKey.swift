/// The position of an item in a coding path.
package struct ItemKey: CodingKey {
  package let intValue: Int?
  package var stringValue: String { intValue.map { "Index \($0)" } ?? "" }

  package init(intValue: Int) { self.intValue = intValue }
  package init?(stringValue: String) { nil }
}
