import LarderOData

/// The last operations of a store, as an entity set of the store's own. It is read like any other set:
/// `EventLog?$top=5`.
enum EventLog {
  /// The number of operations that are kept.
  static let limit = 100

  /// One operation.
  struct Record: Codable, Sendable, Hashable {
    /// The kind of operation: `Open`, `Download`, `Query`, `Clear`, `Metadata` …
    var type: String
    /// The defining query that the operation concerns.
    var query: String?
    /// The strategy of its download.
    var strategy: String?
    var rows: Int64?
    var bytes: Int64?
    var pages: Int?
    var milliseconds: Int64?
    /// Remarks on the operation, and the error's message.
    var details: String?
    /// The error's number; nil for an operation that succeeded.
    var errorCode: Int?
  }

  /// The member of the record that each property is read from.
  private static let members = [
    "EventType": "type", "DefiningQuery": "query", "Rows": "rows", "Bytes": "bytes", "Pages": "pages",
    "Milliseconds": "milliseconds", "Details": "details", "ErrorCode": "errorCode",
  ]

  /// The rows of the log, with the columns that a query expects.
  static func source(_ table: EntityTable) -> String {
    var columns = SystemColumn.allCases.map { column in
      let value =
        switch column {
        case .id: "id"
        case .type, .queries, .state: "0"
        case .parent, .etag, .uri, .media: "NULL"
        }
      return "\(value) AS \"\(column.rawValue)\""
    }
    for column in table.columns {
      let value =
        switch column.name {
        case "EventID": "id"
        case "Time": "strftime('%Y-%m-%dT%H:%M:%fZ', time, 'unixepoch')"
        // Earlier versions called it `way`.
        case "Strategy": "coalesce(json_extract(text, '$.strategy'), json_extract(text, '$.way'))"
        default: "json_extract(text, '$.\(members[column.name] ?? column.name)')"
        }
      columns.append("\(value) AS \"\(column.name)\"")
    }
    return "(SELECT \(columns.joined(separator: ",")) FROM larder_event)"
  }
}
