import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The requests that an upload would send now. Nothing is sent.
struct UploadPlan: Sendable {
  let journal: UploadJournal

  private var store: OpenStore { journal.store }

  /// The requests in the order of their changes.
  func requests() async throws -> [OfflineODataPlannedRequest] {
    try await store.useModel()
    let units = Set(try await journal.units().map(\.id))
    let rendered = try await store.read { snapshot in
      let queue = ChangeQueue(snapshot.connection)
      let dependencies = try queue.dependencies()
      var set = RequestRendering.ChangeSet()
      var unit: Int64?
      let rendering = UploadPlan.placing(journal.rendering(snapshot), snapshot.plan)
      var all: [(QueueEntry, ODataSingleRequest, [Int64])] = []
      for entry in try queue.entries() where units.contains(entry.unit) {
        if entry.unit != unit { (unit, set) = (entry.unit, RequestRendering.ChangeSet()) }
        var request = try rendering.request(entry.request, contentID: String(entry.id), in: &set)
        request.contentID = nil
        all.append((entry, request, dependencies[entry.id] ?? []))
      }
      return all
    }
    var planned: [OfflineODataPlannedRequest] = []
    for (entry, request, dependencies) in rendered {
      let preview = try await store.conversation.preview(request)
      let sent = SentRequest(preview, store.root)
      planned.append(
        OfflineODataPlannedRequest(
          requestID: entry.id, transactionID: entry.unit, method: sent.method, url: sent.url,
          fields: HTTPFields(
            preview.fields.map { field in
              HTTPField(name: HTTPFieldName(field.name.canonicalName), value: field.value.plain)
            }), body: sent.body,
          dependencies: dependencies, isUncertain: entry.state == .sent))
    }
    return planned
  }

  /// A rendering that uses a placeholder for each key that is not known yet.
  static func placing(_ rendering: RequestRendering, _ plan: ReplicaPlan) -> RequestRendering {
    var placing = rendering
    placing.locate = { row in try placeholder(rendering.locate(row), row, plan) }
    return placing
  }

  /// The location of an entity that the service has not seen yet, with a placeholder for its key: `Orders({1042})`.
  private static func placeholder(
    _ location: RowLocation, _ row: RowReference, _ plan: ReplicaPlan
  ) -> RowLocation {
    guard location.path == nil, let table = plan.table(row.table) else { return location }
    var location = location
    let text = "{\(row.row)}"
    location.keyPredicate = text
    location.path = "\(table.name)(\(text))"
    for column in table.key.map({ table.columns[$0] }) where column.path.count == 1 {
      location.key[column.path[0]] = .string(text)
    }
    return location
  }
}

extension SentRequest {
  /// A request as it would be sent. Placeholders keep their braces.
  init(_ preview: ODataRequestPreview, _ root: ODataServiceRoot) {
    method = preview.method.rawValue
    url = (root.relative(preview.url) ?? preview.url).plain
    if case .bytes(let bytes) = preview.body { body = String(validating: bytes, as: UTF8.self)?.plain }
  }
}

extension String {
  /// The text with the percent-encoded braces of placeholders decoded.
  fileprivate var plain: String { replacing("%7B", with: "{").replacing("%7D", with: "}") }
}
