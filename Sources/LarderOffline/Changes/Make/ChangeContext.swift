import LarderCore
import LarderOData
import LarderService
import LarderStorage

/// What the making of changes needs to know of the service, made once for each model.
final class ChangeContext: Sendable {
  let plan: ReplicaPlan
  let binder: ODataBinder
  let root: ODataServiceRoot
  private let parser: ODataParser
  private let rulesByTable = Locked<[Int: ChangeRules]>([:])

  init(_ plan: ReplicaPlan, _ binder: ODataBinder, _ root: ODataServiceRoot) {
    self.plan = plan
    self.binder = binder
    self.root = root
    parser = ODataParser(plan.model.version)
  }

  var model: EdmModel { plan.model }

  func rules(_ table: EntityTable) -> ChangeRules { rules(table, below: []) }

  private func rules(_ table: EntityTable, below: Set<Int>) -> ChangeRules {
    if let rules = rulesByTable.withLock({ $0[table.number] }) { return rules }
    var containing: (EntityTable, ChangeRules)?
    if case .containment(let parent, _) = table.place, !below.contains(parent) {
      containing = (plan.tables[parent], rules(plan.tables[parent], below: below.union([table.number])))
    }
    let rules = ChangeRules(table, model, containing: containing)
    rulesByTable.withLock { $0[table.number] = rules }
    return rules
  }

  /// A path relative to the service's root, bound.
  func bind(_ text: String) throws -> ODataBoundPath {
    let bound = try binder.bind(try parser.relativeURL(text), text: text)
    guard case .path(let path) = bound.resource else {
      throw OfflineODataError(.unsupportedChange, "'\(text.prefix(200))' cannot be changed")
    }
    return path
  }

  /// A URL as path and query relative to the service's root.
  func split(_ url: String) throws -> (path: String, query: String?) {
    guard let text = root.relative(try root.absoluteText(url)) else {
      throw OfflineODataError(.malformedURL, "'\(url.prefix { $0 != "?" })' is not a resource of the service")
    }
    guard let mark = text.firstIndex(of: "?") else { return (text, nil) }
    var query = text[text.index(after: mark)...]
    // Options of the root itself are added to every URL, when it is sent again.
    if let rootQuery = root.query, query.hasSuffix(rootQuery) {
      query = query.dropLast(rootQuery.count)
      if query.last == "&" { query.removeLast() }
    }
    return (String(text[..<mark]), query.isEmpty ? nil : String(query))
  }
}

/// What became of a change, to answer as the service would.
struct AppliedChange: Sendable {
  var status: Int
  /// The entity that was made or changed.
  var entity: RowReference?
  /// The path of the entity, by the key that it has here.
  var path: String?
  var etag: String?
  /// Whether the answer shows the entity.
  var showsEntity = false
  /// The key of an entity of a set, in the table's order; nil for others.
  var key: [SQLValue]?
  /// What the answer shows, and its media type.
  var shown: (bytes: [UInt8], mediaType: String)?
}

/// Bytes that were put into the store for a change that is about to be made.
struct StoredBytes: Sendable {
  let generation: Int64
  let byteCount: Int64
  let contentType: String
}
