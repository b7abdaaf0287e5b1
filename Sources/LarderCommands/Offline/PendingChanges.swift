internal import LarderOData
internal import LarderOffline

/// The pending and rejected changes, grouped by entity.
struct PendingChanges {
  /// One entity, or one action without an entity.
  struct Entity {
    let path: String
    /// The methods of the pending requests, in their order.
    var methods: [String] = []
    /// The number of rejected requests.
    var failed = 0
    /// The number of requests that are held back because of a rejected one.
    var held = 0
  }

  /// The entities, in the order of their first changes.
  private(set) var entities: [Entity] = []
  private var indices: [String: Int] = [:]

  /// The number of pending changes whose responses were lost.
  private(set) var uncertain = 0

  var pendingCount: Int { entities.reduce(0) { $0 + $1.methods.count } }
  var failed: Int { entities.reduce(0) { $0 + $1.failed } }
  var held: Int { entities.reduce(0) { $0 + $1.held } }

  init(_ provider: OfflineODataProvider) async throws {
    for row in try await ArchiveSets.pending(provider) {
      entities[entityIndex(of: row)].methods.append(row["RequestMethod"]?.text ?? "")
      if row["Status"]?.string == "Uncertain" { uncertain += 1 }
    }
    for row in try await ArchiveSets.errors(provider) {
      if ErrorsText.isHeld(row) {
        entities[entityIndex(of: row)].held += 1
      } else {
        entities[entityIndex(of: row)].failed += 1
      }
    }
  }

  private mutating func entityIndex(of row: JSONNode) -> Int {
    let path = ErrorsText.entity(row)
    if let index = indices[path] { return index }
    indices[path] = entities.count
    entities.append(Entity(path: path))
    return entities.count - 1
  }

  /// A table of the changes, or a line that says there are none.
  func text(style: TextStyle) -> String {
    var summary = "changes  " + (pendingCount > 0 ? "\(pendingCount) pending" : "no pending changes")
    if uncertain > 0 {
      summary += " (\(uncertain) uncertain: the responses were lost; the next upload looks up the outcomes)"
    }
    if failed > 0 { summary += ", \(failed) rejected ('larder errors list' shows them)" }
    if held > 0 { summary += ", \(held) held with them" }
    summary += "\n"
    guard !entities.isEmpty else { return summary }
    let headings = ["entity", "pending", "rejected", "held", "requests"]
    let rows = entities.map { entity in
      [
        TerminalText.line(entity.path), "\(entity.methods.count)", "\(entity.failed)", "\(entity.held)",
        entity.methods.joined(separator: " "),
      ]
    }
    let widths = headings.indices.map { column in Columns.width(([headings] + rows).map { $0[column] }) }
    func line(_ cells: [String]) -> String {
      let padded = cells.enumerated().map { column, cell in
        (1...3).contains(column)
          ? Columns.padLeft(cell, widths[column]) : column == 4 ? cell : Columns.pad(cell, widths[0])
      }
      var line = padded.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }
    return summary + "\n" + style.bold(line(headings)) + rows.map(line).joined()
  }

  /// Writes `pending`, `uncertain`, `failed`, `held`, and `entities` with one object for each entity.
  func write(to json: inout JSONOutput) throws(OutputError) {
    json.member("pending", pendingCount)
    json.member("uncertain", uncertain)
    json.member("failed", failed)
    json.member("held", held)
    try json.member("entities", entities, always: true) { (json, entity) throws(OutputError) in
      json.beginObject()
      json.member("entity", entity.path)
      json.member("pending", entity.methods.count)
      json.member("failed", entity.failed)
      json.member("held", entity.held)
      try json.member("methods", entity.methods, always: true) { (json, method) throws(OutputError) in
        json.string(method)
      }
      json.endObject()
    }
  }
}
