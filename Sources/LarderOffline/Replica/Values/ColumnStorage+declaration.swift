extension ColumnStorage {
  /// The type and collation of a column in `CREATE TABLE`: `TEXT COLLATE larder_decimal`.
  ///
  /// The table is not STRICT: SQLite's REAL has no NaN, so a REAL column stores NaN as a text.
  var sqlDeclaration: String {
    switch self {
    case .boolean, .integer, .enumeration: "INTEGER"
    case .real: "REAL"
    case .decimal: "TEXT COLLATE larder_decimal"
    case .date, .dateTimeOffset, .dateTime: "TEXT COLLATE larder_moment"
    case .duration: "TEXT COLLATE larder_duration"
    case .string, .guid, .timeOfDay, .geo, .json, .complex, .dynamic, .stream: "TEXT"
    case .binary: "BLOB"
    }
  }

  /// The collation for comparisons of expressions with this storage; nil if they are compared by bytes.
  var collation: String? {
    switch self {
    case .decimal: "larder_decimal"
    case .date, .dateTimeOffset, .dateTime: "larder_moment"
    case .duration: "larder_duration"
    default: nil
    }
  }
}
