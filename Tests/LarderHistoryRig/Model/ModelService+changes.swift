import LarderHTTP
import LarderOData

// Changes: what they do, under which condition, and what they overwrite.
extension ModelService {
  /// The response that rejects a request for its condition; nil if it may continue.
  private func rejection(_ request: ModelRequest, etag: String, isNeeded: Bool, hasETags: Bool) -> ModelResponse? {
    guard let condition = request.fields[.ifMatch] else {
      return isNeeded ? error(428, "If-Match is required") : nil
    }
    return hasETags && condition != "*" && condition != etag ? error(412, "changed") : nil
  }

  // MARK: POST

  mutating func post(_ resource: Resource, _ request: ModelRequest, _ created: [String: Name]) -> ModelResponse {
    switch resource {
    case .collection(let schema, let parent):
      if schema.name == "Photos" { return createMedia(request) }
      guard let node = try? JSONNode(request.body), var members = Members(node) else { return error(400, "bad JSON") }
      if let parent {
        guard entities[parent] != nil else { return error(404, "no \(parent)") }
        members.values["Order_ID"] = .number(parent.key)
      }
      return create(schema, members, created)
    case .link(let name, let navigation, _): return link(name, navigation, request, created)
    case .action(let action):
      note(.action, Name(action, ""))
      return ModelResponse(204, kind.isV2 ? [:] : [.odataVersion: "4.0"])
    default: return error(405, "POST")
    }
  }

  /// The members of an entity's text: values, links, entities to make with it.
  struct Members {
    var values: [String: JSONNode] = [:]
    var bindings: [String: [String]] = [:]
    var children: [String: [Members]] = [:]

    init?(_ node: JSONNode) {
      guard let members = node.members else { return nil }
      for member in members {
        let name = member.name
        if name == "__metadata" || name.hasPrefix("@") { continue }
        if name.hasSuffix("@odata.bind") || name.hasSuffix("@bind") {
          let texts = member.value.items?.compactMap(\.string) ?? [member.value.string].compactMap(\.self)
          bindings[String(name.prefix { $0 != "@" })] = texts
        } else if ["Items", "Buyer", "Tags", "Order"].contains(name) {
          take(name, member.value["results"] ?? member.value)
        } else if !name.contains("@") {
          values[name] = member.value
        }
      }
    }

    private mutating func take(_ name: String, _ value: JSONNode) {
      if value == .null {
        bindings[name] = []
        return
      }
      for one in value.items ?? [value] {
        let uri = one["__metadata"]?["uri"]?.string ?? one["@odata.id"]?.string ?? one["@id"]?.string
        if let uri {
          bindings[name, default: []].append(uri)
        } else if let child = Members(one) {
          children[name, default: []].append(child)
        }
      }
    }
  }

  func name(at reference: String, _ created: [String: Name]) -> Name? {
    if case .entity(let name)? = resource(Self.split(Self.resolved(reference, created)).path) { name } else { nil }
  }

  private mutating func create(
    _ schema: ModelSchema.EntitySet, _ members: Members, _ created: [String: Name]
  ) -> ModelResponse {
    let before = self
    var children: [Name] = []
    guard let name = insert(schema, members, created, &children) else {
      self = before
      return error(400, "an entity that is not there, or is there already")
    }
    note(.create, name, children: children)
    guard let entity = entities[name] else { return error(500, "lost") }
    let location = Self.root + name.description
    if kind.insertion == .noContent {
      var fields: HTTPFields = [.location: location]
      if !kind.isV2 {
        fields[.odataVersion] = "4.0"
        fields["OData-EntityId"] = location
      }
      if kind.hasETags { fields[.etag] = entity.etag }
      return ModelResponse(204, fields)
    }
    let shows = kind.insertion == .whole && !members.children.isEmpty
    var response = entityResponse(name, entity, status: 201, expand: shows ? members.children.keys.sorted() : [])
    response.fields[.location] = location
    return response
  }

  private mutating func insert(
    _ schema: ModelSchema.EntitySet, _ members: Members, _ created: [String: Name], _ children: inout [Name]
  ) -> Name? {
    var members = members
    let key: String
    if let given = members.values["ID"]?.text {
      key = given
    } else {
      nextKey += 1
      key = String(nextKey)
    }
    let name = Name(schema.name, key)
    guard entities[name] == nil else { return nil }
    if let order = members.bindings.removeValue(forKey: "Order")?.first {
      guard let target = self.name(at: order, created), entities[target] != nil else { return nil }
      members.values["Order_ID"] = .number(target.key)
    }
    if schema.name == "Items", let order = members.values["Order_ID"]?.text, entities[Name("Orders", order)] == nil {
      return nil
    }
    clock += 1
    var entity = Entity(values: stored(members.values), version: clock, touched: clock)
    entity.sent = Set(members.values.keys).union(members.bindings.keys)
    entity.values["ID"] = schema.hasTextKey ? .string(key) : .number(key)
    for property in schema.texts + schema.numbers where entity.values[property] == nil {
      entity.values[property] = .null
    }
    if schema.name == "Places", entity.values["Where"] == nil { entity.values["Where"] = .null }
    for slot in entity.values.keys { entity.writers[slot] = writer }
    for (link, references) in members.bindings {
      let targets = references.compactMap { self.name(at: $0, created) }
      guard targets.count == references.count, targets.allSatisfy({ entities[$0] != nil }) else { return nil }
      entity.links[link] = targets
      entity.writers[link] = writer
    }
    entities[name] = entity
    everKnown.insert(name)
    for (link, all) in members.children {
      guard let navigation = schema.navigation(link), let target = ModelSchema.set(navigation.target) else {
        return nil
      }
      for var child in all {
        if let constraint = navigation.constraint { child.values[constraint] = .number(key) }
        guard let created = insert(target, child, created, &children) else { return nil }
        children.append(created)
        if navigation.constraint == nil { entities[name]?.links[link, default: []].append(created) }
      }
    }
    touchHolders(of: name, entity)
    return name
  }

  /// Values in the service's own form.
  func stored(_ values: [String: JSONNode]) -> [String: JSONNode] {
    guard kind.texts != .unchanged else { return values }
    return values.mapValues { value in
      switch value {
      case .string(let text): .string(kind.texts == .uppercased ? text.uppercased() : String(text.prefix(6)))
      case .object(let members): .object(stored(members))
      default: value
      }
    }
  }

  private func stored(_ members: [JSONNode.Member]) -> [JSONNode.Member] {
    members.map { member in
      guard case .string(let text) = member.value else { return member }
      return .init(member.name, .string(kind.texts == .uppercased ? text.uppercased() : String(text.prefix(6))))
    }
  }

  /// A media entity is made of its bytes, whatever they are (OData Protocol 4.01 §11.4.7.1, RFC 5023 §9.6).
  private mutating func createMedia(_ request: ModelRequest) -> ModelResponse {
    clock += 1
    nextKey += 1
    let name = Name("Photos", String(nextKey))
    var entity = Entity(values: ["ID": .number(name.key), "Name": .null], version: clock, touched: clock)
    (entity.bytes, entity.bytesVersion) = (request.body, clock)
    entity.writers = ["Name": writer, "$value": writer]
    entity.sent = ["$value"]
    entities[name] = entity
    everKnown.insert(name)
    note(.create, name)
    var response = entityResponse(name, entity, status: 201, expand: [])
    response.fields[.location] = Self.root + name.description
    return response
  }

  // MARK: PATCH, MERGE, PUT

  mutating func change(_ resource: Resource, _ request: ModelRequest, _ created: [String: Name]) -> ModelResponse {
    switch resource {
    case .stream(let name): return changeStream(name, request)
    case .link(let name, let navigation, _): return link(name, navigation, request, created)
    case .entity(let name):
      guard let node = try? JSONNode(request.body), let members = Members(node) else { return error(400, "bad JSON") }
      return update(name, members, request, created)
    case .property(let name, let property):
      guard let node = try? JSONNode(request.body), var members = Members(node) else { return error(400, "bad JSON") }
      members.values = [property: members.values["value"] ?? members.values[property] ?? .null]
      let response = update(name, members, request, created)
      if response.isError { return response }
      return ModelResponse(204, kind.hasETags ? entities[name].map { [.etag: $0.etag] } ?? [:] : [:])
    default: return error(405, request.method)
    }
  }

  private mutating func update(
    _ name: Name, _ members: Members, _ request: ModelRequest, _ created: [String: Name]
  ) -> ModelResponse {
    guard var entity = entities[name] else { return error(404, "no \(name)") }
    if let rejection = rejection(request, etag: entity.etag, isNeeded: kind.requiresIfMatch, hasETags: kind.hasETags) {
      return rejection
    }
    var overwritten: [String: Effect.Overwritten] = [:]
    func note(_ slot: String, _ value: String) {
      overwritten[slot] = .init(writer: entity.writers[slot] ?? "", value: value)
      entity.writers[slot] = writer
    }
    let before = entity
    var values = stored(members.values)
    values["ID"] = nil
    if let order = members.bindings["Order"]?.first.flatMap({ self.name(at: $0, created) }) {
      values["Order_ID"] = .number(order.key)
    }
    for (slot, value) in values {
      note(slot, (entity.values[slot] ?? .null).plainText)
      entity.values[slot] = value
    }
    for (link, references) in members.bindings where link != "Order" {
      let targets = references.compactMap { self.name(at: $0, created) }
      guard targets.count == references.count, targets.allSatisfy({ entities[$0] != nil }) else {
        return error(400, "no such entity")
      }
      note(link, (entity.links[link] ?? []).map(\.description).joined(separator: ","))
      entity.links[link] = targets
    }
    let isChange = entity.values != before.values || entity.links != before.links
    clock += 1
    (entity.version, entity.touched) = (clock, clock)
    entities[name] = entity
    touchHolders(of: name, before)
    touchHolders(of: name, entity)
    self.note(.update, name, isChange: isChange, overwritten: overwritten, condition: request.fields[.ifMatch])
    if kind.isV2 || kind.insertion == .noContent {
      return ModelResponse(204, kind.hasETags && !kind.hidesNewETags ? [.etag: entity.etag] : [:])
    }
    return entityResponse(name, entity, status: 200, expand: [])
  }

  private mutating func changeStream(_ name: Name, _ request: ModelRequest) -> ModelResponse {
    guard var entity = entities[name], entity.bytes != nil else { return error(404, "no \(name)") }
    let hasETags = kind.streamETags != .none
    if let rejection = rejection(
      request, etag: entity.bytesETag, isNeeded: kind.streamETags == .required, hasETags: hasETags)
    {
      return rejection
    }
    let old = Effect.Overwritten(writer: entity.writers["$value"] ?? "", value: entity.bytesETag)
    let isChange = entity.bytes != request.body
    clock += 1
    (entity.bytes, entity.bytesVersion, entity.touched) = (request.body, clock, clock)
    entity.writers["$value"] = writer
    entities[name] = entity
    note(.media, name, isChange: isChange, overwritten: ["$value": old], condition: request.fields[.ifMatch])
    return ModelResponse(204, hasETags ? [.etag: entity.bytesETag] : [:])
  }

  // MARK: Links

  private mutating func link(
    _ name: Name, _ navigation: ModelSchema.Navigation, _ request: ModelRequest, _ created: [String: Name]
  ) -> ModelResponse {
    let node = try? JSONNode(request.body)
    let reference = node?["@odata.id"]?.string ?? node?["@id"]?.string ?? node?["uri"]?.string
    guard let target = reference.flatMap({ self.name(at: $0, created) }), entities[target] != nil else {
      return error(400, "no such entity")
    }
    return setLinks(name, navigation, request, .link) { links in
      if navigation.isCollection { if !links.contains(target) { links.append(target) } } else { links = [target] }
    }
  }

  private mutating func setLinks(
    _ name: Name, _ navigation: ModelSchema.Navigation, _ request: ModelRequest, _ kind: Effect.Kind,
    _ change: (inout [Name]) -> Void
  ) -> ModelResponse {
    guard var entity = entities[name] else { return error(404, "no \(name)") }
    if !navigation.isCollection,
      let rejection = rejection(
        request, etag: entity.etag, isNeeded: self.kind.requiresIfMatch, hasETags: self.kind.hasETags)
    {
      return rejection
    }
    let before = entity.links[navigation.name] ?? []
    var links = before
    change(&links)
    entity.links[navigation.name] = links
    let value = before.map(\.description).joined(separator: ",")
    let old = Effect.Overwritten(writer: entity.writers[navigation.name] ?? "", value: value)
    entity.writers[navigation.name] = writer
    clock += 1
    if links != before {
      entity.touched = clock
      if !navigation.isCollection || self.kind.countsManyLinks { entity.version = clock }
    }
    entities[name] = entity
    note(
      kind, name, isChange: links != before, overwritten: navigation.isCollection ? [:] : [navigation.name: old],
      condition: request.fields[.ifMatch])
    let fields: HTTPFields = self.kind.hasETags && !navigation.isCollection ? [.etag: entity.etag] : [:]
    return ModelResponse(204, fields)
  }

  // MARK: DELETE

  mutating func delete(_ resource: Resource, _ request: ModelRequest, _ query: [String: String]) -> ModelResponse {
    switch resource {
    case .entity(let name):
      guard let entity = entities[name], name.set != "Setting" else { return error(404, "no \(name)") }
      if let rejection = rejection(request, etag: entity.etag, isNeeded: kind.requiresIfMatch, hasETags: kind.hasETags)
      {
        return rejection
      }
      remove(name)
      note(.delete, name, condition: request.fields[.ifMatch])
      return ModelResponse(204)
    case .link(let name, let navigation, let target):
      let target = target ?? query["$id"].flatMap { self.name(at: $0, [:]) }
      return setLinks(name, navigation, request, .unlink) { links in
        if let target { links.removeAll { $0 == target } } else { links = [] }
      }
    default: return error(405, "DELETE")
    }
  }

  /// Removes an entity; an order takes its items with it.
  private mutating func remove(_ name: Name) {
    let entity = entities[name]
    if name.set == "Orders", let items = ModelSchema.set("Orders")?.navigation("Items") {
      for item in targets(of: name, items) { remove(item) }
    }
    clock += 1
    touchHolders(of: name, entity)
    entities[name] = nil
    removals.append((name, clock))
    for holder in entities.keys {
      for (link, targets) in entities[holder]?.links ?? [:] where targets.contains(name) {
        entities[holder]?.links[link] = targets.filter { $0 != name }
      }
    }
  }
}
