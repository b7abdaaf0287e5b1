@_spi(Stores) import LarderCore
@_spi(Stores) import LarderHTTP
import LarderOData

/// The protocol of the service: requests become queries and changes, with ETags, pages, deltas and batches.
final class TestResponder: Sendable {
  /// What the test sets.
  struct Options: Sendable {
    var requiresETags = false
    var pageSize: Int?
    var tracksChanges = true
  }

  let model: TestModel
  var root: String { model.root }
  let queries: TestQueries
  let options = Locked(Options())
  let continuations = Locked(Continuations())
  private let metadata: [UInt8]
  private let rows: Exclusive<TestRows>

  init(_ rows: TestRows, metadata: [UInt8], queries: TestQueries) {
    model = rows.model
    self.metadata = metadata
    self.queries = queries
    self.rows = Exclusive(rows)
  }

  /// The rows as they are now.
  var current: TestRows { rows.run { $0 } }

  /// Changes the rows; an error leaves them as they were.
  func change<Result: Sendable>(
    _ body: (inout TestRows) throws(ServiceFault) -> Result
  ) throws(ServiceFault) -> Result {
    try rows.run { rows throws(ServiceFault) in
      var changed = rows
      let result = try body(&changed)
      changed.created = [:]
      rows = changed
      return result
    }
  }

  /// Responds to a request. The transport knows what the test has planned for the requests in a batch.
  func respond(to request: HTTPTestRequest, _ transport: ScriptedTransport?) async throws -> HTTPTestReply {
    do {
      var request = request
      if request.method == .post, let method = request.fields[.httpMethod] ?? request.fields[.httpMethodOverride] {
        request.method = HTTPMethod(rawValue: method)
      }
      switch request.resource {
      case "$batch" where request.method == .post: return try await batch(request, transport)
      case "$metadata" where request.method.isSafe: return metadataReply
      default:
        var created: [String: String] = [:]
        return try await single(request, created: &created)
      }
    } catch let fault as ServiceFault { return reply(to: fault) }
  }

  /// Responds to a request that is not a batch. `created` has the entities that earlier requests of a batch created.
  func single(
    _ request: HTTPTestRequest, id: String? = nil, created: inout [String: String]
  ) async throws(ServiceFault) -> HTTPTestReply {
    if request.method == .get || request.method == .head { return try await read(request) }
    let (reply, path) = try change { [created] rows throws(ServiceFault) in
      rows.created = created
      return try self.change(request, &rows)
    }
    if let id { created[id] = path }
    return reply
  }

  // MARK: Replies

  private var metadataReply: HTTPTestReply {
    let isJSON = metadata.first { $0 > 0x20 } == UInt8(ascii: "{")
    var fields = self.fields
    fields[.contentType] = isJSON ? "application/json" : "application/xml"
    return HTTPTestReply(fields: fields, body: metadata)
  }

  /// The fields of every response.
  var fields: HTTPFields { [.odataVersion: model.model.version >= .v401 ? "4.01" : "4.0"] }

  func reply(_ status: Int, _ node: JSONNode, _ more: HTTPFields = [:]) -> HTTPTestReply {
    var fields = fields
    fields[.contentType] = "application/json"
    for field in more { fields[field.name] = field.value }
    return HTTPTestReply(status: status, fields: fields, body: node.bytes)
  }

  /// The error response (JSON Format 4.0 §19).
  func reply(to fault: ServiceFault) -> HTTPTestReply {
    let error: [JSONNode.Member] = [
      .init("code", .string("\(fault.status)")), .init("message", .string(fault.message)),
    ]
    return reply(fault.status, .object([.init("error", .object(error))]))
  }

  // MARK: Changes

  /// Carries out one change, and returns the path of the entity that it created.
  func change(
    _ request: HTTPTestRequest, _ rows: inout TestRows
  ) throws(ServiceFault) -> (reply: HTTPTestReply, created: String?) {
    try checkOptions(request)
    let target = try target(request, rows)
    switch (request.method, target) {
    case (.post, .collection(let place)):
      let content = try content(request)
      return try created(try rows.insert(content, into: place), content: content, request: request, rows: rows)
    case (.post, .related(let owner, let navigation, let relation)):
      let content = try content(request)
      return try created(
        try rows.insert(content, relatedTo: owner, navigation, relation), content: content, request: request, rows: rows
      )
    case (.post, .reference(let owner, let navigation, _)), (.put, .reference(let owner, let navigation, _)):
      guard navigation.isCollection == (request.method == .post) else { break }
      let content = try content(request)
      guard let url = (content["@odata.id"] ?? content["@id"])?.string else {
        throw ServiceFault(400, "The content must have '@odata.id'.")
      }
      try rows.link(owner, navigation, to: try rows.path(ofReference: url))
      return (done(), nil)
    case (.patch, .row(let path)), (.merge, .row(let path)), (.put, .row(let path)):
      try checkCondition(request, try rows.row(path))
      try rows.update(path, try content(request), replaces: request.method == .put)
      return (try updated(try rows.row(path), request, rows), nil)
    case (.put, .nothing(let owner, let navigation, .contained(let cast))),
      (.patch, .nothing(let owner, let navigation, .contained(let cast))):
      let content = try content(request)
      return try created(
        try rows.insert(content, relatedTo: owner, navigation, .contained(cast: cast)), content: content,
        request: request, rows: rows)
    case (.delete, .row(let path)):
      try checkCondition(request, try rows.row(path))
      try rows.delete(path)
      return (done(), nil)
    case (.delete, .reference(let owner, let navigation, let target)):
      try unlink(owner, navigation: navigation, target: target, request: request, rows: &rows)
      return (done(), nil)
    case (_, .nothing(let owner, let navigation, _)):
      throw ServiceFault(404, "'\(navigation.name)' of '\(owner)' leads to nothing.")
    default: break
    }
    throw ServiceFault(405, "\(request.method) cannot be used on '\(request.path)'.")
  }

  /// What a change is for. An entity that does not exist is not created by PUT or PATCH.
  private func target(_ request: HTTPTestRequest, _ rows: TestRows) throws(ServiceFault) -> RowTarget {
    do throws(ServiceFault) { return try rows.target(request.encodedPath) } catch {
      guard error.status == 404, [.put, .patch, .merge].contains(request.method) else { throw error }
      if request.fields.contains(.ifNoneMatch) { throw .notSupported("upserts: \(request.method) of a new entity") }
      throw ServiceFault(404, "\(error.message) ODataTestService does not create entities by \(request.method).")
    }
  }

  /// System query options would change what is done, or the content of the response.
  private func checkOptions(_ request: HTTPTestRequest) throws(ServiceFault) {
    let shortNames: Set = [
      "select", "expand", "filter", "orderby", "top", "skip", "count", "search", "compute", "apply", "levels", "index",
      "schemaversion", "skiptoken", "deltatoken", "format", "id",
    ]
    let allowsShortNames = model.model.version >= .v401
    for name in request.optionNames
    where name.hasPrefix("$") || allowsShortNames && shortNames.contains(name.lowercased()) {
      // The link that a deletion removes, and the format that responses have anyway.
      if name == "$id", request.method == .delete { continue }
      if name == "$format", request.option(name)?.contains("json") ?? false { continue }
      throw .notSupported("the query option '\(name)' of \(request.method)")
    }
  }

  private func unlink(
    _ owner: String, navigation: EdmNavigationProperty, target: String?, request: HTTPTestRequest,
    rows: inout TestRows
  ) throws(ServiceFault) {
    if let url = request.option("$id") {
      try rows.unlink(owner, navigation, from: try rows.path(ofReference: url))
    } else if let target {
      try rows.unlink(owner, navigation, from: target)
    } else if navigation.isCollection {
      throw ServiceFault(400, "The URL must say which link to remove, by a key or by '$id'.")
    }
  }

  private func content(_ request: HTTPTestRequest) throws(ServiceFault) -> JSONNode {
    guard request.fields[.contentType]?.contains("json") ?? true else {
      throw ServiceFault(415, "The content must be JSON.")
    }
    if request.body.isEmpty { return .object([]) }
    do throws(JSONError) { return try JSONNode(request.body) } catch { throw ServiceFault(400, "\(error)") }
  }

  private func checkCondition(_ request: HTTPTestRequest, _ row: StoredRow) throws(ServiceFault) {
    if let condition = request.fields[.ifNoneMatch], ETagList(condition).contains(row.etag) {
      throw ServiceFault(412, "'\(row.path)' exists with the ETag \(row.etag), and 'If-None-Match' is \(condition).")
    }
    guard let condition = request.fields[.ifMatch] else {
      if options.withLock({ $0.requiresETags }) { throw ServiceFault(428, "The request needs 'If-Match'.") }
      return
    }
    guard ETagList(condition).contains(row.etag) else {
      throw ServiceFault(412, "'\(row.path)' was changed: its ETag is \(row.etag), not \(condition).")
    }
  }

  private func done() -> HTTPTestReply { HTTPTestReply(status: 204, fields: fields, body: []) }

  private func created(
    _ path: String, content: JSONNode, request: HTTPTestRequest, rows: TestRows
  ) throws(ServiceFault) -> (reply: HTTPTestReply, created: String?) {
    let row = try rows.row(path)
    var more: HTTPFields = [.location: root + row.url, .etag: row.etag]
    if Preferences(request)["return"] == "minimal" {
      more["OData-EntityId"] = root + row.url
      more[.preferenceApplied] = "return=minimal"
      var reply = done()
      for field in more { reply.fields[field.name] = field.value }
      return (reply, path)
    }
    return (reply(201, entity(row, .created(content), rows), more), path)
  }

  private func updated(
    _ row: StoredRow, _ request: HTTPTestRequest, _ rows: TestRows
  ) throws(ServiceFault) -> HTTPTestReply {
    guard Preferences(request)["return"] == "representation" else {
      var reply = done()
      reply.fields[.etag] = row.etag
      return reply
    }
    return reply(200, entity(row, .none, rows), [.etag: row.etag, .preferenceApplied: "return=representation"])
  }

  private func entity(_ row: StoredRow, _ inclusion: TestRows.Inclusion, _ rows: TestRows) -> JSONNode {
    let place = row.place.url + (row.place.isCollection ? "/$entity" : "")
    let context = JSONNode.Member("@odata.context", .string("\(root)$metadata#\(place)"))
    return .object([context] + (rows.payload(row, inclusion).members ?? []))
  }
}

/// The value of `If-Match` or `If-None-Match`.
struct ETagList {
  private let tags: [Substring]

  init(_ text: String) {
    tags = text.split(separator: ",").map { $0.drop { $0 == " " } }.map { tag in
      let end = tag.lastIndex { $0 != " " }.map { tag.index(after: $0) } ?? tag.endIndex
      return tag[..<end]
    }
  }

  /// Whether an ETag is in the list, or the list is `*`. Weak and strong ETags are equal: all of the service are weak.
  func contains(_ etag: String) -> Bool {
    func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
    return tags.contains { $0 == "*" || opaque($0) == opaque(etag[...]) }
  }
}

/// The preferences of a request (RFC 7240), without the prefix `odata.`.
struct Preferences {
  private var values: [String: String] = [:]

  init(_ request: HTTPTestRequest) {
    for item in request.fields.values(of: .prefer).flatMap({ $0.split(separator: ",") }) {
      let sides = item.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map { side in
        side.filter { $0 != " " && $0 != "\"" }
      }
      guard let name = sides.first?.lowercased() else { continue }
      values[name.hasPrefix("odata.") ? String(name.dropFirst(6)) : name] = sides.count == 2 ? sides[1] : ""
    }
  }

  /// The value of a preference; empty if it has none, nil if it is not given.
  subscript(name: String) -> String? { values[name] }
}

extension HTTPTestRequest {
  /// The path without its query.
  var resource: String { String(path.prefix { $0 != "?" }) }

  /// The names of the query options, decoded.
  var optionNames: [String] {
    encodedPath.drop { $0 != "?" }.dropFirst().split(separator: "&").map { option in
      let name = String(option.prefix { $0 != "=" })
      return PercentEncoding.decode(name) ?? name
    }
  }

  /// The value of a query option, decoded.
  func option(_ name: String) -> String? {
    let options = encodedPath.drop { $0 != "?" }.dropFirst().split(separator: "&")
    return options.map { PercentEncoding.decode(String($0)) ?? String($0) }.first { $0.hasPrefix(name + "=") }.map {
      String($0.dropFirst(name.count + 1))
    }
  }
}
