/// The binary operators, except `and`, `or` and `in` (URL Conventions 4.01 §5.1.1.1 to §5.1.1.3).
package enum ODataBinaryOperator: String, Sendable, Hashable, CaseIterable {
  /// Equals.
  case equal = "eq"
  /// Does not equal.
  case notEqual = "ne"
  /// Less than.
  case less = "lt"
  /// Less than or equal.
  case lessOrEqual = "le"
  /// Greater than.
  case greater = "gt"
  /// Greater than or equal.
  case greaterOrEqual = "ge"
  /// Whether all given flags are set.
  case has = "has"
  /// Sum.
  case add = "add"
  /// Difference.
  case subtract = "sub"
  /// Product.
  case multiply = "mul"
  /// Quotient; for two integers, an integer.
  case divide = "div"
  /// Quotient with a fraction (4.01).
  case divideBy = "divby"
  /// Remainder.
  case modulo = "mod"

  /// The precedence (§5.1.1.17); a higher one binds tighter. `or` has 1, `and` 2, unary operators 7, `in` 8 as `has`.
  package var precedence: Int {
    switch self {
    case .equal, .notEqual: 3
    case .less, .lessOrEqual, .greater, .greaterOrEqual: 4
    case .add, .subtract: 5
    case .multiply, .divide, .divideBy, .modulo: 6
    case .has: ODataBinaryOperator.primaryPrecedence
    }
  }

  /// The precedence of `has` and `in`.
  static let primaryPrecedence = 8
}
