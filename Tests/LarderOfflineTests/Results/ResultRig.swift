import Foundation
import LarderOData
import LarderODataXML
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

/// Small tables of a model in one file, and plans over them that are written by hand, without a query.
final class ResultRig: Sendable {
  let model: EdmModel
  let plan: ReplicaPlan
  let database: Database
  private let folder: TemporaryFolder

  init(_ csdl: String) async throws {
    model = try EdmModel.read(Array(csdl.utf8))
    plan = ReplicaPlan(model: model)
    folder = try TemporaryFolder()
    let tables = plan.tables
    database = try await Database.open(
      folder.file("answers.db"), key: try RigKey.fromEnvironment(),
      schema: Schema(applicationID: 7, steps: [Tables(tables: tables)]),
      options: DatabaseOptions(synchronous: .normal))
  }

  private struct Tables: SchemaStep {
    let tables: [EntityTable]

    func run(on connection: Connection) throws(StorageError) {
      for table in tables {
        let columns = table.columns.map { ", \"\($0.name)\"" }.joined()
        try connection.run(
          "CREATE TABLE t\(table.number)(\"@id\" INTEGER PRIMARY KEY, \"@type\" INTEGER DEFAULT 0, \"@parent\" INTEGER, "
            + "\"@state\" INTEGER, \"@etag\" TEXT, \"@uri\" TEXT, \"@media\" TEXT\(columns))")
      }
    }
  }

  func table(_ name: String) throws -> EntityTable { try #require(plan.table(name)) }

  func bench(_ name: String) throws -> PlanBench { PlanBench(try table(name), model) }

  /// Inserts a row into a table, by the names of columns.
  func insert(_ name: String, _ values: [String: SQLValue]) async throws {
    let table = try table(name)
    let names = values.keys.sorted()
    let list = names.map { "\"\($0)\"" }.joined(separator: ",")
    let places = names.map { _ in "?" }.joined(separator: ",")
    let cells = names.map { values[$0] ?? .null }
    try await database.write { (connection) throws(StorageError) in
      try connection.forEachRow("INSERT INTO t\(table.number)(\(list)) VALUES(\(places))", cells) { _ in true }
    }
  }

  func bind(_ url: String, _ version: ODataVersion = .v401) throws -> ODataBoundURL {
    let binder = ODataBinder(model: model, options: ODataBinderOptions(version: version))
    return try binder.bind(try ODataParser(version).relativeURL(url), text: url)
  }

  func result(_ plan: ReadPlan, _ url: String, _ form: ResultForm) throws -> ResultRun {
    ResultRun(plan: plan, url: try bind(url, form.version), form: form, model: model)
  }

  /// Runs a function on a connection in a transaction.
  func read<Value: Sendable>(_ body: @escaping @Sendable (Connection) throws -> Value) async throws -> Value {
    let result = try await database.read { (connection) -> Result<Value, any Error> in
      Result { try body(connection) }
    }
    return try result.get()
  }

  /// The text of the result, and the outcome of the query.
  func text(_ plan: ReadPlan, _ url: String, _ form: ResultForm) async throws -> (text: String, end: ResultRun.End) {
    let run = try result(plan, url, form)
    let (bytes, end) = try await read { try run.json($0) }
    return (String(decoding: bytes, as: UTF8.self), end)
  }
}

/// Plans like those of a query writer, from a table, a condition and the members to show.
struct PlanBench {
  let table: EntityTable
  var select: [String]?
  var condition = "1"
  var parameters: [ReadParameter] = []
  var isSingle = false
  var order = "\"@id\""
  var expands: [ReadExpand] = []
  var page: ReadPage?
  var count: ReadCount?
  var owner: ReadCount?
  var isReferences = false

  let model: EdmModel

  init(_ table: EntityTable, _ model: EdmModel) {
    self.table = table
    self.model = model
  }

  /// Columns: the system's, then all properties.
  private static let system = ["@id", "@type", "@etag", "@uri", "@media"]

  func column(_ name: String) -> Int32 {
    Int32((table.columns.firstIndex { $0.name == name } ?? 0) + PlanBench.system.count)
  }

  var shape: ReadShape {
    ReadShape(
      table: table, type: table.type, id: 0, typeNumber: 1, etag: 2, uri: 3, media: 4,
      key: table.key.map { Int32($0 + PlanBench.system.count) },
      members: members([]).filter { select?.contains($0.name) ?? true }, expands: expands)
  }

  /// The members below a path.
  func members(_ prefix: [String]) -> [ReadMember] {
    table.columns.indices.compactMap { index in
      let column = table.columns[index]
      guard column.path.count == prefix.count + 1, Array(column.path.dropLast()) == prefix else { return nil }
      let place = Int32(index + PlanBench.system.count)
      let owners = table.typeNumbers(derivedFrom: column.declaringType)
      let types = owners.count == table.types.count || !prefix.isEmpty ? nil : Set(owners)
      let name = column.path.last ?? ""
      switch column.storage {
      case .complex:
        return ReadMember(
          name: name, kind: .complex(place, members(column.path)), type: type(column.type), types: types)
      case .dynamic: return ReadMember(name: name, kind: .dynamic(place, only: nil), type: type(column.type))
      default:
        return ReadMember(
          name: name, kind: .column(place, column.storage), type: type(column.type), types: types)
      }
    }
  }

  /// The bound type of a declared type; names are not resolved.
  func type(_ reference: EdmTypeReference) -> ODataBoundType {
    let item: ODataBoundType.Item =
      switch reference.item {
      case .primitive(let type): .primitive(type)
      case .named(let name): model.structure(name).map { .structure($0) } ?? .undeclared(name)
      case .abstract, .collection: .untyped
      }
    return ODataBoundType(item, isCollection: reference.isCollection, isNullable: true)
  }

  var sql: String {
    let columns = (PlanBench.system + table.columns.map(\.name)).map { "\"\($0)\"" }.joined(separator: ", ")
    let limit = page.map { " LIMIT \($0.size + 1)" } ?? ""
    return "SELECT \(columns) FROM t\(table.number) WHERE \(condition) ORDER BY \(order)\(limit)"
  }

  var readPlan: ReadPlan {
    ReadPlan(
      sql: sql, parameters: parameters, content: isReferences ? .references(shape) : .objects(shape),
      isSingle: isSingle, count: count, page: page, owner: owner)
  }
}
