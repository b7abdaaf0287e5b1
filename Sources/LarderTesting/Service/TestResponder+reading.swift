@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData

/// What links of earlier responses continue.
struct Continuations: Sendable {
  /// The rest of a collection.
  struct Page: Sendable {
    /// The decoded path of the collection.
    var resource: String
    var head: [JSONNode.Member]
    var entities: [JSONNode]
    var end: [JSONNode.Member]
    var fields: HTTPFields
  }

  /// A query, and its result at the time of the delta link.
  struct Delta: Sendable {
    /// The decoded path of the collection.
    var resource: String
    var path: String
    var result: TrackedResult
  }

  /// The entities of a result by their paths.
  struct TrackedResult: Sendable {
    var place: RowCollection
    var entities: [String: (url: String, node: JSONNode)] = [:]
  }

  private var lastToken = 0
  private var pages: [String: Page] = [:]
  private var deltas: [String: Delta] = [:]

  mutating func add(_ page: Page) -> String {
    lastToken += 1
    pages["\(lastToken)"] = page
    return "\(lastToken)"
  }

  mutating func add(_ delta: Delta) -> String {
    lastToken += 1
    deltas["\(lastToken)"] = delta
    return "\(lastToken)"
  }

  func page(_ token: String) -> Page? { pages[token] }
  func delta(_ token: String) -> Delta? { deltas[token] }
  mutating func expireDeltas() { deltas = [:] }
}

// Reads: the store of the queries evaluates them; pages and deltas are made of its results.
extension TestResponder {
  func read(_ request: HTTPTestRequest) async throws(ServiceFault) -> HTTPTestReply {
    if let token = request.option("$skiptoken") {
      guard let page = continuations.withLock({ $0.page(token) }), page.resource == request.resource else {
        throw ServiceFault(410, "The link to this page was not given by this service.")
      }
      return deliver(page, request)
    }
    if let token = request.option("$deltatoken") { return try await delta(token, request) }
    let rows = current
    let bound = try model.bind(request.encodedPath)
    if case .path(let path) = bound.resource, path.segments.count == 1,
      case .source(let source)? = path.segments.first?.kind,
      model.isNullableSingleton(source.name), rows.rows[source.name] == nil
    {
      return HTTPTestReply(status: 204, fields: fields, body: [])
    }
    var reply = try await queries.read(request.encodedPath, accept: request.fields[.accept], rows)
    // The ETag of an entity does not tell whether expanded entities have changed.
    if !bound.options.expand.isEmpty { reply.fields[.etag] = nil }
    guard reply.status == 200, case .path(let path) = bound.resource else { return reply }
    if let etag = reply.fields[.etag], let condition = request.fields[.ifNoneMatch], ETagList(condition).contains(etag)
    {
      return HTTPTestReply(status: 304, fields: [.etag: etag], body: [])
    }
    guard path.type?.isCollection == true, path.type?.structure?.isEntityType == true,
      let node = try? JSONNode(reply.body), var members = node.members,
      let index = members.firstIndex(where: { $0.name == "value" }), let entities = members[index].value.items
    else { return reply }
    members.remove(at: index)
    var page = Continuations.Page(
      resource: request.resource, head: members, entities: entities, end: [], fields: reply.fields)
    if let result = tracked(entities, path: path, options: bound.options, request: request, rows: rows) {
      page.end = [deltaLink(.init(resource: request.resource, path: request.encodedPath, result: result))]
      page.fields[.preferenceApplied] = "odata.track-changes"
    }
    return deliver(page, request)
  }

  /// The page of a collection, with a link to the rest.
  private func deliver(_ page: Continuations.Page, _ request: HTTPTestRequest) -> HTTPTestReply {
    let limits = [options.withLock { $0.pageSize }, Preferences(request)["maxpagesize"].flatMap { Int($0) }]
    let size = max(1, limits.compactMap(\.self).min() ?? .max)
    var end = page.end
    if page.entities.count > size {
      var rest = page
      rest.head.removeAll { $0.name.hasSuffix("count") }
      rest.entities = Array(page.entities.dropFirst(size))
      let token = continuations.withLock { [rest] in $0.add(rest) }
      end = [.init("@odata.nextLink", .string("\(root)\(request.encodedResource)?$skiptoken=\(token)"))]
    }
    let value = JSONNode.Member("value", .array(Array(page.entities.prefix(size))))
    return HTTPTestReply(fields: page.fields, body: JSONNode.object(page.head + [value] + end).bytes)
  }

  // MARK: Deltas

  /// The result, if the service tracks the changes of the query.
  private func tracked(
    _ entities: [JSONNode], path: ODataBoundPath, options: ODataBoundOptions, request: HTTPTestRequest,
    rows: TestRows
  ) -> Continuations.TrackedResult? {
    guard Preferences(request)["track-changes"] != nil, self.options.withLock({ $0.tracksChanges }),
      options.apply == nil, options.top == nil, options.skip == nil
    else { return nil }
    return result(entities, path, rows)
  }

  private func result(
    _ entities: [JSONNode], _ path: ODataBoundPath, _ rows: TestRows
  ) -> Continuations.TrackedResult? {
    let place: RowCollection
    switch try? rows.target(path) {
    case .collection(let collection)?: place = collection
    case .related(_, _, let relation)?:
      guard let target = relation.target else { return nil }
      place = target
    default: return nil
    }
    var result = Continuations.TrackedResult(place: place)
    for entity in entities {
      guard let address = address(entity, in: place, rows) else { return nil }
      result.entities[address.path] = (address.url, entity)
    }
    return result
  }

  /// The path and the URL of an entity in a result. With `$select`, it can have an identifier in place of its key.
  private func address(_ entity: JSONNode, in place: RowCollection, _ rows: TestRows) -> (path: String, url: String)? {
    if let id = (entity["@odata.id"] ?? entity["@id"])?.string {
      return (try? rows.path(ofReference: id)).flatMap { rows.rows[$0] }.map { ($0.path, $0.url) }
    }
    let values = Dictionary((entity.members ?? []).map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    return try? model.address(values, in: place)
  }

  private func deltaLink(_ delta: Continuations.Delta) -> JSONNode.Member {
    let token = continuations.withLock { $0.add(delta) }
    let resource = delta.path.prefix { $0 != "?" }
    return .init("@odata.deltaLink", .string("\(root)\(resource)?$deltatoken=\(token)"))
  }

  /// What has changed in the result of a query: entities that are new or different, as they are now, and those that are
  /// gone (Protocol 4.0 §11.3). A different expanded entity makes the entity that expands it different.
  private func delta(_ token: String, _ request: HTTPTestRequest) async throws(ServiceFault) -> HTTPTestReply {
    guard let former = continuations.withLock({ $0.delta(token) }), former.resource == request.resource else {
      throw ServiceFault(410, "The delta link has expired, or was not given by this service.")
    }
    let rows = current
    let bound = try model.bind(former.path)
    let reply: HTTPTestReply
    do throws(ServiceFault) {
      reply = try await queries.read(former.path, accept: request.fields[.accept], rows)
    } catch {
      guard error.status == 404 else { throw error }
      throw ServiceFault(410, "'\(former.resource)' does not exist any more, so its changes cannot be reported.")
    }
    guard case .path(let path) = bound.resource, let node = try? JSONNode(reply.body),
      let entities = node["value"]?.items, let result = result(entities, path, rows)
    else { throw ServiceFault(410, "The changes of this query cannot be reported.") }
    let resource = former.path.prefix { $0 != "?" }
    let context = (node["@odata.context"] ?? node["@context"])?.string ?? "\(root)$metadata#\(resource)"
    let (old, new) = (former.result.entities, result.entities)
    let changed = new.filter { old[$0.key]?.node != $0.value.node }.sorted { $0.key < $1.key }.map(\.value.node)
    let removed = old.filter { new[$0.key] == nil }.sorted { $0.key < $1.key }.map { path, entity in
      removal(rows.rows[path] == nil ? "deleted" : "changed", url: root + entity.url, from: result.place)
    }
    let page = Continuations.Page(
      resource: request.resource, head: [.init("@odata.context", .string(context + "/$delta"))],
      entities: changed + removed,
      end: [deltaLink(.init(resource: former.resource, path: former.path, result: result))], fields: reply.fields)
    return deliver(page, request)
  }

  private func removal(_ reason: String, url: String, from place: RowCollection) -> JSONNode {
    let (reason, id) = (JSONNode.string(reason), JSONNode.string(url))
    if model.model.version >= .v401 {
      return .object([.init("@removed", .object([.init("reason", reason)])), .init("@id", id)])
    }
    let context = JSONNode.string("\(root)$metadata#\(place.url)/$deletedEntity")
    return .object([.init("@odata.context", context), .init("id", id), .init("reason", reason)])
  }
}

extension HTTPTestRequest {
  /// The path without its query, as it was sent.
  var encodedResource: String { String(encodedPath.prefix { $0 != "?" }) }
}
