import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The requests of the queue or of the archive as rows of their entity set. A request that was sent is shown as it was
/// sent; another request is shown as it would be sent now.
struct RequestRows {
  private let store: OpenStore
  private let queue: ChangeQueue
  private let rows: LocalRows
  private let rendering: RequestRendering
  /// The kinds of the entities that the requests create or change.
  private(set) var kinds: Set<AffectedKind> = []

  init(_ store: OpenStore, _ snapshot: ReplicaSnapshot) {
    self.store = store
    rows = LocalRows(snapshot)
    queue = rows.queue
    let journal = UploadJournal(store: store, options: OfflineODataUploadOptions())
    rendering = UploadPlan.placing(journal.rendering(snapshot), snapshot.plan)
  }

  /// Returns the rows as JSON: one object for each request, with its properties under their names.
  mutating func texts(of set: StoreSet) throws -> RequestTexts {
    let entries = try set.states.flatMap { try queue.entries($0) }.sorted { $0.id < $1.id }
    let archive = set == .archive && entries.contains { $0.state == .held } ? try ArchivedRequests(queue) : nil
    var texts: [(Int64, [UInt8])] = []
    texts.reserveCapacity(entries.count)
    var unit: (id: Int64, done: RequestRendering.ChangeSet)?
    for entry in entries {
      var done = unit?.id == entry.unit ? unit?.done ?? .init() : .init()
      var writer = JSONWriter()
      writer.beginObject()
      try common(entry, &writer)
      if set == .queue {
        text("Status", entry.state == .sent ? "Uncertain" : "Queued", &writer)
        sent(preview(entry, in: &done), &writer)
      } else {
        failed(entry, archive: archive, done: &done, writer: &writer)
      }
      writer.endObject()
      texts.append((entry.id, writer.bytes))
      unit = (entry.unit, done)
    }
    return RequestTexts(texts)
  }

  private mutating func common(_ entry: QueueEntry, _ writer: inout JSONWriter) throws {
    text("CustomTag", entry.request.customTag, &writer)
    text("Category", entry.request.category, &writer)
    // The version that the request was based on, and the ETag that it is sent with.
    text("ETag", entry.request.ifMatch == "*" ? "*" : entry.request.baseETag, &writer)
    writer.name("Conflict")
    writer.boolean(entry.failure?.kind == .conflict && entry.state != .sent)
    if let entity = entry.request.entity, let table = rows.plan.table(entity.table) {
      let cells = try rows.effective(entity)
      if let cells {
        let type = cells.text(.type).flatMap(rows.plan.model.structure) ?? table.type
        let kind = AffectedKind(table: table, type: type)
        kinds.insert(kind)
        text("@kind", kind.text, &writer)
      }
      // The path of an entity that is deleted in the store uses the key that the entity had.
      if let cells = try cells ?? rows.base(of: entity) {
        text("EntityPath", try rows.path(of: entity, cells), &writer)
      }
    }
  }

  private func failed(
    _ entry: QueueEntry, archive: ArchivedRequests?, done: inout RequestRendering.ChangeSet,
    writer: inout JSONWriter
  ) {
    writer.name("Held")
    writer.boolean(entry.state == .held)
    let failure = entry.state == .held ? nil : entry.failure
    let preview = preview(entry, in: &done)
    sent(shownRequest(failure, preview), &writer)
    guard let failure else {
      text("Reason", "Held", &writer)
      let holders = archive?.holders(of: entry.id) ?? ""
      let reason =
        archive?.isOfTransaction(entry) == true
        ? "Held with its transaction until these requests are sent: \(holders)."
        : "Held until these requests, which it depends on, are sent: \(holders)."
      text("Message", reason, &writer)
      return
    }
    if let status = failure.httpStatus {
      writer.name("HTTPStatusCode")
      writer.integer(status)
    }
    text("Code", failure.code, &writer)
    text("Message", failure.message, &writer)
    text("InnerError", failure.innerError, &writer)
    text("Domain", failure.domain, &writer)
    text("Reason", failure.kind.reason, &writer)
    let time = failure.time.rounded(.down)
    if let wholeSeconds = Int64(exactly: time),
      let timestamp = ODataDateTimeOffset(secondsSince1970: wholeSeconds, picosecond: 0)
    {
      text("Time", timestamp.description, &writer)
    }
  }

  /// Returns the request that was sent. If the failure is about an operation or a batch, and not about a request,
  /// returns the request that would be sent now.
  private func shownRequest(_ failure: ArchivedFailure?, _ preview: SentRequest?) -> SentRequest? {
    guard let failure else { return preview }
    let isRequest = !failure.url.isEmpty && failure.url != "$batch" && failure.method.allSatisfy(\.isUppercase)
    if !isRequest, let preview { return preview }
    return SentRequest(method: failure.method, url: failure.url, body: failure.body ?? preview?.body)
  }

  private func sent(_ request: SentRequest?, _ writer: inout JSONWriter) {
    guard let request else { return }
    text("RequestMethod", request.method, &writer)
    text("RequestURL", request.url, &writer)
    text("RequestBody", request.body, &writer)
  }

  private func text(_ name: String, _ value: String?, _ writer: inout JSONWriter) {
    guard let value else { return }
    writer.name(name)
    writer.string(value)
  }

  /// Returns the request as it would be sent now; nil if it no longer fits the model.
  private func preview(_ entry: QueueEntry, in done: inout RequestRendering.ChangeSet) -> SentRequest? {
    guard var request = try? rendering.request(entry.request, contentID: String(entry.id), in: &done) else {
      return nil
    }
    request.contentID = nil
    guard let preview = try? store.conversation.preview(request, model: rows.plan.model) else { return nil }
    return SentRequest(preview, store.root)
  }

  // MARK: SQL

  /// The rows as a table with the columns that queries expect. One row is found by its number without reading the
  /// others.
  static func source(_ table: EntityTable, of set: StoreSet, _ texts: RequestTexts) -> SQLText {
    var columns = system(id: "id", parent: "NULL")
    for name in table.columns.map(\.name) + ["@kind", "@entity"] {
      let value =
        switch name {
        case "RequestID": "id"
        case "TransactionID": "unit"
        case "@entity": "entity"
        default: "json_extract(json, '$.\"\(name)\"')"
        }
      columns.append("\(value) AS \"\(name)\"")
    }
    let list = SQLText(table: columns.joined(separator: ","))
    return .atom(
      """
      (SELECT \(list) FROM (SELECT id, unit, entity, larder_text(\(value: .blob(texts.blob)), id) AS json \
      FROM larder_request WHERE state IN (\(states(of: set)))))
      """)
  }

  private static func states(of set: StoreSet) -> SQLText {
    SQLText(table: set.states.map { String($0.rawValue) }.joined(separator: ","))
  }

  /// The rows of the headers that the caller gave the requests, as a table. The headers are found by their request,
  /// because a query looks them up for each row of a long queue.
  static func headers(_ table: EntityTable, of set: StoreSet) -> SQLText {
    var columns = system(id: "r.id * 1000 + h.key", parent: "r.id")
    for column in table.columns {
      let value = column.name == "Position" ? "h.key + 1" : "json_extract(h.value, '$.\(column.name.lowercased())')"
      columns.append("\(value) AS \"\(column.name)\"")
    }
    return .atom(
      """
      (SELECT \(SQLText(table: columns.joined(separator: ","))) FROM larder_request r, \
      json_each(r.request, '$.headers') h WHERE r.state IN (\(states(of: set))))
      """)
  }

  private static func system(id: String, parent: String) -> [String] {
    SystemColumn.allCases.map { column in
      let value =
        switch column {
        case .id: id
        case .parent: parent
        case .type, .queries, .state: "0"
        case .etag, .uri, .media: "NULL"
        }
      return "\(value) AS \"\(column.rawValue)\""
    }
  }
}
