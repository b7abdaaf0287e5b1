import LarderHTTP
import LarderOData

// Reads: entities, collections page by page, deltas.
extension ModelService {
  func read(_ resource: Resource, _ path: String, _ query: [String: String], _ fields: HTTPFields) -> ModelResponse {
    switch resource {
    case .entity(let name):
      guard let entity = entities[name] else { return error(404, "no \(name)") }
      return entityResponse(name, entity, status: 200, expand: expand(query))
    case .nothing: return ModelResponse(204)
    case .collection(let schema, let parent):
      if let parent, entities[parent] == nil { return error(404, "no \(parent)") }
      let all = entities.keys.filter { name in
        name.set == schema.name && (parent == nil || entities[name]?.values["Order_ID"]?.text == parent?.key)
      }
      return collection(all.sorted(), schema, path, query, fields)
    case .linked(let name, let navigation):
      guard let schema = ModelSchema.set(navigation.target), entities[name] != nil else { return error(404, path) }
      return collection(targets(of: name, navigation), schema, path, query, fields)
    case .stream(let name):
      guard let entity = entities[name], let bytes = entity.bytes else { return error(404, "no stream") }
      var response = ModelResponse(200, [.contentType: "image/x"])
      if kind.streamETags != .none { response.fields[.etag] = entity.bytesETag }
      response.body = bytes
      return response
    case .property(let name, let property):
      guard let value = entities[name]?.values[property] else { return error(404, "no \(property)") }
      return ModelResponse(
        200, jsonFields, kind.isV2 ? "{\"d\":{\"\(property)\":\(value.jsonText)}}" : "{\"value\":\(value.jsonText)}")
    case .link(let name, let navigation, _):
      guard entities[name] != nil else { return error(404, "no \(name)") }
      let all = targets(of: name, navigation)
      if !navigation.isCollection, all.isEmpty { return ModelResponse(204) }
      let texts = all.map { kind.isV2 ? "{\"uri\":\"\(Self.root)\($0)\"}" : "{\"@odata.id\":\"\($0)\"}" }
      let text = navigation.isCollection ? "[\(texts.joined(separator: ","))]" : texts[0]
      let whole = navigation.isCollection ? (kind.isV2 ? "{\"results\":\(text)}" : "{\"value\":\(text)}") : text
      return ModelResponse(200, jsonFields, kind.isV2 ? "{\"d\":\(whole)}" : whole)
    case .action: return error(405, "an action")
    }
  }

  func expand(_ query: [String: String]) -> [String] {
    (query["$expand"] ?? "").split(separator: ",").map { String($0.prefix { $0 != "(" && $0 != "/" }) }
  }

  private func collection(
    _ names: [Name], _ schema: ModelSchema.EntitySet, _ path: String, _ query: [String: String], _ fields: HTTPFields
  ) -> ModelResponse {
    if let token = query["$deltatoken"].flatMap({ Int($0) }) { return delta(schema, query, since: token) }
    var all = names
    if let filter = query["$filter"] {
      for name in names where ModelFilter.holds(filter, entities[name]?.values ?? [:]) == nil {
        return error(501, filter)
      }
      all = names.filter { ModelFilter.holds(filter, entities[$0]?.values ?? [:]) == true }
    }
    let count = all.count
    let skipped = Int(query["$skiptoken"] ?? query["$skip"] ?? "") ?? 0
    let limit = query["$top"].flatMap { Int($0) } ?? .max
    let page = min(limit, kind.pageSize ?? .max)
    let shown = Array(all.dropFirst(skipped).prefix(page))
    let expands = expand(query)
    let texts = shown.map { text($0, expands) }.joined(separator: ",")
    var next = ""
    if shown.count < limit, skipped + shown.count < count {
      let rest = query.filter { $0.key != "$skiptoken" && $0.key != "$skip" }.sorted { $0.key < $1.key }
        .map { "&\($0.key)=\($0.value)" }.joined()
      next = Self.root + Self.encoded("\(path)?$skiptoken=\(skipped + shown.count)\(rest)")
    }
    if kind.isV2 {
      let link = next.isEmpty ? "" : ",\"__next\":\"\(next)\""
      let total = query["$inlinecount"] == "allpages" ? ",\"__count\":\"\(count)\"" : ""
      return ModelResponse(200, jsonFields, "{\"d\":{\"results\":[\(texts)]\(total)\(link)}}")
    }
    var response = jsonFields
    var end = next.isEmpty ? "" : ",\"@odata.nextLink\":\"\(next)\""
    let isTracked = fields[.prefer]?.contains("track-changes") == true && tracks(path, query, schema)
    if isTracked {
      response[.preferenceApplied] = "odata.track-changes"
      if next.isEmpty { end = ",\"@odata.deltaLink\":\"\(deltaLink(schema, query))\"" }
    }
    let total = query["$count"] == "true" ? "\"@odata.count\":\(count)," : ""
    let context =
      "$metadata#\(schema.name)" + (expands.isEmpty ? "" : "(" + expands.map { $0 + "()" }.joined(separator: ",") + ")")
    return ModelResponse(200, response, "{\"@odata.context\":\"\(context)\",\(total)\"value\":[\(texts)]\(end)}")
  }

  // MARK: Deltas

  private func tracks(_ path: String, _ query: [String: String], _ schema: ModelSchema.EntitySet) -> Bool {
    guard path == schema.name, query["$filter"] == nil, query["$top"] == nil, kind.pageSize == nil else { return false }
    switch kind.deltas {
    case .none: return false
    case .plain: return query["$expand"] == nil
    case .expanded: return true
    }
  }

  private func deltaLink(_ schema: ModelSchema.EntitySet, _ query: [String: String]) -> String {
    let expand = query["$expand"].map { "&$expand=\($0)" } ?? ""
    return Self.root + Self.encoded("\(schema.name)?$deltatoken=\(clock)\(expand)")
  }

  /// What has changed since a time: entities with their whole expansions, and what is gone.
  private func delta(_ schema: ModelSchema.EntitySet, _ query: [String: String], since: Int) -> ModelResponse {
    let expands = expand(query)
    let changed = entities.filter { $0.key.set == schema.name && $0.value.touched > since }.map(\.key).sorted()
    var texts = changed.map { text($0, expands) }
    for removal in removals where removal.at > since && removal.name.set == schema.name && entities[removal.name] == nil
    {
      texts.append(
        kind.isV401
          ? "{\"@removed\":{\"reason\":\"deleted\"},\"@id\":\"\(removal.name)\"}"
          : "{\"@odata.context\":\"$metadata#\(schema.name)/$deletedEntity\",\"id\":\"\(removal.name)\",\"reason\":\"deleted\"}"
      )
    }
    let inner = expands.isEmpty ? "" : "(" + expands.map { $0 + "()" }.joined(separator: ",") + ")"
    let context = "$metadata#\(schema.name)\(inner)/$delta"
    return ModelResponse(
      200, jsonFields,
      "{\"@odata.context\":\"\(context)\",\"value\":[\(texts.joined(separator: ","))],\"@odata.deltaLink\":\"\(deltaLink(schema, query))\"}"
    )
  }

  // MARK: Texts

  /// The response that shows an entity.
  func entityResponse(_ name: Name, _ entity: Entity, status: Int, expand: [String]) -> ModelResponse {
    var fields = jsonFields
    if kind.hasETags { fields[.etag] = entity.etag }
    let text = text(name, expand)
    if kind.isV2 { return ModelResponse(status, fields, "{\"d\":\(text)}") }
    var context = "$metadata#\(name.set)/$entity"
    if name.set == "Setting" { context = kind.namesTypeInContext ? "$metadata#N.Setting" : "$metadata#Setting" }
    return ModelResponse(status, fields, "{\"@odata.context\":\"\(context)\",\(text.dropFirst())")
  }

  private func text(_ name: Name, _ expand: [String]) -> String {
    guard let entity = entities[name], let schema = ModelSchema.set(name.set) else { return "null" }
    var parts: [String] = []
    let uri = Self.root + name.description
    let hasStream = entity.bytes != nil
    if kind.isV2 {
      let etag = kind.hasETags ? ",\"etag\":\(JSONNode.string(entity.etag).jsonText)" : ""
      var media = ""
      if hasStream {
        media = ",\"media_src\":\"\(uri)/$value\",\"edit_media\":\"\(uri)/$value\",\"content_type\":\"image/x\""
        if kind.streamETags != .none { media += ",\"media_etag\":\(JSONNode.string(entity.bytesETag).jsonText)" }
      }
      parts.append("\"__metadata\":{\"id\":\"\(uri)\",\"uri\":\"\(uri)\",\"type\":\"N.\(schema.type)\"\(etag)\(media)}")
    } else {
      if kind.hasETags { parts.append("\"@odata.etag\":\(JSONNode.string(entity.etag).jsonText)") }
      if hasStream, kind.streamETags != .none {
        parts.append("\"@odata.mediaEtag\":\(JSONNode.string(entity.bytesETag).jsonText)")
      }
    }
    parts += entity.values.sorted { $0.key < $1.key }.map { "\"\($0)\":\($1.jsonText)" }
    for member in expand {
      guard let navigation = schema.navigation(member) else { continue }
      let texts = targets(of: name, navigation).map { self.text($0, []) }
      let list = "[\(texts.joined(separator: ","))]"
      let value = navigation.isCollection ? (kind.isV2 ? "{\"results\":\(list)}" : list) : texts.first ?? "null"
      parts.append("\"\(member)\":\(value)")
    }
    return "{\(parts.joined(separator: ","))}"
  }

  static func encoded(_ text: String) -> String {
    text.replacing(" ", with: "%20").replacing("'", with: "%27")
  }
}
