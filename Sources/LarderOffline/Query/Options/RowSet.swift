import LarderOData
import LarderStorage

/// The rows that query options apply to: the result of a path or of `$apply`.
struct RowSet {
  var rows: RelatedRows
  /// A row: an entity, or a row that `$apply` or `$crossjoin` has computed.
  var scope: Scope
  /// The set or singleton that entities come from.
  var source: ODataBoundSource?
  /// The names of a computed row's members, in their order.
  var names: [String] = []
  /// The order that the rows already have; empty for the order of the key.
  var order: [OrderTerm] = []
  /// The terms that identify a row, added at the end of every order; empty for an entity's key.
  var identity: [OrderTerm] = []
  /// Whether there is at most one row.
  var isSingle = false
}

/// One term of an order.
struct OrderTerm {
  /// The value, as it is compared.
  let value: SQLOperand
  var isDescending = false

  /// The term in ORDER BY. NULL is the least value, as the standard requires (URL Conventions 4.01 §5.1.5).
  var text: SQLText { isDescending ? "\(value.collated) DESC" : value.collated }
}
