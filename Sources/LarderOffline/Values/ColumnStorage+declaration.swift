extension ColumnStorage {
  /// The class and collation of a column in `CREATE TABLE`: `TEXT COLLATE larder_decimal`.
  ///
  /// The table is not STRICT: NaN, which SQLite's REAL has not, stands as a text in a REAL column.
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

  /// The collation that an expression of the kind has to be compared with; nil where bytes decide.
  var collation: String? {
    switch self {
    case .decimal: "larder_decimal"
    case .date, .dateTimeOffset, .dateTime: "larder_moment"
    case .duration: "larder_duration"
    default: nil
    }
  }
}
