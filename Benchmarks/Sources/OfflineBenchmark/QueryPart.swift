import CBenchSQLite
import Foundation
import LarderOffline

/// Queries of the store, compared with hand-written statements on the store's own file.
enum QueryPart {
  /// A row as an application decodes it.
  struct Row: Decodable, Sendable {
    var id: Int64
    var name: String
    var city: String?
    var category: String?
    var price: Decimal?
    var weight: Double?
    var stock: Int32?
    var isActive: Bool?
    var created: String?
    var released: String?
    var code: String?
    var note: String?

    enum CodingKeys: String, CodingKey {
      case id = "ID"
      case name = "Name"
      case city = "City"
      case category = "Category"
      case price = "Price"
      case weight = "Weight"
      case stock = "Stock"
      case isActive = "IsActive"
      case created = "Created"
      case released = "Released"
      case code = "Code"
      case note = "Note"
    }
  }

  /// A row as `larder generate` writes it.
  struct GeneratedRow: Codable, Hashable, Sendable {
    let id: Int64
    var name: String { didSet { odataState.assign(0) } }
    var city: String? { didSet { odataState.assign(1) } }
    var category: String? { didSet { odataState.assign(2) } }
    var price: ODataDecimal? { didSet { odataState.assign(3) } }
    var weight: Double? { didSet { odataState.assign(4) } }
    var stock: Int32? { didSet { odataState.assign(5) } }
    var isActive: Bool? { didSet { odataState.assign(6) } }
    var created: ODataDateTimeOffset? { didSet { odataState.assign(7) } }
    var released: ODataDate? { didSet { odataState.assign(8) } }
    var code: UUID? { didSet { odataState.assign(9) } }
    var note: String? { didSet { odataState.assign(10) } }
    var odataState = ODataEntityState()

    private enum CodingKeys: String, CodingKey {
      case odataState = "@odata.etag"
      case id = "ID"
      case name = "Name"
      case city = "City"
      case category = "Category"
      case price = "Price"
      case weight = "Weight"
      case stock = "Stock"
      case isActive = "IsActive"
      case created = "Created"
      case released = "Released"
      case code = "Code"
      case note = "Note"
    }
  }

  static func run(root: String, folder: String) async throws -> [String: Double] {
    let provider = try Rows.provider(root: root, folder: folder)
    try await provider.open()
    let file = try BareSQLite(path: folder + "/store.larder")
    let table = RowTable.quote(try RowTable.find(in: file, with: Rows.columns).name)
    var figures: [String: Double] = [:]

    let scan = "Rows?$filter=Category%20eq%20'drills'%20and%20Weight%20gt%20500&$orderby=Stock%20desc,ID&$top=20"
    let scanSQL =
      "SELECT \(list) FROM \(table) WHERE \"Category\" = 'drills' AND \"Weight\" > 500.0 "
      + "ORDER BY \"Stock\" DESC, \"ID\" LIMIT 20"
    let indexed = "Rows?$filter=City%20eq%20'Bern'%20and%20Stock%20ge%20990&$orderby=Stock%20desc,ID&$top=20"
    let indexedSQL =
      "SELECT \(list) FROM \(table) WHERE \"City\" = 'Bern' AND \"Stock\" >= 990 "
      + "ORDER BY \"Stock\" DESC, \"ID\" LIMIT 20"
    var ratios: [Double] = []
    for (name, query, sql, times) in [("scan", scan, scanSQL, 3), ("index", indexed, indexedSQL, 20)] {
      let (ours, bare) = try await compare(rounds: 7) {
        for _ in 0..<times { _ = try await provider.readJSON(query) }
      } bare: {
        for _ in 0..<times {
          guard try file.texts(sql).count == 20 else { throw BenchmarkError("not 20 rows: \(sql)") }
        }
      }
      ratios.append(median(zip(ours, bare).map { $0 / $1 }))
      figures["\(name), Larder ms"] = median(ours) * 1000 / Double(times)
      figures["\(name), hand-written SQL ms"] = median(bare) * 1000 / Double(times)
    }
    figures["query"] = ratios.max()

    let (decoded, stepped) = try await compare(rounds: 5) {
      guard try await provider.read([Row].self, "Rows?$top=100000")?.count == 100_000 else {
        throw BenchmarkError("decode")
      }
    } bare: {
      guard try structs(file, table, 100_000).count == 100_000 else { throw BenchmarkError("C calls") }
    }
    figures["decode"] = median(zip(decoded, stepped).map { $0 / $1 })
    figures["decoding, Larder ms"] = median(decoded) * 1000
    figures["decoding, C calls ms"] = median(stepped) * 1000

    // The exact types of generated code, the key of its ETag, and the marks of its assignments.
    let (generated, byHand) = try await compare(rounds: 5) {
      guard try await provider.read([GeneratedRow].self, "Rows?$top=100000")?.count == 100_000 else {
        throw BenchmarkError("decode generated")
      }
    } bare: {
      guard try await provider.read([Row].self, "Rows?$top=100000")?.count == 100_000 else {
        throw BenchmarkError("decode")
      }
    }
    figures["decode generated"] = median(zip(generated, byHand).map { $0 / $1 })

    let (written, objects) = try await compare(rounds: 5) {
      guard try await provider.readJSON("Rows?$top=100000").bytes.count > 10_000_000 else {
        throw BenchmarkError("JSON")
      }
    } bare: {
      guard try jsonObjects(file, table, 100_000) > 10_000_000 else { throw BenchmarkError("json_object") }
    }
    figures["json"] = median(zip(objects, written).map { $0 / $1 })
    figures["JSON, Larder ms"] = median(written) * 1000
    figures["JSON, json_object ms"] = median(objects) * 1000
    try await provider.close()
    return figures
  }

  private static let list = Rows.columns.map(RowTable.quote).joined(separator: ", ")

  /// Runs both sides alternately, and returns their seconds for each round. The first round is a warm-up.
  private static func compare(
    rounds: Int, ours: () async throws -> Void, bare: () async throws -> Void
  ) async throws -> (ours: [Double], bare: [Double]) {
    var times: ([Double], [Double]) = ([], [])
    for round in 0...rounds {
      var begin = ContinuousClock.now
      try await ours()
      let first = inSeconds(begin.duration(to: .now))
      begin = .now
      try await bare()
      let second = inSeconds(begin.duration(to: .now))
      if round == 0 { continue }
      times.0.append(first)
      times.1.append(second)
    }
    return times
  }

  private static func structs(_ file: BareSQLite, _ table: String, _ count: Int) throws -> [Row] {
    let statement = try file.prepare("SELECT \(list) FROM \(table) ORDER BY \"ID\" LIMIT \(count)")
    defer { sqlite3_finalize(statement) }
    var rows: [Row] = []
    func text(_ column: Int32) -> String? { sqlite3_column_text(statement, column).map { String(cString: $0) } }
    while sqlite3_step(statement) == SQLITE_ROW {
      rows.append(
        Row(
          id: sqlite3_column_int64(statement, 0), name: text(1) ?? "", city: text(2), category: text(3),
          price: text(4).flatMap { Decimal(string: $0) }, weight: sqlite3_column_double(statement, 5),
          stock: sqlite3_column_int(statement, 6), isActive: sqlite3_column_int(statement, 7) != 0, created: text(8),
          released: text(9), code: text(10), note: text(11)))
    }
    return rows
  }

  /// The number of bytes of the JSON that SQLite writes for the rows.
  private static func jsonObjects(_ file: BareSQLite, _ table: String, _ count: Int) throws -> Int {
    let pairs = Rows.columns.map { "'\($0)', \(RowTable.quote($0))" }.joined(separator: ", ")
    let statement = try file.prepare("SELECT json_object(\(pairs)) FROM \(table) ORDER BY \"ID\" LIMIT \(count)")
    defer { sqlite3_finalize(statement) }
    var bytes: [UInt8] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      guard let text = sqlite3_column_text(statement, 0) else { continue }
      bytes.append(
        contentsOf: UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, 0))))
      bytes.append(0x2C)
    }
    return bytes.count
  }
}
