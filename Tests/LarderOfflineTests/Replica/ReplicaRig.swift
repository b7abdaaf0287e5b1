import LarderOData
import LarderStorage
import LarderTestSupport

@testable import LarderCrashRig
@testable import LarderOffline

/// A store's file in a temporary folder, with all tables of a model.
final class ReplicaRig: Sendable {
  let folder: TemporaryFolder
  let replica: Replica

  /// Opens a new file with a `$metadata` document.
  ///
  /// - Parameter makesTables: whether all tables are created at once, so that SQL can insert rows too.
  init(metadata: String, makesTables: Bool = true) async throws {
    folder = try TemporaryFolder()
    replica = try await Replica.open(
      path: folder.file("store.db"), key: try RigKey.fromEnvironment(), synchronous: .normal)
    _ = try await replica.adopt(metadata: Array(metadata.utf8))
    if makesTables { try await makeTables() }
  }

  func makeTables() async throws {
    try await replica.write { (snapshot) throws(StorageError) in
      let connection = snapshot.connection
      var registry = try ReplicaRegistry(snapshot.plan, connection)
      for table in snapshot.plan.tables { _ = try registry.make(table: table.number, connection) }
      for link in snapshot.plan.links { _ = try registry.make(links: link.number, connection) }
      try connection.countVersionUp()
    }
  }

  /// Rows of a statement as text: columns separated by `|`, NULL as `-`. `{Orders}` names a table, `{Orders/Tags}` links.
  func rows(_ sql: String) async throws -> [String] {
    try await replica.read { (snapshot) throws(StorageError) in
      let statement = ReplicaRig.resolve(sql, snapshot)
      return try snapshot.connection.rows(statement) { (row) throws(StorageError) in
        var cells: [String] = []
        for column in 0..<Int32(row.columnCount) {
          switch row.value(column) {
          case .null: cells.append("-")
          case .integer(let number): cells.append("\(number)")
          case .real(let number): cells.append("\(number)")
          case .text(let text): cells.append(text)
          case .blob(let bytes): cells.append("\(bytes.count) bytes")
          }
        }
        return cells.joined(separator: "|")
      }
    }
  }

  /// Runs a statement that changes rows.
  func run(_ sql: String) async throws {
    try await replica.write { (snapshot) throws(StorageError) in
      try snapshot.connection.run(ReplicaRig.resolve(sql, snapshot))
    }
  }

  private static func resolve(_ sql: String, _ snapshot: ReplicaSnapshot) -> String {
    var text = sql
    let state = snapshot.state
    for table in snapshot.plan.tables { text = text.replacing("{\(table.name)}", with: state.tables[table.number]) }
    for link in snapshot.plan.links { text = text.replacing("{\(link.name)}", with: state.links[link.number]) }
    return text
  }

  /// A V4 document of one schema `N`.
  static func v4(_ content: String, container: String) -> String {
    """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(content)
    <EntityContainer Name="C">\(container)</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """
  }
}

extension ReplicaRig {
  /// Reads a whole response as the download of the defining query `name` over the entities of `table`.
  @discardableResult
  func download(_ name: String, _ table: String, pages: [String], version: ODataVersion = .v4) async throws
    -> DownloadOutcome
  {
    let read = try await begin(name, table)
    for page in pages { _ = try await self.page(page, of: read, version: version) }
    return try await read.finish(deltaLink: nil, etag: nil, lastModified: nil, at: 1)
  }

  /// Writes the entities of a JSON response (`{"value": […]}` or one entity) to a table.
  @discardableResult
  func load(_ table: String, _ json: String, version: ODataVersion = .v4) async throws -> DownloadOutcome {
    try await download("load " + table, table, pages: [json], version: version)
  }

  func begin(_ name: String, _ table: String) async throws -> GenerationRead {
    let query: DefiningQueryRow
    if let known = try await replica.query(name) {
      query = known
    } else {
      let url = replica.plan.table(table).map { ReplicaRig.everything(of: $0, replica.plan) } ?? table
      query = try await replica.addQuery(name, url: url, streams: false)
    }
    guard let table = replica.plan.table(table) else { throw ReplicaRigError.noTable(table) }
    return try await GenerationRead.begin(replica, query: query.id, table: table.number)
  }

  func page(
    _ json: String, of read: GenerationRead, inline: InlinePage? = nil, version: ODataVersion = .v4
  ) async throws -> PageEnd {
    let url = inline == nil ? read.plan.tables[read.table].name : nil
    let page = read.beginPage(PageForm(url: url, status: 200, version: version), inline: inline)
    try await page.take(Array(json.utf8))
    return try await page.end()
  }

  enum ReplicaRigError: Error { case noTable(String) }
}

extension ReplicaRig {
  /// A defining query that downloads all rows of a table, with all links.
  static func everything(of table: EntityTable, _ plan: ReplicaPlan) -> String {
    let isV2 = plan.model.version < .v4
    func items(_ table: EntityTable, _ above: Set<Int>, _ prefix: String) -> [String] {
      table.navigations.flatMap { navigation -> [String] in
        let cast = table.type.isOrDerives(from: navigation.declaringType) ? [] : [navigation.declaringType.name]
        let name = prefix + (cast + navigation.path).joined(separator: "/")
        guard navigation.relation == .containment, !above.contains(navigation.target) else { return [name] }
        let inner = items(plan.tables[navigation.target], above.union([navigation.target]), isV2 ? name + "/" : "")
        if isV2 { return [name] + inner }
        return [name + (inner.isEmpty ? "" : "($expand=\(inner.joined(separator: ",")))")]
      }
    }
    let all = items(table, [table.number], "")
    return table.name + (all.isEmpty ? "" : "?$expand=" + all.joined(separator: ","))
  }

  /// Records a downloaded defining query for each set: the tables are complete.
  func coverAll() async throws {
    for table in replica.plan.tables {
      switch table.place {
      case .entitySet, .singleton:
        _ = try await replica.addQuery(
          "all " + table.name, url: Self.everything(of: table, replica.plan), streams: false)
      case .containment, .type: continue
      }
    }
    try await replica.write { (snapshot) throws(StorageError) in
      try snapshot.connection.run("UPDATE larder_query SET downloaded = 1 WHERE name GLOB 'all *'")
      try snapshot.connection.countVersionUp()
    }
  }
}
