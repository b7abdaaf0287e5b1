package import LarderHTTP
package import LarderOData

/// A request as the model service reads it.
package struct ModelRequest: Sendable {
  package var method: String
  /// Relative to the service's root, percent-decoded, with its query.
  package var path: String
  package var fields: HTTPFields
  package var body: [UInt8]
  /// Its name in a batch.
  package var id: String?

  package init(_ method: String, _ path: String, fields: HTTPFields = [:], body: [UInt8] = [], id: String? = nil) {
    (self.method, self.path, self.fields, self.body, self.id) = (method, path, fields, body, id)
  }

  /// The name of the change that the request carries out, which stores put in a header field.
  package var mark: String? { fields["Mark"] }
}

/// A response of the model service.
package struct ModelResponse: Sendable {
  package var status: Int
  package var fields: HTTPFields
  package var body: [UInt8]
  /// The parts of a batch response, which its content is made from.
  package var parts: [ModelBatchPart]?

  package init(_ status: Int, _ fields: HTTPFields = [:], _ text: String = "") {
    (self.status, self.fields, body) = (status, fields, Array(text.utf8))
  }

  package var isError: Bool { status >= 400 }
}

/// The response to a part of a batch.
package enum ModelBatchPart: Sendable {
  case single(id: String?, ModelResponse)
  case changeSet([(id: String?, response: ModelResponse)])
}

/// A service of orders, items and more as a value: requests go in, responses come out, effects are written down.
package struct ModelService: Sendable {
  /// The identity of an entity.
  package struct Name: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let set: String
    package let key: String

    package init(_ set: String, _ key: String) { (self.set, self.key) = (set, key) }

    package var description: String {
      if set == "Setting" { return set }
      return ModelSchema.set(set)?.hasTextKey == true ? "\(set)('\(key)')" : "\(set)(\(key))"
    }

    package static func < (left: Name, right: Name) -> Bool {
      (left.set, Int(left.key) ?? 0, left.key) < (right.set, Int(right.key) ?? 0, right.key)
    }
  }

  package struct Entity: Sendable, Hashable {
    package var values: [String: JSONNode]
    /// The clock at the last change: the ETag.
    package var version: Int
    /// The clock when a delta had to show it last.
    package var touched: Int
    package var links: [String: [Name]] = [:]
    package var bytes: [UInt8]?
    package var bytesVersion = 0
    /// Who wrote each property, link or stream last.
    package var writers: [String: String] = [:]
    /// The properties and links that the creation sent.
    package var sent: Set<String> = []

    package var etag: String { "W/\"\(version)\"" }
    package var bytesETag: String { "\"s\(bytesVersion)\"" }
  }

  /// What a request did.
  package struct Effect: Sendable, Hashable {
    package enum Kind: String, Sendable { case create, update, delete, link, unlink, media, action }
    /// A value that the effect replaced.
    package struct Overwritten: Sendable, Hashable {
      package let writer: String
      package let value: String
    }

    package let number: Int
    package let actor: String
    package let mark: String?
    package let kind: Kind
    package let entity: Name
    /// Whether the state is another now.
    package var isChange: Bool
    package var overwritten: [String: Overwritten] = [:]
    /// The entities that a deep insert made beside the first.
    package var children: [Name] = []
    package var condition: String?
    /// For a creation: what is left of each entity that the actor's changes had made before, with the entities in it, as
    /// text.
    package var left: [Name: String] = [:]
    /// Whether the response to the request that it is of did not come back.
    package var isLost = false
    /// Whether that response says that nothing was done.
    package var isDenied = false
  }

  package static let root = "http://h/s/"

  package internal(set) var kind: ModelKind
  package internal(set) var entities: [Name: Entity] = [:]
  /// When entities were deleted, in order.
  package internal(set) var removals: [(name: Name, at: Int)] = []
  package internal(set) var effects: [Effect] = []
  /// Every entity that ever was.
  package internal(set) var everKnown: Set<Name> = []
  var clock = 1
  var nextKey = 1000
  /// Who sends the request that is carried out.
  var actor = ""
  var mark: String?

  package init(_ kind: ModelKind) { self.kind = kind }

  /// Adds an entity that is there from the beginning, or changes one for another client.
  package mutating func put(_ name: Name, _ values: [String: JSONNode], bytes: [UInt8]? = nil) {
    clock += 1
    var entity = Entity(values: values, version: clock, touched: clock)
    entity.values["ID"] = ModelSchema.set(name.set)?.hasTextKey == true ? .string(name.key) : .number(name.key)
    entity.bytes = bytes
    if bytes != nil { entity.bytesVersion = clock }
    entities[name] = entity
    everKnown.insert(name)
    touchHolders(of: name, entity)
  }

  /// Responds to a request.
  ///
  /// - Parameters:
  ///   - actor: who sends it.
  ///   - failing: parts of a batch that fail with a status without being carried out, by their number; one behind the last
  ///     counts from the first again.
  ///   - member: the request of each change set that fails so, by its number.
  package mutating func respond(
    to request: ModelRequest, from actor: String, failing: [Int: Int] = [:], member: Int? = nil
  ) -> ModelResponse {
    self.actor = actor
    if request.path.hasPrefix("$metadata") {
      return ModelResponse(200, [.contentType: "application/xml"], kind.metadata)
    }
    if request.path.hasPrefix("$batch") { return batch(request, failing, member: member) }
    return single(request, [:])
  }

  // MARK: Single requests

  /// - Parameter created: the entities that earlier requests of the change set made, by Content-ID.
  mutating func single(_ request: ModelRequest, _ created: [String: Name]) -> ModelResponse {
    mark = request.mark
    defer { mark = nil }
    let (path, query) = ModelService.split(ModelService.resolved(request.path, created))
    guard let resource = resource(path) else { return error(404, "no \(path)") }
    switch request.method {
    case "GET": return read(resource, path, query, request.fields)
    case "POST": return post(resource, request, created)
    case "PATCH", "MERGE", "PUT": return change(resource, request, created)
    case "DELETE": return delete(resource, request, query)
    default: return error(405, request.method)
    }
  }

  static func split(_ path: String) -> (path: String, query: [String: String]) {
    let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return (path, [:]) }
    let options = parts[1].split(separator: "&").map { option -> (String, String) in
      let sides = option.split(separator: "=", maxSplits: 1).map(String.init)
      return (sides[0], sides.count == 2 ? sides[1] : "")
    }
    return (String(parts[0]), Dictionary(options, uniquingKeysWith: { first, _ in first }))
  }

  /// A path or URL relative to the root, with `$` and a Content-ID replaced.
  static func resolved(_ text: String, _ created: [String: Name]) -> String {
    var path = text.hasPrefix(root) ? String(text.dropFirst(root.count)) : text
    if path.hasPrefix("/s/") { path = String(path.dropFirst(3)) }
    guard path.hasPrefix("$") else { return path }
    let id = path.dropFirst().prefix { $0 != "/" && $0 != "?" }
    return created[String(id)].map { $0.description + path.dropFirst(id.count + 1) } ?? path
  }

  // MARK: Resources

  enum Resource {
    case collection(ModelSchema.EntitySet, parent: Name?)
    /// What a collection-valued navigation property without a constraint leads to.
    case linked(Name, ModelSchema.Navigation)
    case entity(Name)
    case nothing
    case stream(Name)
    case property(Name, String)
    case link(Name, ModelSchema.Navigation, Name?)
    case action(String)
  }

  func resource(_ path: String) -> Resource? {
    var segments = path.split(separator: "/").map(String.init)
    guard let first = segments.first else { return nil }
    segments.removeFirst()
    if first == "Book", kind.hasActions { return .action(first) }
    if first == "Setting" { return kind.hasSingleton ? step(from: Name("Setting", ""), segments) : nil }
    let (set, key) = ModelService.segment(first)
    guard let schema = ModelSchema.set(set), set != "Setting" else { return nil }
    guard let key else { return segments.isEmpty ? .collection(schema, parent: nil) : nil }
    return step(from: Name(set, key), segments)
  }

  private static func segment(_ text: String) -> (name: String, key: String?) {
    guard let open = text.firstIndex(of: "("), text.hasSuffix(")") else { return (text, nil) }
    var key = text[text.index(after: open)...].dropLast()
    if key.hasPrefix("ID=") { key = key.dropFirst(3) }
    if key.hasPrefix("'") { key = key.dropFirst().dropLast() }
    return (String(text[..<open]), String(key))
  }

  private func step(from name: Name, _ rest: [String]) -> Resource? {
    var rest = rest
    guard !rest.isEmpty else { return .entity(name) }
    guard let schema = ModelSchema.set(name.set) else { return nil }
    var first = rest.removeFirst()
    if first == "$value" { return .stream(name) }
    let isLink = first == "$links" || rest.last == "$ref"
    if first == "$links" {
      guard !rest.isEmpty else { return nil }
      first = rest.removeFirst()
    }
    let (member, key) = ModelService.segment(first)
    guard let navigation = schema.navigation(member) else { return .property(name, member) }
    if isLink { return .link(name, navigation, key.map { Name(navigation.target, $0) }) }
    if let key { return step(from: Name(navigation.target, key), rest) }
    guard rest.isEmpty || !navigation.isCollection else { return nil }
    if navigation.isCollection {
      guard navigation.constraint != nil else { return .linked(name, navigation) }
      return ModelSchema.set(navigation.target).map { .collection($0, parent: name) }
    }
    guard let target = targets(of: name, navigation).first else { return .nothing }
    return step(from: target, rest)
  }

  /// The entities that a navigation property leads to.
  package func targets(of name: Name, _ navigation: ModelSchema.Navigation) -> [Name] {
    guard let entity = entities[name] else { return [] }
    guard navigation.constraint != nil else {
      return (entity.links[navigation.name] ?? []).filter { entities[$0] != nil }.sorted()
    }
    if navigation.isCollection {
      return entities.filter { $0.key.set == "Items" && $0.value.values["Order_ID"]?.text == name.key }.map(\.key)
        .sorted()
    }
    let target = entity.values["Order_ID"]?.text.map { Name("Orders", $0) }
    return target.map { entities[$0] == nil ? [] : [$0] } ?? []
  }

  // MARK: Effects

  mutating func note(
    _ kind: Effect.Kind, _ name: Name, isChange: Bool = true, overwritten: [String: Effect.Overwritten] = [:],
    children: [Name] = [], condition: String? = nil
  ) {
    var left: [Name: String] = [:]
    if kind == .create, mark != nil {
      for earlier in effects where earlier.kind == .create && earlier.mark != nil && earlier.actor == actor {
        left[earlier.entity] = text(of: earlier)
      }
    }
    effects.append(
      Effect(
        number: effects.count, actor: actor, mark: mark, kind: kind, entity: name, isChange: isChange,
        overwritten: overwritten, children: children, condition: condition, left: left))
  }

  /// What is left of the entity of a creation, and of those in it.
  func text(of creation: Effect) -> String {
    let values = ([creation.entity] + creation.children).compactMap { entities[$0]?.values.values.map(\.plainText) }
    return values.flatMap(\.self).sorted().joined(separator: " ")
  }

  /// Who the request that is carried out writes for.
  var writer: String { actor }

  /// Deltas with expansions show an entity again where what it leads to has changed.
  mutating func touchHolders(of name: Name, _ entity: Entity?) {
    if name.set == "Items", let order = entity?.values["Order_ID"]?.text {
      entities[Name("Orders", order)]?.touched = clock
    }
    for (holder, linked) in entities where linked.links.values.contains(where: { $0.contains(name) }) {
      entities[holder]?.touched = clock
    }
  }

  func error(_ status: Int, _ text: String) -> ModelResponse {
    let message = JSONNode.string(text).jsonText
    let body =
      kind.isV2
      ? "{\"error\":{\"code\":\"E\(status)\",\"message\":{\"lang\":\"en\",\"value\":\(message)}}}"
      : "{\"error\":{\"code\":\"E\(status)\",\"message\":\(message)}}"
    return ModelResponse(status, jsonFields, body)
  }

  var jsonFields: HTTPFields {
    kind.isV2
      ? [.contentType: "application/json", .dataServiceVersion: "2.0"]
      : [.contentType: "application/json", .odataVersion: kind.isV401 ? "4.01" : "4.0"]
  }
}
