@_spi(Stores) import LarderHTTP
import LarderOData

/// The context URL of a result: what its payload holds, and of which type (Protocol 4.01 §10).
struct ResultContext {
  private let url: ODataBoundURL
  private let plan: ReadPlan
  private let version: ODataVersion

  init(_ url: ODataBoundURL, plan: ReadPlan, version: ODataVersion) {
    self.url = url
    self.plan = plan
    self.version = version
  }

  /// The text after `$metadata#`; nil for results without a context.
  var fragment: String? {
    switch plan.content {
    case .references: return plan.isSingle ? "$ref" : "Collection($ref)"
    case .count, .media, .value(_, isRaw: true): return nil
    case .value(let member, isRaw: false): return value(member)
    case .objects(let shape): return objects(shape)
    }
  }

  // MARK: Entities

  private func objects(_ shape: ReadShape) -> String? {
    guard case .path(let path) = url.resource else {
      return shape.type.map { $0.name + ResultContext.list(shape, url.options, version) }
    }
    for segment in path.segments {
      if case .crossjoin = segment.kind { return "Collection(Edm.ComplexType)" }
      if case .allEntities = segment.kind { return "Collection(Edm.EntityType)" }
    }
    let walk = ResultPath(path)
    let list = ResultContext.list(shape, url.options, version)
    guard let place = walk.place else {
      guard let name = (shape.type ?? path.type?.structure)?.name else {
        return plan.isSingle ? "Edm.ComplexType" : "Collection(Edm.ComplexType)"
      }
      return plan.isSingle ? name + list : "Collection(\(name))"
    }
    let cast = walk.cast.map { "/" + $0 } ?? ""
    let item = plan.isSingle && walk.isInCollection ? "/$entity" : ""
    return place + cast + list + item
  }

  // MARK: Values

  private func value(_ member: ReadMember) -> String? {
    if case .path(let path) = url.resource {
      let walk = ResultPath(path)
      if let property = walk.property { return property + ResultContext.selectList(url.options.select).asText }
    }
    let name = member.type.item == .untyped ? "Edm.Untyped" : "\(member.type.item)"
    return member.type.isCollection ? "Collection(\(name))" : name
  }

  // MARK: Select lists

  /// The selected properties, and the expanded ones that have a list of their own (Protocol 4.01 §10.7 to §10.10), in
  /// parentheses; empty if there are none.
  static func list(_ shape: ReadShape, _ options: ODataBoundOptions?, _ version: ODataVersion) -> String {
    selectList(shape, options, version).asText
  }

  private static func selectList(
    _ shape: ReadShape, _ options: ODataBoundOptions?, _ version: ODataVersion
  ) -> [String] {
    var list = selectList(options?.select ?? [])
    if shape.table == nil { list += computedProperties(shape.members, leavingOut: list, shape.expands, version) }
    var alternatives = shape.expands.filter { $0.only != nil }
    for expand in shape.expands {
      // What is expanded in a computed object is listed with that object.
      if shape.table == nil, expand.path.count > 1 { continue }
      guard var nested = selectList(expand, options, version) else { continue }
      if expand.only != nil {
        // Entities of any type have one list for each type. Here the lists are merged.
        guard !alternatives.isEmpty else { continue }
        nested = selectList(alternatives, version)
        alternatives = []
      }
      let name = expand.path.joined(separator: "/")
      let isRecursive = options?.options(of: expand)?.levels != nil
      // A 4.0 context names an expanded property only if that has a list of its own.
      if version < .v401, nested.isEmpty, !isRecursive { continue }
      if let plain = list.firstIndex(of: name), !isRecursive { list.remove(at: plain) }
      list.append("\(name)\(isRecursive ? "+" : "")(\(nested.joined(separator: ",")))")
    }
    return list
  }

  private static func selectList(_ alternatives: [ReadExpand], _ version: ODataVersion) -> [String] {
    var list: [String] = []
    for alternative in alternatives {
      guard case .objects(let shape) = alternative.plan.content, shape.table != nil else { continue }
      list += selectList(shape, alternative.options, version).filter { !list.contains($0) }
    }
    return list
  }

  /// The list of an expanded property; nil for counts and references.
  private static func selectList(
    _ expand: ReadExpand, _ options: ODataBoundOptions?, _ version: ODataVersion
  ) -> [String]? {
    guard case .entities = expand.content, case .objects(let shape) = expand.plan.content else { return nil }
    return selectList(shape, options?.options(of: expand), version)
  }

  /// The context of a computed collection, after `$metadata#`: the set that the collection is part of (Data Aggregation
  /// 4.0 §3.4.3, §3.5.2).
  static func fragment(_ expand: ReadExpand, _ options: ODataBoundOptions?, _ version: ODataVersion) -> String? {
    guard expand.isComputed, case .objects(let shape) = expand.plan.content else { return nil }
    let list = selectList(shape, options, version).asText
    if let source = shape.source ?? expand.source, source.containment.isEmpty { return source.source.name + list }
    return "Collection(\(shape.type?.name ?? "Edm.ComplexType"))"
  }

  private static func selectList(_ items: [ODataBoundSelectItem]) -> [String] {
    items.flatMap { item -> [String] in
      let name = ResultPath.names(item.path).joined(separator: "/")
      let nested = item.options.map { selectList($0.select) } ?? []
      return nested.isEmpty ? [name] : nested.map { "\(name)/\($0)" }
    }
  }

  /// The properties of rows that `$apply` has computed (Data Aggregation 4.0 §5).
  private static func computedProperties(
    _ members: [ReadMember], leavingOut excluded: [String], _ expands: [ReadExpand], _ version: ODataVersion,
    at path: [String] = []
  ) -> [String] {
    members.compactMap { member in
      if excluded.contains(member.name) || member.name.hasPrefix("@") { return nil }
      guard case .complex(_, let inner) = member.kind else { return member.name }
      let place = path + [member.name]
      var list = computedProperties(inner, leavingOut: [], expands, version, at: place)
      for expand in expands where Array(expand.path.dropLast()) == place {
        guard let name = expand.path.last, let nested = selectList(expand, nil, version) else { continue }
        list.append("\(name)(\(nested.joined(separator: ",")))")
      }
      return "\(member.name)(\(list.joined(separator: ",")))"
    }
  }
}

extension ODataBoundOptions {
  /// The options of an expanded property; nil if it has none.
  func options(of expand: ReadExpand) -> ODataBoundOptions? {
    self.expand.first { ResultPath.names($0.path) == expand.path }?.options
  }
}

extension [String] {
  /// The list in parentheses; empty for an empty list.
  fileprivate var asText: String { isEmpty ? "" : "(\(joined(separator: ",")))" }
}

/// A resource path in the terms of context URLs and entity-ids: the set that it ends in, the casts, the property.
struct ResultPath {
  /// The canonical path of the set, singleton or containment navigation property; nil if the model does not define one.
  private(set) var place: String?
  /// The canonical path in ``place``, percent-encoded.
  private(set) var encodedPlace: String?
  /// The derived type that the path casts to at its end.
  private(set) var cast: String?
  /// Whether the place is a collection: a single entity of it has `$entity` in its context URL.
  private(set) var isInCollection = false
  /// The path of a property from the canonical path of its entity; nil if the path does not end in a property.
  private(set) var property: String?
  private var entity: String?
  private var encodedEntity: String?

  init(_ path: ODataBoundPath) {
    for segment in path.segments { apply(segment) }
  }

  private mutating func apply(_ segment: ODataBoundSegment) {
    switch segment.kind {
    case .source(let source):
      begin(at: source.name, encoded: source.name, isCollection: source.entitySet != nil)
    case .key(let parts): key(parts)
    case .cast(let type):
      if property == nil { cast = type.name } else { step(type.name) }
    case .property(let declared): step(declared.name)
    case .dynamic(let name), .computed(let name): step(name)
    case .navigation(let navigation): follow(navigation, segment)
    case .value, .ref, .count, .each, .filter, .query: break
    default: (place, encodedPlace, entity, encodedEntity, property) = (nil, nil, nil, nil, nil)
    }
  }

  private mutating func begin(at name: String?, encoded: String?, isCollection: Bool) {
    (place, encodedPlace, isInCollection) = (name, encoded, isCollection)
    (cast, property) = (nil, nil)
    (entity, encodedEntity) = isCollection ? (nil, nil) : (name, encoded)
  }

  private mutating func key(_ parts: [ODataBoundKeyPart]) {
    guard let place, let encodedPlace else { return }
    var texts: [String] = []
    var encoded: [String] = []
    for part in parts {
      guard let literal = part.value.flatMap(ResultPath.literal) else { return }
      let name = parts.count > 1 ? part.part.name + "=" : ""
      texts.append(name + literal)
      encoded.append(name + PercentEncoding.encode(literal))
    }
    entity = "\(place)(\(texts.joined(separator: ",")))"
    encodedEntity = "\(encodedPlace)(\(encoded.joined(separator: ",")))"
  }

  private mutating func step(_ name: String) {
    if property == nil, let entity { property = entity + (cast.map { "/" + $0 } ?? "") }
    property = property.map { "\($0)/\(name)" }
  }

  private mutating func follow(_ navigation: ODataDeclaredNavigation, _ segment: ODataBoundSegment) {
    let isCollection = navigation.property.isCollection
    if navigation.property.containsTarget {
      let middle = (cast.map { "/" + $0 } ?? "") + "/"
      let inner = property.flatMap { text in entity.map { String(text.dropFirst($0.count)) + "/" } } ?? middle
      return begin(
        at: entity.map { $0 + inner + navigation.name }, encoded: encodedEntity.map { $0 + inner + navigation.name },
        isCollection: isCollection)
    }
    guard let source = segment.source, source.containment.isEmpty else {
      return begin(at: nil, encoded: nil, isCollection: isCollection)
    }
    begin(at: source.source.name, encoded: source.source.name, isCollection: source.source.entitySet != nil)
  }

  private static func literal(_ expression: ODataBoundExpression) -> String? {
    switch expression.kind {
    case .literal(let value): try? value.literal(dialect: .v4)
    case .enumeration(let type, let value): type.members(of: value).map { "'\($0.joined(separator: ","))'" }
    default: nil
    }
  }

  /// The steps of a path as select lists name them.
  static func names(_ path: ODataBoundPath) -> [String] {
    path.segments.compactMap { segment in
      switch segment.kind {
      case .property(let property): property.name
      case .navigation(let navigation): navigation.name
      case .dynamic(let name), .computed(let name), .operations(let name): name
      case .cast(let type): type.name
      case .operation(let operation, _): operation.name
      case .star: "*"
      case .allOperations(let namespace): namespace + ".*"
      case .annotation(let term, let qualifier): "@" + term + (qualifier.map { "#" + $0 } ?? "")
      default: nil
      }
    }
  }
}
