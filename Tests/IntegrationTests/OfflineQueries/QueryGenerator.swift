import LarderOData
import LarderTestSupport

/// Generates queries: the same ones for the same seed, model, data and features.
struct QueryGenerator {
  let data: QueryData
  let features: QueryFeatures
  var random: PrintedSeed
  /// The lambda variables in use.
  var variables = 0
  /// The navigation properties in `$expand` of this query so far, as `Ns.Type/Name` of the most basic type.
  var expanded: Set<String> = []
  /// Whether conditions use no navigation properties: in `$expand`, because some servers evaluate them on the expanded rows only.
  var avoidsNavigation = false

  init(data: QueryData, features: QueryFeatures, random: PrintedSeed) {
    self.data = data
    self.features = features
    self.random = random
  }

  var model: EdmModel { data.model }
  var version: ODataVersion { model.version }
  var isV4: Bool { version >= .v4 }

  mutating func next() -> GeneratedQuery {
    variables = 0
    expanded = []
    guard let root = pick(data.roots) else { return GeneratedQuery(root: QueryNode("")) }
    if features.hasCrossjoin, chance(2) { return GeneratedQuery(root: crossjoin()) }
    if root.isSingleton { return GeneratedQuery(root: single(root.name, root.type)) }
    switch roll(100) {
    case ..<10: return GeneratedQuery(root: count(root.name, root.type))
    case ..<30:
      guard let key = key(root) else { break }
      return GeneratedQuery(root: single(root.name + key.text, key.type, declared: root.type))
    case ..<38 where !features.aggregates.isEmpty: return GeneratedQuery(root: apply(root.name, root.type))
    case ..<42 where features.hasReferences: return GeneratedQuery(root: references(root.name, root.type))
    case ..<50 where features.hasCasts:
      guard let below = pick(data.derived(from: root.type)) else { break }
      return GeneratedQuery(root: collection("\(root.name)/\(below.name)", below))
    default: break
    }
    return GeneratedQuery(root: collection(root.name, root.type))
  }

  // MARK: - Paths

  /// An entity of a set by its key; sometimes by one that is not there.
  mutating func key(_ root: QueryData.Root) -> (text: String, type: EdmStructure)? {
    guard let row = pick(data.rows[root.name] ?? []) else { return nil }
    guard let text = key(of: row, root.type, isMissing: chance(6)) else { return nil }
    return (text, row["@type"]?.string.flatMap { model.structure($0) } ?? root.type)
  }

  mutating func key(of row: JSONNode, _ type: EdmStructure, isMissing: Bool = false) -> String? {
    var parts: [String] = []
    for reference in type.key {
      guard let property = type.property(reference.path), let kind = ValueKind(property.type, model: model),
        var value = row[reference.path]
      else { return nil }
      if isMissing, case .string(let text) = value, kind == .string { value = .string(String(text.reversed()) + "x") }
      if isMissing, case .number = value { value = .number("77001") }
      let primitive = model.underlying(property.type).type.primitive
      guard let literal = QueryLiteral.text(value, kind, type: primitive, version: version) else { return nil }
      parts.append(type.key.count == 1 ? literal : "\(reference.path)=\(literal)")
    }
    return parts.isEmpty ? nil : "(\(parts.joined(separator: ",")))"
  }

  /// A query that starts at one entity.
  mutating func single(_ path: String, _ type: EdmStructure, declared: EdmStructure? = nil) -> QueryNode {
    var path = path
    var currentType = declared ?? type
    if features.hasCasts, let declared, declared.name != type.name, chance(40) {
      path += "/\(type.name)"
      currentType = type
    }
    switch roll(100) {
    case ..<30:
      guard let navigation = pick(currentType.navigationProperties),
        let target = navigation.type.name.flatMap({ model.structure($0) })
      else { break }
      let below = "\(path)/\(navigation.name)"
      guard navigation.isCollection else { return entity(below, target) }
      if features.keysBehindNavigation, chance(15), let row = contained(navigation, currentType),
        let key = key(of: row, target)
      {
        return entity(below + key, target)
      }
      if features.hasReferences, chance(10) { return references(below, target) }
      return chance(15) ? count(below, target) : collection(below, target)
    case ..<50 where features.hasProperties:
      guard let property = pick(data.properties(of: currentType)) else { break }
      let below = "\(path)/\(property.name)"
      if let kind = ValueKind(property.type, model: model), !property.type.isCollection {
        return QueryNode(below + (kind != .binary && chance(30) ? "/$value" : ""))
      }
      if !property.type.isCollection, let complex = property.type.name.flatMap({ model.structure($0) }),
        let inner = pick(data.leaves(of: complex)), chance(60)
      {
        return QueryNode("\(below)/\(inner.path)")
      }
      return QueryNode(below + (isV4 && property.type.isCollection && chance(30) ? "/$count" : ""))
    default: break
    }
    return entity(path, currentType)
  }

  /// A row that a containment navigation property of a known row leads to.
  private mutating func contained(_ navigation: EdmNavigationProperty, _ type: EdmStructure) -> JSONNode? {
    let roots = data.roots.filter { root in root.type.chain.contains { $0.name == type.name } }
    let inner = roots.flatMap { data.rows[$0.name] ?? [] }.flatMap { $0[navigation.name]?.items ?? [] }
    return pick(inner)
  }

  mutating func entity(_ path: String, _ type: EdmStructure) -> QueryNode {
    options(path, shapes(type))
  }

  mutating func collection(_ path: String, _ type: EdmStructure) -> QueryNode {
    var all: [QueryNode] = []
    let search = features.hasSearch && chance(5) ? search(type) : nil
    // A reading of `$search` is a filter itself.
    if let search { all.append(search) } else if chance(60) { all.append(filter(type)) }
    if chance(50) { all.append(order(type, separator: "&", rows: data.rows[path]?.count ?? 12)) }
    if chance(20) { all.append(QueryNode(isV4 ? "$count=true" : "$inlinecount=allpages")) }
    return options(path, all + shapes(type))
  }

  mutating func count(_ path: String, _ type: EdmStructure) -> QueryNode {
    options(path + "/$count", chance(75) ? [filter(type)] : [])
  }

  mutating func references(_ path: String, _ type: EdmStructure) -> QueryNode {
    var options = self.options("", chance(50) ? [filter(type)] : [])
    options.meaning = .referenceOptions
    return QueryNode([.text(path + "/$ref"), .node(options)])
  }

  mutating func crossjoin() -> QueryNode {
    let sets = data.roots.filter { !$0.isSingleton && (data.rows[$0.name]?.count ?? 0) <= 60 }.shuffled(using: &random)
    guard sets.count > 1 else { return QueryNode("") }
    let one = sets[0]
    let other = sets[1]
    var parts: [QueryNode] = []
    for root in [one, other] {
      guard let leaf = pick(data.leaves(of: root.type)), let literal = literal(leaf, root.type) else { continue }
      let path = "\(root.name)/\(leaf.path)"
      if case .enumeration = leaf.kind {
        parts.append(QueryNode(.truth, [.text("\(path) eq \(literal)")], .enumeration(path, "eq")))
      } else {
        parts.append(.relation(.text(path), "eq", .text(literal)))
      }
    }
    let list = QueryNode.List(separator: " and ", minimum: 1, items: parts)
    let filter = parts.isEmpty ? [] : [QueryNode([.text("$filter="), .list(list)])]
    var node = options("$crossjoin(\(one.name),\(other.name))", filter)
    node.meaning = .crossjoin([one.name, other.name])
    return node
  }

  func options(_ path: String, _ all: [QueryNode]) -> QueryNode {
    QueryNode([
      .text(path), .list(QueryNode.List(before: "?", separator: "&", minimum: 0, items: all)),
    ])
  }

  // MARK: - Chance

  mutating func roll(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }
  mutating func pick<Item>(_ items: [Item]) -> Item? { items.randomElement(using: &random) }
  mutating func some<Item>(_ items: [Item], atMost limit: Int) -> [Item] {
    Array(items.shuffled(using: &random).prefix(1 + roll(limit)))
  }
}
