@_spi(Stores) import LarderHTTP
import LarderOData

/// The response to a request that cannot be carried out.
struct ServiceFault: Error {
  let status: Int
  let message: String

  init(_ status: Int, _ message: String) {
    self.status = status
    self.message = message
  }

  /// The feature is not supported by the service for tests.
  static func notSupported(_ feature: String) -> ServiceFault {
    ServiceFault(501, "ODataTestService does not support \(feature); add a route for the request to its transport.")
  }
}

/// A collection of entities, or the place of a single one.
struct RowCollection: Sendable, Hashable {
  /// The path: `Orders`, `Orders(1)/Items`.
  var path: String
  /// The path, percent-encoded.
  var url: String
  /// The declared type of the entities.
  var structure: EdmStructure
  /// The derived type that the path ends with.
  var cast: EdmStructure?
  /// The entity set or singleton.
  var root: String
  /// The containment navigation properties from the root to the entities.
  var steps: [String] = []
  var isCollection: Bool
}

/// How a navigation property finds its entities.
enum RowRelation {
  /// They are part of the entity. `cast` is the derived type that the path ends with.
  case contained(cast: EdmStructure?)
  /// Properties have equal values. `isDependent` if the entity itself has the foreign keys.
  case columns([(own: String, other: String)], RowCollection, isDependent: Bool)
  /// By links that no property shows; `partner` is the navigation property back.
  case links(RowCollection, partner: EdmNavigationProperty?)
  /// The model does not say in which set they are.
  case unknown
}

/// A model as the service needs it: places, relations, keys.
struct TestModel: Sendable {
  let model: EdmModel
  let binder: ODataBinder
  /// The root of the service, with a slash at the end.
  let root: String

  init(_ model: EdmModel, root: String) {
    self.model = model
    self.root = root
    binder = ODataBinder(model: model)
  }

  /// A URL of a request, relative to the root: it may be absolute, or relative to the host.
  func relative(_ url: String) -> String {
    let host = root.firstRange(of: "://").flatMap { scheme in
      root[scheme.upperBound...].firstIndex(of: "/").map { root[..<$0] }
    }
    let absolute = url.hasPrefix("/") ? (host ?? "") + url : url
    return absolute.hasPrefix(root) ? String(absolute.dropFirst(root.count)) : absolute
  }

  /// A path as people write it, percent-encoded: slashes in the quotes of keys too.
  static func encoded(_ path: String) -> String {
    let parts = path.split(separator: "'", omittingEmptySubsequences: false).enumerated()
    let encoded = parts.map { PercentEncoding.encode(String($1), in: $0.isMultiple(of: 2) ? .path : .content) }
    return encoded.joined(separator: "'")
  }

  /// The sets and singletons with their types.
  var places: [RowCollection] {
    guard let container = model.defaultContainer else { return [] }
    return (container.entitySets.map(\.name) + container.singletons.map(\.name)).compactMap(place)
  }

  /// The place of an entity set or singleton.
  func place(_ name: String) -> RowCollection? {
    guard let type = model.entityType(of: name), let structure = model.structure(type.qualifiedName) else { return nil }
    return RowCollection(
      path: name, url: PercentEncoding.encode(name), structure: structure, root: name,
      isCollection: model.entitySet(name) != nil)
  }

  /// Whether a path is that of a singleton that may be null.
  func isNullableSingleton(_ path: String) -> Bool { model.singleton(path)?.nullable ?? false }

  /// The types of the entities in a place: the declared one and those derived from it.
  func types(in place: RowCollection) -> [EdmStructure] {
    let derived = model.schemas.flatMap(\.entityTypes).map(\.qualifiedName).filter {
      $0 != place.structure.name && model.isType($0, derivedFrom: place.structure.name)
    }
    return [place.structure] + derived.compactMap { model.structure($0) }
  }

  /// Binds a path relative to the root, percent-encoded.
  func bind(_ path: String) throws(ServiceFault) -> ODataBoundURL {
    let tree: ODataURL
    do throws(ODataSyntaxError) { tree = try ODataParser().relativeURL(path) } catch {
      throw ServiceFault(400, "\(error)")
    }
    do throws(ODataBindingError) { return try binder.bind(tree, text: path) } catch {
      if case .notSupported = error.problem { throw .notSupported("\(error)") }
      // The path begins with a name that the service does not have.
      if case .unknownName = error.problem, error.offset == 0 { throw ServiceFault(404, "\(error)") }
      throw ServiceFault(400, "\(error)")
    }
  }

  // MARK: Relations

  /// The place of the entities that a navigation property of a row contains. Its path has a type cast if only a derived
  /// type has the property.
  func contained(_ navigation: EdmNavigationProperty, in row: StoredRow) -> RowCollection? {
    guard let structure = navigation.type.name.flatMap({ model.structure($0) }) else { return nil }
    func hasProperty(_ type: EdmStructure) -> Bool { type.navigationProperty(navigation.name) != nil }
    let cast = hasProperty(row.place.structure) ? nil : row.structure.chain.first(where: hasProperty)
    let step = (cast.map { $0.name + "/" } ?? "") + navigation.name
    return RowCollection(
      path: row.path + "/" + step, url: row.url + "/" + PercentEncoding.encode(step, in: .path), structure: structure,
      root: row.place.root, steps: row.place.steps + [navigation.name], isCollection: navigation.isCollection)
  }

  /// How a navigation property of a type finds its entities, from a place. The rules are those of the offline store.
  func relation(_ navigation: EdmNavigationProperty, of structure: EdmStructure, in place: RowCollection) -> RowRelation
  {
    if navigation.containsTarget { return .contained(cast: nil) }
    guard let type = navigation.type.name.flatMap({ model.structure($0) }), type.isEntityType,
      let target = target(navigation, type, in: place)
    else { return .unknown }
    if let pairs = pairs(navigation, principal: target.structure) { return .columns(pairs, target, isDependent: true) }
    let candidates = types(in: target).flatMap(\.ownNavigationProperties).filter {
      isLeading($0, to: structure) && !($0.name == navigation.name && target.path == place.path)
    }
    let partner =
      candidates.first { $0.name == navigation.partner } ?? candidates.first { $0.partner == navigation.name }
    if let partner, let pairs = pairs(partner, principal: place.structure) {
      return .columns(pairs.map { (own: $0.other, other: $0.own) }, target, isDependent: false)
    }
    return .links(target, partner: partner)
  }

  private func isLeading(_ navigation: EdmNavigationProperty, to structure: EdmStructure) -> Bool {
    guard let name = navigation.type.name else { return false }
    return model.isType(structure.name, derivedFrom: name) || model.isType(name, derivedFrom: structure.name)
  }

  private func pairs(
    _ navigation: EdmNavigationProperty, principal: EdmStructure
  ) -> [(own: String, other: String)]? {
    let pairs = navigation.referentialConstraints.map { (own: $0.property, other: $0.referencedProperty) }
    let identifies = Set(principal.key.map(\.path)).isSubset(of: pairs.map(\.other))
    return pairs.isEmpty || !identifies ? nil : pairs
  }

  private func target(
    _ navigation: EdmNavigationProperty, _ type: EdmStructure, in place: RowCollection
  ) -> RowCollection? {
    let bindings =
      model.entitySet(place.root)?.navigationPropertyBindings ?? model.singleton(place.root)?.navigationPropertyBindings
    let steps = place.steps + [navigation.name]
    let binding = bindings?.first {
      $0.path.split(separator: "/").filter { !$0.contains(".") }.map(String.init) == steps
    }
    if let binding { return self.place(String(binding.target.split(separator: "/").last ?? "")) }
    let sets = model.defaultContainer?.entitySets ?? []
    for ancestor in type.chain.reversed() {
      let candidates = sets.filter { model.resolve($0.entityType) == ancestor.name }
      if !candidates.isEmpty { return candidates.count == 1 ? self.place(candidates[0].name) : nil }
    }
    return nil
  }

  // MARK: Keys

  /// The path and the URL of an entity, from its key.
  func address(_ values: [String: JSONNode], in place: RowCollection) throws(ServiceFault) -> (
    path: String, url: String
  ) {
    guard place.isCollection else { return (place.path, place.url) }
    var parts: [(name: String, value: ODataValue)] = []
    for key in place.structure.key {
      guard let property = place.structure.property(key.path) else {
        throw .notSupported("the key '\(key.path)' of \(place.structure.name)")
      }
      guard let node = values[key.path], node != .null else {
        throw ServiceFault(400, "The entity of '\(place.path)' has no value for its key '\(key.path)'.")
      }
      parts.append((key.name, try value(node, of: property)))
    }
    return address(parts, in: place)
  }

  /// The path and the URL of an entity, from the key of a URL.
  func address(_ key: [ODataBoundKeyPart], in place: RowCollection) throws(ServiceFault) -> (path: String, url: String)
  {
    var parts: [(name: String, value: ODataValue)] = []
    for part in key {
      switch part.value?.kind {
      case .literal(let value): parts.append((part.part.name, value))
      case .enumeration(let type, let value):
        parts.append((part.part.name, .enumeration(type.members(of: value)?.joined(separator: ",") ?? "\(value)")))
      default: throw .notSupported("a key that the URL does not spell out")
      }
    }
    return address(parts, in: place)
  }

  private func address(_ parts: [(name: String, value: ODataValue)], in place: RowCollection) -> (
    path: String, url: String
  ) {
    let parts = parts.map { (name: $0.name, value: TestModel.canonical($0.value)) }
    func text(_ literal: (ODataValue) -> String) -> String {
      let texts = parts.map { parts.count > 1 ? "\($0.name)=\(literal($0.value))" : literal($0.value) }
      return "(" + texts.joined(separator: ",") + ")"
    }
    return (
      place.path + text { (try? $0.literal(dialect: .v4)) ?? "" },
      place.url + text { (try? $0.urlLiteral(dialect: .v4)) ?? "" }
    )
  }

  /// The value with the text that all equal values have: `1.5` for `1.50`, and UTC for other offsets. Other types have one
  /// text anyway.
  static func canonical(_ value: ODataValue) -> ODataValue {
    switch value {
    case .decimal(let number):
      let text = number.description
      guard text.contains("."), !text.lowercased().contains("e") else { return value }
      let zeros = text.reversed().prefix { $0 == "0" }.count
      let digits = text.dropLast(zeros)
      return ODataDecimal(String(digits.last == "." ? digits.dropLast() : digits)).map { .decimal($0) } ?? value
    case .dateTimeOffset(let time): return time.with(offsetMinutes: 0).map { .dateTimeOffset($0) } ?? value
    default: return value
    }
  }

  /// Whether two values of properties are equal, however they are written.
  func isEqual(_ value: JSONNode, _ other: JSONNode, as property: EdmProperty?) -> Bool {
    if value == other { return true }
    guard let property, let type = model.underlying(property.type).type.primitive,
      type == .decimal || type == .dateTimeOffset
    else { return false }
    guard let first = try? self.value(value, of: property), let second = try? self.value(other, of: property) else {
      return false
    }
    return first == second
  }

  /// The names of the members of a value that has members by name or value (ABNF `enumValue`), so that equal values have
  /// equal texts. Nil if it is no value of the type; a value with flags that have no names stays a number. Flags are not
  /// negative (CSDL 4.01 §10.3).
  private static func members(_ text: String, of type: EdmEnumType) -> String? {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let values = parts.compactMap { type.member($0)?.value ?? Int64($0) }
    guard values.count == parts.count, parts.count == 1 || type.isFlags else { return nil }
    let value = values.reduce(0, |)
    if let names = ODataDeclaredEnum(type).members(of: value) { return names.joined(separator: ",") }
    let fits = (try? ODataValue(json: .number("\(value)"), type: type.underlyingType, dialect: .v4)) != nil
    return type.isFlags && value >= 0 && fits ? "\(value)" : nil
  }

  /// A value of a primitive property or an enumeration. Throws 400 for one of another type.
  func value(_ node: JSONNode, of property: EdmProperty) throws(ServiceFault) -> ODataValue {
    if let name = property.type.name, let type = model.enumType(name) {
      guard let members = node.string.flatMap({ TestModel.members($0, of: type) }) else {
        throw ServiceFault(400, "'\(property.name)': \(node.json) is no member of \(name).")
      }
      return .enumeration(members)
    }
    do throws(ODataValueError) {
      return try ODataValue(json: node, type: model.underlying(property.type).type.primitive, dialect: .v4)
    } catch { throw ServiceFault(400, "'\(property.name)': \(error)") }
  }
}
