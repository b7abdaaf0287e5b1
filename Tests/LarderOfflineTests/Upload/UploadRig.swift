import Foundation
import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

/// A store of the service of orders, and changes put into its queue as the store's own changes put them there.
final class UploadRig: Sendable {
  let service: UploadService
  let folder: TemporaryFolder
  let store: OfflineODataProvider
  let diagnostics = DiagnosticLog()

  init(
    _ behavior: UploadService.Behavior = .init(), orders: Int = 3, combines: Bool = false,
    retry: HTTPRetryPolicy = .never, pause: @escaping @Sendable (Duration) async throws -> Void = { _ in },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in }
  ) async throws {
    service = UploadService(behavior)
    service.change { state in
      for key in 1...max(1, orders) where orders > 0 {
        state.sets["Orders"]?[key] = .init(values: ["ID": "\(key)", "Name": "\"n\(key)\"", "Total": "\(key)"])
      }
    }
    folder = try TemporaryFolder()
    store = try UploadRig.provider(folder, service, combines: combines, retry: retry, pause: pause, sleep: sleep) {
      [diagnostics] in
      diagnostics.add($0)
    }
    try await store.add(OfflineODataDefiningQuery("orders", "Orders"))
    try await store.add(OfflineODataDefiningQuery("items", "Items"))
    try await store.open()
  }

  static func provider(
    _ folder: TemporaryFolder, _ service: any HTTPTransport, combines: Bool = false, retry: HTTPRetryPolicy = .never,
    pause: @escaping @Sendable (Duration) async throws -> Void = { _ in },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in },
    onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)? = nil
  ) throws -> OfflineODataProvider {
    var parameters = OfflineODataParameters(
      storeName: "store", path: folder.path, encryptionKey: try RigKey.fromEnvironment(),
      combinesChanges: combines, onDiagnostic: onDiagnostic)
    parameters.conversation.retry = retry
    parameters.conversation.csrf = .never
    parameters.conversation.environment = .sleeping(sleep)
    parameters.conversation.environment.repetitionSleep = pause
    guard let root = URL(string: "http://h/s/") else { throw OfflineODataError(.invalidServiceRoot) }
    return try OfflineODataProvider(serviceRoot: root, transport: service, parameters: parameters)
  }

  var open: OpenStore { get throws { try store.openStore() } }

  /// Runs a statement; rows as text, columns by `|`.
  func rows(_ sql: String) async throws -> [String] {
    try await open.read { snapshot in
      var text = sql
      for table in snapshot.plan.tables {
        text = text.replacing("{\(table.name)}", with: snapshot.state.tables[table.number])
      }
      return try snapshot.connection.rows(text) { (row) throws(StorageError) in
        (0..<Int32(row.columnCount)).map { column -> String in
          switch row.value(column) {
          case .null: "-"
          case .integer(let number): "\(number)"
          case .real(let number): "\(number)"
          case .text(let text): text
          case .blob(let bytes): "\(bytes.count) bytes"
          }
        }.joined(separator: "|")
      }
    }
  }

  /// The identity of a row by its key.
  func row(_ table: String, _ key: Int) async throws -> RowReference {
    let id = try await rows("SELECT \"@id\" FROM {\(table)} WHERE ID = \(key)").first.flatMap { Int64($0) }
    guard let id else { throw OfflineODataError(.entityNotFound, "\(table)(\(key))") }
    return RowReference(table, id)
  }

  /// Records a request with its effects.
  @discardableResult
  func record(
    _ request: QueuedRequest, _ effects: [Effect], unit: Int64? = nil, after: Set<Int64> = []
  ) async throws -> Int64 {
    try await open.changeRows { rows in try rows.record(request, unit: unit, effects: effects, after: after) }
  }

  // MARK: Changes

  /// Changes properties of a row under the ETag of its base.
  @discardableResult
  func update(_ row: RowReference, _ values: [String: ODataValue], unit: Int64? = nil) async throws -> Int64 {
    let isV2 = service.isV2
    var request = QueuedRequest(isV2 ? .merge : .patch, QueuedTarget(row))
    request.entity = row
    request.body = .entity(QueuedEntity(row: row, properties: properties(values)))
    request.baseETag = try await baseETag(row)
    return try await record(request, [Effect(.set, row.table, row.row, cells: cells(values))], unit: unit)
  }

  @discardableResult
  func delete(_ row: RowReference, unit: Int64? = nil) async throws -> Int64 {
    var request = QueuedRequest(.delete, QueuedTarget(row))
    request.entity = row
    request.baseETag = try await baseETag(row)
    return try await record(request, [Effect(.delete, row.table, row.row)], unit: unit)
  }

  /// Makes an entity; a negative key is one of this store, that is not sent.
  @discardableResult
  func create(
    _ table: String, key: Int, _ values: [String: ODataValue], order: RowReference? = nil, orderKey: Int? = nil,
    unit: Int64? = nil, after: Set<Int64> = []
  ) async throws -> (id: Int64, row: RowReference) {
    let number = try await open.write { snapshot in try snapshot.connection.takeIdentities(1) }
    let row = RowReference(table, number)
    var request = QueuedRequest(.create, QueuedTarget(nil, table))
    request.entity = row
    var entity = QueuedEntity(row: row, properties: properties(values))
    if key > 0 { entity.properties.append(QueuedProperty(name: "ID", value: QueuedValue(.int32(Int32(key))))) }
    var all = cells(values)
    all["ID"] = .integer(Int64(key))
    if let order, let orderKey {
      entity.links = [QueuedLink(name: "Order", isCollection: false, bindings: [.row(order)])]
      all["Order_ID"] = .integer(Int64(orderKey))
    }
    request.body = .entity(entity)
    let id = try await record(request, [Effect(.insert, table, number, cells: all)], unit: unit, after: after)
    return (id, row)
  }

  /// Makes orders 1 to `count` in one transaction of the file; they are uploaded apart, each behind the one before where
  /// they are a chain.
  func createMany(_ count: Int, isChain: Bool = false) async throws {
    try await open.changeRows { rows in
      var last: Int64?
      for key in 1...count {
        let row = RowReference("Orders", try rows.connection.takeIdentities(1))
        var request = QueuedRequest(.create, QueuedTarget(nil, "Orders"))
        request.entity = row
        let values = [
          QueuedProperty(name: "ID", value: QueuedValue(.int32(Int32(key)))),
          QueuedProperty(name: "Name", value: QueuedValue(.string("o"))),
        ]
        request.body = .entity(QueuedEntity(row: row, properties: values))
        let cells = EntityCells(["ID": .integer(Int64(key)), "Name": .text("o")])
        last = try rows.record(
          request, effects: [Effect(.insert, "Orders", row.row, cells: cells)],
          after: Set([last].compactMap { isChain ? $0 : nil }))
      }
    }
  }

  private func baseETag(_ row: RowReference) async throws -> String? {
    try await open.read { snapshot in
      try LocalRows(snapshot).base(of: row)?.text(.etag)
    }
  }

  private func properties(_ values: [String: ODataValue]) -> [QueuedProperty] {
    values.sorted { $0.key < $1.key }.map { QueuedProperty(name: $0.key, value: QueuedValue($0.value)) }
  }

  private func cells(_ values: [String: ODataValue]) -> EntityCells {
    EntityCells(
      values.mapValues { value in
        switch value {
        case .string(let text): .text(text)
        case .int32(let number): .integer(Int64(number))
        case .decimal(let number): .text(number.description)
        case .dateTimeOffset(let time): .text(time.description)
        default: .null
        }
      })
  }

  // MARK: What is there

  var queue: [String] {
    get async throws { try await rows("SELECT id, state FROM larder_request ORDER BY id") }
  }

  /// Nothing waits, and nothing is kept for it.
  func isClean() async throws -> Bool {
    try await rows(
      "SELECT (SELECT count(*) FROM larder_request) + (SELECT count(*) FROM larder_effect) + (SELECT count(*) FROM larder_base) + (SELECT count(*) FROM larder_dependency)"
    ) == ["0"]
  }
}

extension UploadService {
  var isV2: Bool {
    var isV2 = false
    change { isV2 = $0.behavior.isV2 }
    return isV2
  }
}

extension UploadRig {
  /// Uploads, and loses the response to a request that contains a text.
  func lose(_ matches: String = "POST") async throws {
    service.fail(.lost) { $0.contains(matches) }
    await #expect(throws: OfflineODataError.self) { try await store.upload() }
    service.change { $0.fault = nil }
  }

  /// Why the requests in the queue have failed.
  func failures() async throws -> [ArchivedFailure.Kind] {
    try await open.read { snapshot in try ChangeQueue(snapshot.connection).entries().compactMap(\.failure?.kind) }
  }
}
