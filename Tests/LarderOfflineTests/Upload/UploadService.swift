import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Synchronization

/// A service of orders and items in memory, V2 or V4, that fails as it is configured, and remembers what took effect.
final class UploadService: HTTPTransport {
  /// What goes wrong with a request.
  enum Fault: Sendable {
    /// This response, and nothing is done.
    case status(Int, HTTPFields = [:])
    /// Done, and the response is lost.
    case lost
    /// Never comes to the service.
    case unreachable
    /// Done, and the response is this.
    case response(Int, HTTPFields = [:])
    /// An entity comes from elsewhere, then the request is done.
    case late(String, Int, [String: String])
    /// A web page, and nothing is done.
    case page(Int)
    /// Done, and the response cannot be read.
    case garbage
    /// Done, and it ends there: the requesting process is to see no more.
    case hang
  }

  struct Behavior: Sendable {
    var isV2 = false
    var batchStatus: Int?
    var mostParts = Int.max
    var requiresIfMatch = false
    /// Takes back what a failed change set has done.
    var rollsBack = true
    /// Responds to each request of a failed change set separately.
    var respondsToEach = false
    var knowsNames = false
    var hasETags = true
    /// Changes get 204, without an ETag.
    var isSilent = false
    /// Says where it is what was made.
    var hasLocation = true
    /// Responses contain the key of what was created, and of what was changed nothing but that.
    var isPartial = false
    /// Entities in collections say their ETags.
    var hasListETags = true
    /// Keeps names in capitals, without spaces around them.
    var capitalizes = false
    /// Deletes no order that has items.
    var guardsItems = false
    /// Says in its metadata whether it recognises repeated requests.
    var declaresRepeatability: Bool?
    /// The response to batches instead of being done: status 200, media type and content.
    var batchResponse: (type: String, content: String)?
    /// The keys of each set are counted apart.
    var numbersSetsApart = false
    /// Rejects requests for their names, with this status.
    var rejectsNames: Int?
    /// Items say in no property to which order they belong.
    var linksPlainly = false
    /// Parts outside change sets carry the Content-IDs of their requests, too.
    var echoesNames = false
    /// Orders have `Due`, a timestamp, and `Weight`, a decimal.
    var hasDueAndWeight = false
    /// Changes the parts of a batch's response before they arrive: each a part's text without its boundary.
    var shapesParts: (@Sendable ([String]) -> [String])?
    /// How many entities a response has at most.
    var pageSize = Int.max
    /// The status of a change of an entity, which is not done then; nil if it is done. Gets whether the condition is the
    /// entity's ETag.
    var rejectsChange: (@Sendable (_ resource: String, _ isCurrent: Bool) -> Int?)?
    /// Each read of an entity gives it another ETag.
    var readsChangeETags = false
    /// An update without a condition creates its entity if that does not exist (upsert).
    var upserts = false
    /// Conditions have no effect on upserts.
    var ignoresConditions = false
    /// The metadata say that updates create nothing.
    var deniesUpserts = false
    /// The status of requests with `If-Match: *`.
    var rejectsAnyVersion: Int?
    /// Updates get 201.
    var updatesWith201 = false
    /// The response to a creation, in place of the usual one, and whether it is done.
    var createsWith: (status: Int, fields: HTTPFields, isDone: Bool)?
    /// Entities of which the service returns another one: their keys, and those of the others.
    var merged: [Int: Int] = [:]
    /// Whether a change of such an entity is done to the other one.
    var changesMerged = false
  }

  struct Entity: Sendable, Hashable {
    var values: [String: String]
    var version = 1
  }

  struct State: Sendable {
    var behavior = Behavior()
    var sets: [String: [Int: Entity]] = ["Orders": [:], "Items": [:]]
    var nextKey = 1000
    var root = "http://h/s/"
    /// Changes that took effect, in order.
    var log: [String] = []
    /// Changes of entities that arrived, in order, with their conditions: `PATCH Orders(1) W/"1"`.
    var attempts: [String] = []
    /// The texts that they brought and to what, in order: `Orders(1) text`.
    var marks: [String] = []
    /// All requests from outside.
    var requests: [String] = []
    var fault: (@Sendable (String) -> Fault?)?
    var names: [String: (Int, HTTPFields, String)] = [:]
    var lastFields: HTTPFields = [:]
    /// Every condition fails.
    var alwaysConflicts = false
    /// Called before a request is done and after, before its response is sent.
    var watch: (@Sendable (State) -> Void)?
  }

  private let state = Mutex(State())
  /// Requests that have been done and hang.
  let hangs = Tally("requests that hang")

  init(_ behavior: Behavior = Behavior()) { state.withLock { $0.behavior = behavior } }

  /// A service as another was at a point in time.
  init(_ point: State) {
    state.withLock { state in
      state = point
      (state.watch, state.fault) = (nil, nil)
    }
  }

  var identity: String { "" }
  var now: State { state.withLock { $0 } }
  var log: [String] { state.withLock { $0.log } }
  var attempts: [String] { state.withLock { $0.attempts } }
  var requests: [String] { state.withLock { $0.requests } }
  var lastFields: HTTPFields { state.withLock { $0.lastFields } }
  func entities(_ set: String) -> [Int: Entity] { state.withLock { $0.sets[set] ?? [:] } }
  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  /// What goes wrong with the next requests that `matches` holds for; `times` times.
  func fail(_ fault: Fault, times: Int = 1, where matches: @escaping @Sendable (String) -> Bool) {
    let left = Mutex(times)
    change { state in
      state.fault = { line in
        guard matches(line) else { return nil }
        let isDue = left.withLock { left in
          left -= 1
          return left >= 0
        }
        return isDue ? fault : nil
      }
    }
  }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    var body: [UInt8] = []
    switch request.body {
    case .none: break
    case .bytes(let bytes): body = bytes
    case .stream(_, let open):
      let stream = open()
      do { body = try await stream.collect() } catch { throw .connectionLost(reason: "") }
    }
    let path = request.url.absoluteString.components(separatedBy: "/s/").last ?? ""
    let text = path.removingPercentEncoding ?? path
    let line = "\(request.method) \(text)"
    let fault = state.withLock { state in
      if !text.hasPrefix("$metadata") { state.requests.append(line) }
      return state.fault?(line)
    }
    switch fault {
    case .unreachable?: throw .cannotConnect(host: "s", reason: "refused")
    case .status(let status, let fields)?: return response(request, status, fields, "")
    case .page(let status)?:
      return response(request, status, [.contentType: "text/html; charset=utf-8"], "<html></html>")
    case .late(let set, let key, let values)?: change { $0.sets[set]?[key] = Entity(values: values) }
    default: break
    }
    let isChange = request.method != .get
    if isChange, let watch = now.watch { watch(now) }
    let (status, fields, content) = state.withLock { state in
      state.lastFields = request.fields
      return state.response(request.method.rawValue, text, request.fields, body)
    }
    if let watch = now.watch { watch(now) }
    switch fault {
    case .lost?: throw .connectionLost(reason: "lost")
    case .response(let status, let fields)?: return response(request, status, fields, "")
    case .garbage?: return response(request, 200, [.contentType: "multipart/mixed"], "\u{0}\u{1}")
    case .hang?:
      hangs.add()
      await untilCancelled()
      throw .cancelled
    default: return response(request, status, fields, content)
    }
  }

  private func response(_ request: HTTPRequest, _ status: Int, _ fields: HTTPFields, _ body: String) -> HTTPResponse {
    HTTPResponse(status: status, fields: fields, url: request.url, body: HTTPBodyStream(Array(body.utf8)))
  }
}

extension UploadService.State {
  typealias Response = (Int, HTTPFields, String)

  mutating func response(_ method: String, _ path: String, _ fields: HTTPFields, _ body: [UInt8]) -> Response {
    if path.hasPrefix("$metadata") {
      var text = behavior.isV2 ? UploadService.metadataV2 : UploadService.metadataV4
      if let says = behavior.declaresRepeatability {
        text = text.replacingOccurrences(
          of: "<EntityContainer Name=\"C\">",
          with:
            "<EntityContainer Name=\"C\"><Annotation Term=\"Org.OData.Repeatability.V1.Supported\" Bool=\"\(says)\"/>")
      }
      if behavior.hasDueAndWeight {
        let total = "<Property Name=\"Total\" Type=\"Edm.Int32\"/>"
        text = text.replacingOccurrences(
          of: total,
          with: total + "<Property Name=\"Due\" Type=\"Edm.DateTimeOffset\" Precision=\"3\"/>"
            + "<Property Name=\"Weight\" Type=\"Edm.Decimal\" Precision=\"9\" Scale=\"2\"/>")
      }
      if behavior.deniesUpserts {
        text = text.replacingOccurrences(
          of: "<EntitySet Name=\"Orders\" EntityType=\"N.Order\">",
          with: "<EntitySet Name=\"Orders\" EntityType=\"N.Order\">"
            + "<Annotation Term=\"Org.OData.Capabilities.V1.UpdateRestrictions\"><Record>"
            + "<PropertyValue Property=\"Upsertable\" Bool=\"false\"/></Record></Annotation>")
      }
      if behavior.linksPlainly {
        let constraint = "<ReferentialConstraint Property=\"Order_ID\" ReferencedProperty=\"ID\"/>"
        text = text.replacingOccurrences(of: constraint, with: "")
      }
      return (200, [.contentType: "application/xml"], text)
    }
    if path.hasPrefix("$batch") { return batch(fields, body) }
    return single(method, path, fields, body, [:])
  }

  // MARK: Batches

  private mutating func batch(_ fields: HTTPFields, _ body: [UInt8]) -> Response {
    if let status = behavior.batchStatus { return (status, [:], "") }
    if let response = behavior.batchResponse { return (200, [.contentType: response.type], response.content) }
    guard let parts = try? MultipartBatchReader.requests(body, contentType: fields[.contentType] ?? "") else {
      return (400, [:], "")
    }
    if parts.count > behavior.mostParts { return (413, [:], "") }
    var texts: [String] = []
    for part in parts {
      switch part {
      case .single(let request): texts.append(message(single(request, [:]).1, behavior.echoesNames ? request.id : nil))
      case .changeSet(let requests): texts.append(changeSet(requests))
      }
    }
    let text = (behavior.shapesParts?(texts) ?? texts).map { "--b\r\n" + $0 }.joined()
    return (202, [.contentType: "multipart/mixed; boundary=b"], text + "--b--\r\n")
  }

  private mutating func changeSet(_ requests: [BatchRequest]) -> String {
    let before = (sets, log, nextKey, marks)
    var responses: [(String?, Response)] = []
    var keys: [String: String] = [:]
    var failure: Response?
    for request in requests {
      if failure != nil {
        responses.append((request.id, (424, [:], "")))
        continue
      }
      let (key, response) = single(request, keys)
      if let id = request.id, let key { keys[id] = key }
      responses.append((request.id, response))
      if response.0 >= 400 { failure = response }
    }
    if failure != nil, behavior.rollsBack { (sets, log, nextKey, marks) = before }
    if let failure, !behavior.respondsToEach { return message(failure, nil) }
    var text = "Content-Type: multipart/mixed; boundary=c\r\n\r\n"
    for (id, response) in responses { text += "--c\r\n" + message(response, id) }
    return text + "--c--\r\n"
  }

  private func message(_ response: Response, _ id: String?) -> String {
    var text = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
    if let id { text += "Content-ID: \(id)\r\n" }
    text += "\r\nHTTP/1.1 \(response.0) X\r\n"
    for field in response.1 { text += "\(field.name): \(field.value)\r\n" }
    return text + "Content-Length: \(response.2.utf8.count)\r\n\r\n\(response.2)\r\n"
  }

  private mutating func single(_ request: BatchRequest, _ keys: [String: String]) -> (String?, Response) {
    var path = (request.url.removingPercentEncoding ?? request.url).components(separatedBy: "/s/").last ?? ""
    if path.hasPrefix("$") {
      let id = path.dropFirst().prefix { $0 != "/" }
      path = (keys[String(id)] ?? "") + path.dropFirst(id.count + 1)
    }
    let response = single(request.method.rawValue, path, request.fields, request.body, keys)
    return (response.1[.location].map { $0.components(separatedBy: "/s/").last ?? "" }, response)
  }

  // MARK: Single requests

  private mutating func single(
    _ method: String, _ path: String, _ fields: HTTPFields, _ body: [UInt8], _ keys: [String: String]
  ) -> Response {
    let name = fields["Repeatability-Request-ID"] ?? fields["RequestID"]
    if let status = behavior.rejectsNames, name != nil {
      return (status, [behavior.isV2 ? "RepeatabilityResult" : "Repeatability-Result": "rejected"], error("a name"))
    }
    if behavior.knowsNames, let name, let known = names[name] { return known }
    var response = unnamed(method, path, fields, body, keys)
    if behavior.knowsNames, let name {
      response.1[behavior.isV2 ? "RepeatabilityResult" : "Repeatability-Result"] = "accepted"
      names[name] = response
    }
    return response
  }

  private mutating func unnamed(
    _ method: String, _ path: String, _ fields: HTTPFields, _ body: [UInt8], _ keys: [String: String]
  ) -> Response {
    let resource = path.prefix { $0 != "?" }.description
    var steps = resource.components(separatedBy: "/")
    let set = steps[0].prefix { $0 != "(" }.description
    guard sets[set] != nil else { return (404, [:], error("no \(set)")) }
    let key = steps[0].contains("(") ? Int(steps[0].dropFirst(set.count + 1).dropLast()) : nil
    steps.removeFirst()
    guard var members = members(body, keys) else { return (400, [:], error("bad JSON")) }
    if let key, method == "POST", steps == ["Items"] {
      members["Order_ID"] = String(key)
      return create("Items", members)
    }
    guard let key else { return method == "POST" ? create(set, members) : list(set, path) }
    if sets[set]?[key] == nil, behavior.upserts, method == "PATCH" {
      attempts.append("\(method) \(resource) \(fields[.ifMatch] ?? "-")")
      if fields[.ifMatch] != nil, !behavior.ignoresConditions { return (412, [:], error("no \(resource)")) }
      for name in ["Name", "Note", "Total"] { members[name] = members[name] ?? "null" }
      members["ID"] = String(key)
      return create(set, members)
    }
    guard var entity = sets[set]?[key] else { return (404, [:], error("no \(resource)")) }
    if method == "GET" {
      if let other = behavior.merged[key], let entity = sets[set]?[other] {
        return (200, self.fields(set, other, entity), json(set, other, entity))
      }
      if behavior.readsChangeETags {
        entity.version += 1
        sets[set]?[key] = entity
      }
      return (200, self.fields(set, key, entity), json(set, key, entity, expands: path.contains("$expand")))
    }
    if method == "PUT", let name = steps.first { members = [name: members["value"] ?? members[name] ?? "null"] }
    attempts.append("\(method) \(resource) \(fields[.ifMatch] ?? "-")")
    if let status = behavior.rejectsChange?(resource, fields[.ifMatch] == etag(entity)) {
      return (status, [.contentType: "application/json"], error("rejected"))
    }
    if fields[.ifMatch] == "*", let status = behavior.rejectsAnyVersion {
      return (status, [:], error("If-Match: * is not supported"))
    }
    if let condition = fields[.ifMatch] {
      if alwaysConflicts || condition != "*" && behavior.hasETags && condition != etag(entity) {
        return (412, [:], error("changed"))
      }
    } else if behavior.requiresIfMatch {
      return (428, [:], error("If-Match"))
    }
    if members["Name"] == "\"poison\"" { return (422, [:], error("poison")) }
    let hasItems = set == "Orders" && sets["Items"]?.values.contains { $0.values["Order_ID"] == String(key) } == true
    if method == "DELETE", behavior.guardsItems, hasItems { return (409, [:], error("it has items")) }
    log.append("\(method) \(resource)")
    note(members, resource)
    if let other = behavior.merged[key], var entity = sets[set]?[other] {
      if behavior.changesMerged { entity.values.merge(stored(members)) { _, new in new } }
      sets[set]?[other] = entity
      return method == "DELETE" || behavior.isSilent
        ? (204, [:], "") : (200, self.fields(set, other, entity), json(set, other, entity))
    }
    if method == "DELETE" {
      sets[set]?[key] = nil
      return (204, [:], "")
    }
    entity.values.merge(stored(members)) { _, new in new }
    entity.version += 1
    sets[set]?[key] = entity
    if behavior.isPartial { return (200, version, behavior.isV2 ? "{\"d\":{\"ID\":\(key)}}" : "{\"ID\":\(key)}") }
    if behavior.isSilent || behavior.isV2 { return (204, behavior.isSilent ? [:] : self.fields(set, key, entity), "") }
    return (behavior.updatesWith201 ? 201 : 200, self.fields(set, key, entity), json(set, key, entity))
  }

  private func stored(_ members: [String: String]) -> [String: String] {
    guard behavior.capitalizes else { return members }
    var members = members
    members["Name"] = members["Name"].map {
      "\"" + $0.uppercased().trimmingCharacters(in: CharacterSet(charactersIn: " \"")) + "\""
    }
    return members
  }

  private mutating func note(_ members: [String: String], _ resource: String) {
    marks += ["Name", "Note", "Text"].compactMap { members[$0].map { "\(resource) \($0.dropFirst().dropLast())" } }
  }

  private mutating func create(_ set: String, _ given: [String: String]) -> Response {
    var members = given
    if let response = behavior.createsWith, !response.isDone { return (response.status, response.fields, "") }
    if members["Name"] == "\"poison\"" || members["Text"] == "\"poison\"" { return (400, [:], error("poison")) }
    if set == "Items", let order = members["Order_ID"].flatMap({ Int($0) }), sets["Orders"]?[order] == nil {
      return (400, [:], error("no order \(order)"))
    }
    let free = behavior.numbersSetsApart ? max(1000, (sets[set]?.keys.max() ?? 0) + 1) : nextKey
    let key = members["ID"].flatMap { Int($0) } ?? free
    if members["ID"] == nil { nextKey += 1 }
    guard sets[set]?[key] == nil else { return (409, [:], error("exists")) }
    members["ID"] = String(key)
    members = stored(members)
    var children = members.removeValue(forKey: "Items")
    if let inner = children, inner.hasPrefix("{\"results\":") { children = String(inner.dropFirst(11).dropLast()) }
    let entity = UploadService.Entity(values: members)
    sets[set]?[key] = entity
    log.append("POST \(set)(\(key))")
    note(members, "\(set)(\(key))")
    for child in children.flatMap({ UploadService.objects(Array($0.utf8)) }) ?? [] {
      var child = child
      child["Order_ID"] = String(key)
      _ = create("Items", child)
    }
    if let response = behavior.createsWith { return (response.status, response.fields, "") }
    var fields = self.fields(set, key, entity)
    fields[.location] = root + "\(set)(\(key))"
    if !behavior.hasLocation { fields[.location] = nil }
    if behavior.isPartial { return (201, version, behavior.isV2 ? "{\"d\":{\"ID\":\(key)}}" : "{\"ID\":\(key)}") }
    if behavior.isSilent { return (204, behavior.hasLocation ? [.location: root + "\(set)(\(key))"] : [:], "") }
    return (201, fields, json(set, key, entity))
  }

  private func list(_ set: String, _ path: String) -> Response {
    var entities = (sets[set] ?? [:]).sorted { $0.key < $1.key }
    if let filter = path.components(separatedBy: "$filter=").dropFirst().first?.components(separatedBy: "&").first {
      guard !filter.contains(" or ") else { return (501, [:], error(filter)) }
      for part in filter.components(separatedBy: " and ") {
        let words = part.components(separatedBy: " eq ")
        guard words.count == 2 else { return (501, [:], error(part)) }
        let wanted = words[1].replacingOccurrences(of: "'", with: "\"")
        entities = entities.filter { plain($0.value.values[words[0]]) == plain(wanted) }
      }
    }
    let skip = path.components(separatedBy: "$skiptoken=").dropFirst().first.flatMap { Int($0) } ?? 0
    let hasNextPage = entities.count - skip > behavior.pageSize
    entities = Array(entities.dropFirst(skip).prefix(behavior.pageSize))
    let all = entities.map { key, entity in
      inner(set, key, entity, expands: path.contains("$expand"), reports: behavior.hasListETags)
    }.joined(separator: ",")
    let here = path.components(separatedBy: "&$skiptoken=")[0]
    let link =
      root
      + "\(here)\(here.contains("?") ? "&" : "?")$skiptoken=\(skip + entities.count)"
      .replacingOccurrences(of: " ", with: "%20")
    let next = hasNextPage ? (behavior.isV2 ? ",\"__next\":\"\(link)\"" : ",\"@odata.nextLink\":\"\(link)\"") : ""
    let text = behavior.isV2 ? "{\"d\":{\"results\":[\(all)]\(next)}}" : "{\"value\":[\(all)]\(next)}"
    return (200, HTTPFields([HTTPField(name: .contentType, value: "application/json")]).merged(version), text)
  }

  private func plain(_ text: String?) -> String? { text?.replacingOccurrences(of: "\"", with: "") }

  // MARK: Forms

  private var version: HTTPFields { behavior.isV2 ? [.dataServiceVersion: "2.0"] : [.odataVersion: "4.0"] }
  private func etag(_ entity: UploadService.Entity) -> String { "W/\"\(entity.version)\"" }

  private func fields(_ set: String, _ key: Int, _ entity: UploadService.Entity) -> HTTPFields {
    var fields = HTTPFields([.init(name: .contentType, value: "application/json")]).merged(version)
    if behavior.hasETags { fields[.etag] = etag(entity) }
    return fields
  }

  private func error(_ text: String) -> String {
    behavior.isV2
      ? "{\"error\":{\"code\":\"E\",\"message\":{\"lang\":\"en\",\"value\":\"\(text)\"}}}"
      : "{\"error\":{\"code\":\"E\",\"message\":\"\(text)\"}}"
  }

  private func json(_ set: String, _ key: Int, _ entity: UploadService.Entity, expands: Bool = false) -> String {
    let text = inner(set, key, entity, expands: expands)
    return behavior.isV2 ? "{\"d\":\(text)}" : text
  }

  private func inner(
    _ set: String, _ key: Int, _ entity: UploadService.Entity, expands: Bool, reports: Bool = true
  ) -> String {
    var parts = entity.values.sorted { $0.key < $1.key }.map { "\"\($0)\":\($1)" }
    let uri = root + "\(set)(\(key))"
    if behavior.isV2 {
      let etag = behavior.hasETags && reports ? ",\"etag\":\"W/\\\"\(entity.version)\\\"\"" : ""
      parts.insert("\"__metadata\":{\"id\":\"\(uri)\",\"uri\":\"\(uri)\"\(etag)}", at: 0)
    } else if behavior.hasETags && reports {
      parts.insert("\"@odata.etag\":\"W/\\\"\(entity.version)\\\"\"", at: 0)
    }
    if expands, set == "Orders" {
      let items = (sets["Items"] ?? [:]).sorted { $0.key < $1.key }.filter {
        $0.value.values["Order_ID"] == String(key)
      }
      .map { inner("Items", $0.key, $0.value, expands: false) }.joined(separator: ",")
      parts.append("\"Items\":" + (behavior.isV2 ? "{\"results\":[\(items)]}" : "[\(items)]"))
    }
    if expands, set == "Items" {
      let key = entity.values["Order_ID"].flatMap { Int($0) }
      let order = key.flatMap { key in sets["Orders"]?[key].map { inner("Orders", key, $0, expands: false) } }
      parts.append("\"Order\":" + (order ?? "null"))
    }
    return "{\(parts.joined(separator: ","))}"
  }

  /// The members of an object as JSON texts, references resolved.
  private func members(_ body: [UInt8], _ keys: [String: String]) -> [String: String]? {
    guard !body.isEmpty else { return [:] }
    var members = UploadService.objects(Array("[".utf8) + body + Array("]".utf8))?.first
    members?["__metadata"] = nil
    let bound = members?.removeValue(forKey: "Order@odata.bind") ?? members?.removeValue(forKey: "Order")
    if let bound {
      var reference = bound.replacingOccurrences(of: "\\/", with: "/")
      if let dollar = reference.firstIndex(of: "$") {
        let id = reference[reference.index(after: dollar)...].prefix { $0.isNumber }
        reference = keys[String(id)] ?? ""
      }
      let key = reference.components(separatedBy: "Orders(").last?.prefix { $0 != ")" }
      members?["Order_ID"] = key.map(String.init)
    }
    return members
  }
}

extension HTTPFields {
  fileprivate func merged(_ others: HTTPFields) -> HTTPFields {
    var fields = self
    for field in others { fields[field.name] = field.value }
    return fields
  }
}

extension UploadService {
  /// Objects of a JSON array, each member as JSON text.
  static func objects(_ bytes: [UInt8]) -> [[String: String]]? {
    guard let all = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [[String: Any]] else { return nil }
    return all.map { object in
      object.mapValues { value in
        let data = try? JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys])
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "null"
      }
    }
  }

  static let metadataV4 = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Name" Type="Edm.String"/><Property Name="Note" Type="Edm.String"/><Property Name="Total" Type="Edm.Int32"/>
    <NavigationProperty Name="Items" Type="Collection(N.Item)" Partner="Order"/></EntityType>
    <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Order_ID" Type="Edm.Int32"/><Property Name="Text" Type="Edm.String"/>
    <NavigationProperty Name="Order" Type="N.Order" Partner="Items"><ReferentialConstraint Property="Order_ID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="N.Order"><NavigationPropertyBinding Path="Items" Target="Items"/></EntitySet>
    <EntitySet Name="Items" EntityType="N.Item"><NavigationPropertyBinding Path="Order" Target="Orders"/></EntitySet></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>
    """

  static let metadataV2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
    <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Name" Type="Edm.String"/><Property Name="Note" Type="Edm.String"/><Property Name="Total" Type="Edm.Int32"/>
    <NavigationProperty Name="Items" Relationship="N.OI" FromRole="O" ToRole="I"/></EntityType>
    <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Order_ID" Type="Edm.Int32"/><Property Name="Text" Type="Edm.String"/>
    <NavigationProperty Name="Order" Relationship="N.OI" FromRole="I" ToRole="O"/></EntityType>
    <Association Name="OI"><End Role="O" Type="N.Order" Multiplicity="0..1"/><End Role="I" Type="N.Item" Multiplicity="*"/>
    <ReferentialConstraint><Principal Role="O"><PropertyRef Name="ID"/></Principal><Dependent Role="I"><PropertyRef Name="Order_ID"/></Dependent></ReferentialConstraint></Association>
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Orders" EntityType="N.Order"/><EntitySet Name="Items" EntityType="N.Item"/>
    <AssociationSet Name="OIS" Association="N.OI"><End Role="O" EntitySet="Orders"/><End Role="I" EntitySet="Items"/></AssociationSet></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>
    """
}
