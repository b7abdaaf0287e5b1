import LarderOData
import LarderStorage

/// The rows that options stand on: what a path or `$apply` has come to.
struct RowSet {
  var rows: RelatedRows
  /// A row: an entity, or what `$apply` and `$crossjoin` have made.
  var scope: Scope
  /// The set or singleton that entities come from.
  var source: ODataBoundSource?
  /// The names of a made row's members, in their order.
  var names: [String] = []
  /// An order that the rows have already; empty for that of the key.
  var order: [OrderTerm] = []
  /// What tells the rows apart, behind every order; empty for an entity's key.
  var identity: [OrderTerm] = []
  /// Whether there is one row at most.
  var isSingle = false
}

/// One term of an order.
struct OrderTerm {
  /// The value, as it is compared.
  let value: SQLOperand
  var isDescending = false

  /// The term in ORDER BY. NULL is the least value, as the standard wants it (URL Conventions 4.01 §5.1.5).
  var text: SQLText { isDescending ? "\(value.collated) DESC" : value.collated }
}
