import LarderOData
import LarderStorage

// Arithmetic (URL Conventions 4.01 §5.1.1.2). If SQLite would round or overflow, functions of this store compute the
// result.
extension ExpressionWriter {
  func arithmetic(_ expression: ODataBoundExpression) throws -> SQLOperand? {
    guard case .binary(let name, let left, let right) = expression.kind,
      let function = ExpressionWriter.functions[name]
    else { return nil }
    let (lhs, rhs) = (try operand(left), try operand(right))
    let type = expression.type
    var result = SQLOperand(
      text: "", storage: type.storage, type: type, isNullable: lhs.isNullable || rhs.isNullable)
    if let (function, first, second) = temporal(name, lhs, rhs) {
      result.text = try fallible(function, [first.text, second.text], of: expression)
      return result
    }
    if let symbol = ExpressionWriter.symbols[name], isSmall(lhs), isSmall(rhs) {
      result.text = "\(operand: lhs.text) \(symbol) \(operand: rhs.text)"
      return result
    }
    // With a double and a decimal, the result is a double, as the type of the expression says.
    let (a, b) = type.storage == .real ? (real(lhs), real(rhs)) : (lhs, rhs)
    result.text = try fallible(function, [a.text, b.text], of: expression)
    result.canBeNaN = result.storage == .real || result.storage == nil
    return result
  }

  private static let functions: [ODataBinaryOperator: SQLText] = [
    .add: "larder_add", .subtract: "larder_sub", .multiply: "larder_mul", .divide: "larder_div",
    .divideBy: "larder_divby", .modulo: "larder_mod",
  ]

  private static let symbols: [ODataBinaryOperator: SQLText] = [.add: "+", .subtract: "-", .multiply: "*"]

  /// Whether an operand is a column or literal of at most 32 bits: SQLite's 64-bit arithmetic cannot overflow with two
  /// of them.
  private func isSmall(_ operand: SQLOperand) -> Bool {
    guard operand.storage == .integer, operand.hasCollation || operand.literal != nil else { return false }
    switch operand.type.item.primitive {
    case .byte, .sbyte, .int16, .int32: return true
    default: return false
    }
  }

  /// The function for dates and durations, with its arguments; nil for numbers.
  private func temporal(
    _ name: ODataBinaryOperator, _ lhs: SQLOperand, _ rhs: SQLOperand
  ) -> (function: SQLText, lhs: SQLOperand, rhs: SQLOperand)? {
    switch (name, lhs.storage, rhs.storage) {
    case (.add, .duration, .duration): return ("larder_duration_add", lhs, rhs)
    case (.subtract, .duration, .duration): return ("larder_duration_sub", lhs, rhs)
    case (.add, let timestamp?, .duration) where timestamp.isTimestamp: return ("larder_moment_add", lhs, rhs)
    case (.subtract, let timestamp?, .duration) where timestamp.isTimestamp: return ("larder_moment_sub", lhs, rhs)
    case (.subtract, let a?, let b?) where a.isTimestamp && b.isTimestamp: return ("larder_moment_diff", lhs, rhs)
    case (.multiply, .duration, _): return ("larder_duration_mul", lhs, rhs)
    case (.multiply, _, .duration): return ("larder_duration_mul", rhs, lhs)
    case (.divide, .duration, _), (.divideBy, .duration, _): return ("larder_duration_div", lhs, rhs)
    default: return nil
    }
  }

  /// The negation of an operand.
  ///
  /// - Parameter expression: the whole expression, with its sign.
  func negated(_ expression: ODataBoundExpression, _ operand: ODataBoundExpression) throws -> SQLOperand {
    let value = try self.operand(operand)
    var result = SQLOperand(text: "", storage: value.storage, type: expression.type, isNullable: value.isNullable)
    if value.storage == .duration {
      result.text = try fallible("larder_duration_neg", [value.text], of: expression)
    } else if isSmall(value) {
      result.text = .atom("(-\(operand: value.text))")
    } else {
      result.text = try fallible("larder_neg", [value.text], of: expression)
      result.canBeNaN = value.canBeNaN
    }
    return result
  }

  // MARK: case

  /// `case(condition:value,…)` (§5.1.1.12.1), with all values in one form.
  func conditional(_ branches: [ODataBoundBranch], _ type: ODataBoundType) throws -> SQLOperand {
    var values: [SQLOperand] = []
    for branch in branches { values.append(try operand(branch.value)) }
    let storage = commonStorage(values)
    var result = SQLOperand(text: "", storage: storage, type: type)
    var text: SQLText = "CASE"
    for (branch, value) in zip(branches, values) {
      var formed =
        switch storage {
        case .real: real(value)
        case .decimal: decimal(value)
        default: value
        }
      if type.item.primitive == .single, let number = value.literal.flatMap(SQLLiteral.double), !number.isNaN {
        formed.text = SQLText(.real(Double(Float(number))))
      }
      text.append(" WHEN \(try condition(branch.condition)) THEN \(formed.text)")
      result.canBeNaN = result.canBeNaN || formed.canBeNaN
    }
    text.append(" END")
    result.text = .atom(text)
    return result
  }

  private func commonStorage(_ values: [SQLOperand]) -> ColumnStorage? {
    // Null fits every storage.
    let storages = Set(values.filter { $0.literal != .null }.map(\.storage))
    guard storages.count > 1 else { return storages.first ?? nil }
    guard storages.allSatisfy({ $0?.isNumber == true }) else { return nil }
    return storages.contains(.real) ? .real : .decimal
  }
}

extension ColumnStorage {
  /// Whether values are dates, with or without a time.
  var isTimestamp: Bool { self == .date || self == .dateTimeOffset || self == .dateTime }
}
