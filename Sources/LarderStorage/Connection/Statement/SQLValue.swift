/// A value bound to a statement's parameter: SQLite's five storage classes.
package enum SQLValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  /// A text value, or NULL for nil.
  package static func text(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }
  /// An integer value, or NULL for nil.
  package static func integer(_ value: Int64?) -> SQLValue { value.map { .integer($0) } ?? .null }
  /// A blob value, or NULL for nil.
  package static func blob(_ value: [UInt8]?) -> SQLValue { value.map { .blob($0) } ?? .null }
}
