import Foundation
import LarderOData
import LarderStorage
import LarderTestSupport

@testable import LarderCrashRig
@testable import LarderOffline

/// A database with the tables of a model, filled by plain inserts.
final class QueryRig: Sendable {
  let folder: TemporaryFolder
  let database: Database
  let plan: ReplicaPlan
  let state: ReplicaState

  init(_ dataSet: QueryDataSet, model: EdmModel = QueryModel.shop) async throws {
    folder = try TemporaryFolder()
    plan = ReplicaPlan(model: model)
    state = ReplicaState(
      version: 1, tables: plan.tables.map { "\"e\($0.number)_1\"" }, links: plan.links.map { "\"l\($0.number)_1\"" },
      search: plan.tables.map { _ in nil })
    database = try await Database.open(
      folder.file("query.db"), key: try RigKey.fromEnvironment(), schema: Schema(applicationID: 77, steps: []),
      options: DatabaseOptions(synchronous: .normal, extensions: ReplicaSQL.extensions))
    let (plan, state) = (plan, state)
    let rows = try dataSet.entities.map { try QueryRig.insert($0, plan, state) } + QueryRig.links(dataSet, plan, state)
    try await database.write { (connection) throws(StorageError) in
      for table in plan.tables { try connection.run(QueryRig.declaration(table, state)) }
      for link in plan.links {
        try connection.run("CREATE TABLE \(state.links[link.number]) (source INTEGER, target INTEGER)")
      }
      for row in rows { try connection.forEachRow(row.sql, row.values) { (_) throws(StorageError) in true } }
    }
  }

  private static func declaration(_ table: EntityTable, _ state: ReplicaState) -> String {
    let system = [
      "\"@id\" INTEGER PRIMARY KEY", "\"@type\" INTEGER", "\"@parent\" INTEGER", "\"@queries\" INTEGER",
      "\"@state\" INTEGER", "\"@etag\" TEXT", "\"@uri\" TEXT", "\"@media\" TEXT",
    ]
    let columns = table.columns.map { "\"\($0.name)\" \($0.storage.sqlDeclaration)" }
    return "CREATE TABLE \(state.tables[table.number]) (\((system + columns).joined(separator: ", ")))"
  }

  private struct Insert: Sendable {
    let sql: String
    let values: [SQLValue]
  }

  private static func insert(_ entity: QueryEntity, _ plan: ReplicaPlan, _ state: ReplicaState) throws -> Insert {
    guard let table = plan.table(entity.place) else { throw QueryRigError(entity.place) }
    var names = ["@id", "@type", "@parent", "@state"]
    var values: [SQLValue] = [
      .integer(entity.id), .integer(Int64(table.typeNumber(entity.type) ?? 0)), .integer(entity.parent?.id),
      .integer(0),
    ]
    for column in table.columns {
      names.append(column.name)
      values.append(try cell(column, entity, table, plan.model))
    }
    let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
    let places = names.map { _ in "?" }.joined(separator: ", ")
    return Insert(sql: "INSERT INTO \(state.tables[table.number]) (\(list)) VALUES (\(places))", values: values)
  }

  private static func cell(
    _ column: ReplicaColumn, _ entity: QueryEntity, _ table: EntityTable, _ model: EdmModel
  ) throws -> SQLValue {
    if column.storage == .dynamic {
      let declared = Set(table.columns.map { $0.path[0] })
      let undeclared = entity.values.filter { !declared.contains($0.key) }.sorted { $0.key < $1.key }
      if undeclared.isEmpty { return .null }
      let members = try undeclared.map { "\"\($0.key)\":\(try $0.value.json(.v4(ieee754Compatible: false)))" }
      return .text("{" + members.joined(separator: ",") + "}")
    }
    var value = entity.values[column.path[0]] ?? .null
    for step in column.path.dropFirst() {
      guard case .complex(let complex) = value else { return .null }
      value = complex[step] ?? .null
    }
    if column.storage == .complex {
      guard case .complex(let complex) = value else { return .null }
      return .text(complex.typeName ?? "")
    }
    return try column.storage.sqlValue(of: value, type: column.type, model: model)
  }

  private static func links(_ dataSet: QueryDataSet, _ plan: ReplicaPlan, _ state: ReplicaState) throws -> [Insert] {
    var rows: [Insert] = []
    for entity in dataSet.entities {
      for (name, targets) in entity.links {
        guard let table = plan.table(entity.place), let navigation = table.navigation([name]),
          case .links(let number, isForward: true) = navigation.relation
        else { continue }
        for target in targets {
          rows.append(
            Insert(
              sql: "INSERT INTO \(state.links[number]) VALUES (?, ?)",
              values: [.integer(entity.id), .integer(target.id)]))
        }
      }
    }
    return rows
  }

  // MARK: Queries

  func plan(_ url: String, pageSize: Int? = nil) throws -> ReadPlan {
    let date = Date(timeIntervalSince1970: 1_717_200_000)  // 2024-06-01T00:00:00Z
    return try QueryWriter(plan: plan, state: state, options: .init(pageSize: pageSize, now: date))
      .plan(try QueryModel.bind(url))
  }

  /// The result of a URL as nested values: objects as lines, for comparison with the expected ones.
  func result(_ url: String) async throws -> QueryResult {
    try await result(try plan(url))
  }

  func result(_ plan: ReadPlan) async throws -> QueryResult {
    try await database.read { (connection) throws(StorageError) in try QueryResult(plan, row: [], connection) }
  }

  /// The identities in all pages of a query, one list for each page.
  func pages(_ url: String, size: Int) async throws -> [[Int64]] {
    let separator = url.contains("?") ? "&" : "?"
    return try await pages { token in
      try plan(url + (token.map { separator + "$skiptoken=" + $0 } ?? ""), pageSize: size)
    }
    .map { $0.compactMap(\.id) }
  }

  /// The rows of all pages, one list for each page; at most a thousand pages.
  ///
  /// - Parameter plan: the query that continues after a token.
  func pages(_ plan: (_ token: String?) throws -> ReadPlan) async throws -> [[QueryRow]] {
    var pages: [[QueryRow]] = []
    var token: String?
    repeat {
      let plan = try plan(token)
      let result = try await result(plan)
      guard let page = plan.page else { return pages + [result.rows] }
      pages.append(Array(result.rows.prefix(page.size)))
      token = nil
      if result.rows.count > page.size {
        let last = result.cells[page.size - 1]
        token =
          SkipToken(
            order: page.order, delivered: page.delivered + page.size, values: page.token.map { last[Int($0)] }
          ).text
      }
    } while token != nil && pages.count < 1000
    return pages
  }

  /// The identities of the entities that a URL selects.
  func ids(_ url: String) async throws -> [Int64] {
    try await result(url).rows.compactMap(\.id)
  }

  func explain(_ url: String) async throws -> String {
    let plan = try plan(url)
    return try await database.read { (connection) throws(StorageError) in
      do { return try Explanation(plan, on: connection).description } catch { return "\(error)" }
    }
  }
}

struct QueryRigError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension QueryWriter {
  /// A writer without options, with a fixed date in the past.
  init(plan: ReplicaPlan, state: ReplicaState) {
    self.init(plan: plan, state: state, options: Options(now: Date(timeIntervalSince1970: 1_717_200_000)))
  }
}
