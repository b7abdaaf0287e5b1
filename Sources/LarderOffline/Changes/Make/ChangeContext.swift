@_spi(Stores) import LarderCore
import LarderOData
import LarderService
import LarderStorage

/// What changes need to know about the service. It is created once for each model.
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
  /// What of a change's content is sent.
  var contentRules: ContentRules { ContentRules(root, version: model.version, model: model) }

  func rules(_ table: EntityTable) -> ChangeRules { rules(table, below: []) }

  private func rules(_ table: EntityTable, below: Set<Int>) -> ChangeRules {
    if let rules = rulesByTable.withLock({ $0[table.number] }) { return rules }
    var source: String?
    var container: ChangeRules.Container?
    switch table.place {
    case .entitySet(let name), .singleton(let name): source = name
    case .containment(let number, let path) where !below.contains(number):
      let parent = plan.tables[number]
      container = ChangeRules.Container(
        path: path.joined(separator: "/"), types: parent.types,
        rules: self.rules(parent, below: below.union([table.number])))
    case .containment, .type: break
    }
    let rules = ChangeRules(source: source, types: table.types, model, in: container)
    rulesByTable.withLock { $0[table.number] = rules }
    return rules
  }

  /// Binds a path relative to the service's root.
  func bind(_ text: String) throws -> ODataBoundPath {
    let bound = try binder.bind(try parser.relativeURL(text), text: text)
    guard case .path(let path) = bound.resource else {
      throw OfflineODataError(.unsupportedChange, "'\(text.prefix(200))' cannot be changed")
    }
    return path
  }

  /// Splits a URL into the path relative to the service's root, and the query.
  func split(_ url: String) throws -> (path: String, query: String?) {
    guard let text = root.relative(try root.absoluteText(url)) else {
      throw OfflineODataError(.malformedURL, "'\(url.prefix { $0 != "?" })' is not a resource of the service")
    }
    guard let mark = text.firstIndex(of: "?") else { return (text, nil) }
    var query = text[text.index(after: mark)...]
    // Options of the root itself are added to every URL when it is sent, so they are removed here.
    if let rootQuery = root.query, query.hasSuffix(rootQuery) {
      query = query.dropLast(rootQuery.count)
      if query.last == "&" { query.removeLast() }
    }
    return (String(text[..<mark]), query.isEmpty ? nil : String(query))
  }
}

/// The result of an applied change, from which the response is created.
struct AppliedChange: Sendable {
  var status: Int
  /// The entity that was created or changed.
  var entity: RowReference?
  /// The path of the entity, by its local key.
  var path: String?
  var etag: String?
  /// Whether the response contains the entity.
  var showsEntity = false
  /// The key of an entity of a set, in the table's order; nil for other entities.
  var key: [SQLValue]?
  /// The content of the response, and its media type.
  var shown: (bytes: [UInt8], mediaType: String)?
}

/// Bytes that were stored for a change before it is applied.
struct StoredBytes: Sendable {
  let generation: Int64
  let byteCount: Int64
  let contentType: String
}

extension OfflineODataError {
  /// An error for a change that the model does not allow, with the annotation.
  static func restricted(_ name: OfflineODataErrorName, _ subject: String, by annotation: String) -> OfflineODataError {
    OfflineODataError(name, "\(subject) (\(annotation))")
  }
}
