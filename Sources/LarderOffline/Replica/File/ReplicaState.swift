/// The physical tables that a transaction sees. The state is read at the beginning of each transaction, and cached
/// while its version stays.
struct ReplicaState: Sendable, Hashable {
  /// A number that grows with every change of the names below.
  var version: Int64
  /// The quoted SQL name of each entity table, by number.
  var tables: [String]
  /// The quoted SQL name of each link table, by number.
  var links: [String]
  /// The quoted SQL name of each entity table's full-text index; nil if it has none yet.
  var search: [String?]
  /// Whether the local key of any row was replaced by the service's.
  var hasFormerKeys = false
  /// Whether rows may have values that do not fit their declared type (``RawValue``).
  var hasRawValues = false
  /// The defining queries, and which properties and links their rows have.
  var queries: [KnownQuery] = []
}
