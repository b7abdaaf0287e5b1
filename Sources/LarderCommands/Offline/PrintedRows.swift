internal import LarderOData

/// A result as a table: columns in the order in which they first appear, a row for each entity or value.
struct PrintedRows: Sendable {
  let columns: [String]
  /// The rows, each with one cell for each column; nil if a row lacks one.
  let rows: [[JSONNode?]]
  /// The total number of rows, if the result contains it.
  let count: String?
  /// The link to the next page of the result.
  let nextLink: String?

  /// Reads JSON of V2 or V4. `names` are the columns if there are no rows.
  init(_ result: JSONNode, names: [String] = []) {
    let content = result.members?.count == 1 ? result["d"] ?? result : result
    let items = content["value"]?.items ?? content["results"]?.items ?? content.items
    let objects: [JSONNode]
    if let items {
      objects = items
    } else if let single = content["value"] {
      objects = [single]
    } else {
      objects = [content]
    }
    count = (content["@odata.count"] ?? content["@count"] ?? content["__count"])?.text
    nextLink = (content["@odata.nextLink"] ?? content["@nextLink"] ?? content["__next"])?.string
    var columnIndices: [String: Int] = [:]
    var columns: [String] = []
    var rows: [[JSONNode?]] = []
    for object in objects {
      var row = [JSONNode?](repeating: nil, count: columns.count)
      for member in Self.cells(of: object) {
        let column: Int
        if let index = columnIndices[member.name] {
          column = index
        } else {
          column = columns.count
          columnIndices[member.name] = column
          columns.append(member.name)
          row.append(nil)
        }
        row[column] = member.value
      }
      rows.append(row)
    }
    self.columns = objects.isEmpty ? names : columns
    self.rows = rows.map { $0 + [JSONNode?](repeating: nil, count: columns.count - $0.count) }
  }

  /// The members that are data; entity references show their id.
  private static func cells(of object: JSONNode) -> [JSONNode.Member] {
    guard let members = object.members else { return [JSONNode.Member("value", object)] }
    let data = members.filter {
      !$0.name.contains("@") && $0.name != "__metadata" && $0.value["__deferred"] == nil
    }
    guard data.isEmpty, let id = object["@odata.id"] ?? object["@id"] ?? object["uri"] else { return data }
    return [JSONNode.Member("@id", id)]
  }

  /// The text of a cell: strings without quotes, nested values as JSON.
  static func text(_ cell: JSONNode?, null: String) -> String {
    switch cell {
    case nil, .null?: null
    case .string(let text)?, .number(let text)?: text
    case .boolean(let flag)?: flag ? "true" : "false"
    case .array?, .object?: cell.map(json) ?? null
    }
  }

  private static func json(_ node: JSONNode) -> String {
    let collector = Collector()
    var output = JSONOutput(collector.port, isIndented: false)
    output.node(node)
    try? output.flush()
    return collector.text
  }
}
