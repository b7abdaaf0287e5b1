import LarderOData
import LarderStorage

/// The standard's aggregation methods (Data Aggregation 4.0 §3.2.1.3).
enum AggregateMethod: String {
  case sum
  case average
  case min
  case max
  case countdistinct

  init(_ name: String?) throws {
    guard let name, let method = AggregateMethod(rawValue: name) else {
      throw OfflineODataError.unsupported("the aggregation method \(name ?? "without a name")")
    }
    self = method
  }

  /// Applies the method to the values of a group. NULL values are ignored.
  func call(_ value: SQLOperand) -> SQLAggregateCall {
    switch self {
    case .sum: return SQLAggregateCall.sum(value)
    case .average:
      return SQLAggregateCall(
        text: .atom("larder_average(\(value.text))"), storage: value.storage == .real ? .real : .decimal,
        canBeNaN: value.storage == .real)
    case .min, .max:
      let name: SQLText = self == .min ? "min" : "max"
      return SQLAggregateCall(
        text: .atom("\(name)(\(value.collated))"), storage: value.storage, canBeNaN: value.canBeNaN)
    case .countdistinct: return .count("DISTINCT \(value.collated)")
    }
  }
}

/// An aggregate function's call as SQL.
struct SQLAggregateCall {
  let text: SQLText
  let storage: ColumnStorage?
  var canBeNaN = false

  /// A count. Counts are decimals, as the standard requires, so that a division keeps its fraction.
  static func count(_ text: SQLText) -> SQLAggregateCall {
    SQLAggregateCall(text: .atom("larder_to_decimal(count(\(text)))"), storage: .decimal)
  }

  static func sum(_ value: SQLOperand) -> SQLAggregateCall {
    switch value.storage {
    case .real:
      return SQLAggregateCall(text: .atom("larder_sum(\(value.text))"), storage: .real, canBeNaN: true)
    case .integer where value.type.item.primitive != .int64 && value.type.item.primitive?.isWhole == true:
      // SQLite adds 32-bit values up in 64 bits, which do not overflow.
      return SQLAggregateCall(text: .atom("larder_to_decimal(sum(\(value.text)))"), storage: .decimal)
    case .integer:
      return SQLAggregateCall(text: .atom("larder_sum(larder_to_decimal(\(value.text)))"), storage: .decimal)
    case .decimal:
      return SQLAggregateCall(text: .atom("larder_sum(\(value.text))"), storage: .decimal)
    default:
      return SQLAggregateCall(text: .atom("larder_to_decimal(larder_sum(\(value.text)))"), storage: .decimal)
    }
  }

  func operand(_ type: ODataBoundType) -> SQLOperand {
    SQLOperand(text: text, storage: storage, type: type, canBeNaN: canBeNaN)
  }
}

/// How the value of an item of `aggregate` is computed.
enum AggregateValue {
  /// A call over the rows themselves.
  case direct(SQLOperand, isCount: Bool)
  /// A statement of its own: the columns of the keys, then the value.
  case separate(SQLText, SQLOperand, isCount: Bool)

  var operand: SQLOperand {
    switch self {
    case .direct(let operand, _), .separate(_, let operand, _): operand
    }
  }
}
