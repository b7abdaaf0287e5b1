import LarderOData
import LarderODataXML
import LarderTestSupport

/// The data of a service: its model, its rows, and their values.
struct QueryData: Sendable {
  let model: EdmModel
  /// The entity sets and singletons that queries start at, sets first.
  let roots: [Root]
  /// The rows of each root, as the service returned them, without V2's envelope.
  let rows: [String: [JSONNode]]
  /// Different values of each property, by the type's name and the path: `Ns.Product/Name`, `Ns.Supplier/Address/City`.
  let values: [String: [JSONNode]]
  /// The properties that no row has, as `Ns.Type/Name`: declared, yet unknown to the service.
  let unknown: Set<String>

  struct Root: Sendable {
    let name: String
    let type: EdmStructure
    let isSingleton: Bool
  }

  /// A property of primitive or enumeration type, or one inside a complex property.
  struct Leaf: Sendable {
    let path: String
    let kind: ValueKind
    let type: EdmPrimitiveType?
  }

  /// A service could not be read.
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// Reads metadata and all rows. Roots of the given names are left out.
  static func read(_ service: ServiceTarget, without excluded: Set<String> = []) throws -> QueryData {
    var plain = service
    plain.fields = [:]
    let metadata = try plain.get("$metadata")
    guard metadata.status == 200 else { throw Failure(description: "$metadata: \(metadata.status) \(metadata.text)") }
    let reader = CSDLReader()
    try reader.push(metadata.body)
    let model = try reader.finish()
    let container = model.defaultContainer
    let sets = (container?.entitySets ?? []).map { ($0.name, $0.entityType, false) }
    let singletons = (container?.singletons ?? []).map { ($0.name, $0.type, true) }
    var roots: [Root] = []
    var collector = Collector(model: model)
    for (name, typeName, isSingleton) in sets + singletons where !excluded.contains(name) {
      guard let type = model.structure(typeName) else { continue }
      let contained = type.navigationProperties.filter(\.containsTarget).map(\.name)
      let query = contained.isEmpty ? "" : "?$expand=" + contained.joined(separator: ",")
      let response = try service.get(name + query)
      guard response.status == 200 else { throw Failure(description: "\(name): \(response.status) \(response.text)") }
      let rows = ResultShape.rows(of: ResultShape.plain(try JSONNode(response.body)))
      collector.rows[name] = rows
      for row in rows { collector.collect(row, type) }
      roots.append(Root(name: name, type: type, isSingleton: isSingleton))
    }
    guard !roots.isEmpty else { throw Failure(description: "the service has no entity sets") }
    let declaredTypes = model.schemas.flatMap(\.entityTypes).compactMap { model.structure($0.qualifiedName) }
    let declaredNames = declaredTypes.flatMap { type in type.properties.map { "\(type.name)/\($0.name)" } }
    return QueryData(
      model: model, roots: roots, rows: collector.rows, values: collector.values,
      unknown: Set(declaredNames).subtracting(collector.present))
  }

  /// The properties of a type that the service knows, without streams.
  func properties(of type: EdmStructure) -> [EdmProperty] {
    type.properties.filter { $0.type.primitive != .stream && !unknown.contains("\(type.name)/\($0.name)") }
  }

  /// The names of properties of binary floating-point types.
  struct Floating: Sendable {
    var singles: Set<String> = []
    var doubles: Set<String> = []

    /// Whether two spellings are the same value of the property's type. The result may consist of the value alone.
    func isSame(_ one: String?, _ other: String?, _ name: String) -> Bool {
      guard let one, let other else { return false }
      if singles.contains(name) { return Float(one) != nil && Float(one) == Float(other) }
      if doubles.contains(name) { return Double(one) != nil && Double(one) == Double(other) }
      return false
    }
  }

  /// The names of the model's floating-point properties, without names that properties of other types have too.
  var floating: Floating {
    let types = model.schemas.flatMap { $0.entityTypes.map(\.qualifiedName) + $0.complexTypes.map(\.qualifiedName) }
    let properties = types.compactMap { model.structure($0) }.flatMap(\.properties)
    func names(_ type: EdmPrimitiveType) -> Set<String> {
      let all = Set(properties.filter { $0.type.primitive == type }.map(\.name))
      return all.subtracting(properties.filter { $0.type.primitive != type }.map(\.name))
    }
    return Floating(singles: names(.single), doubles: names(.double))
  }

  /// The properties of a type that expressions can name.
  func leaves(of type: EdmStructure) -> [Leaf] { QueryData.leaves(of: type, model) }

  /// The types derived from a type.
  func derived(from type: EdmStructure) -> [EdmStructure] {
    let names = model.schemas.flatMap(\.entityTypes).map(\.qualifiedName)
    return names.compactMap { model.structure($0) }.filter { below in
      below.name != type.name && below.chain.contains { $0.name == type.name }
    }
  }

  fileprivate static func leaves(of type: EdmStructure, _ model: EdmModel, depth: Int = 0) -> [Leaf] {
    type.properties.flatMap { property -> [Leaf] in
      guard !property.type.isCollection else { return [] }
      if let kind = ValueKind(property.type, model: model) {
        let primitive = model.underlying(property.type).type.primitive
        return [Leaf(path: property.name, kind: kind, type: primitive)]
      }
      guard depth < 2, let name = property.type.name, let complex = model.structure(name) else { return [] }
      return leaves(of: complex, model, depth: depth + 1).map {
        Leaf(path: "\(property.name)/\($0.path)", kind: $0.kind, type: $0.type)
      }
    }
  }

  /// Gathers rows and values.
  private struct Collector {
    let model: EdmModel
    var rows: [String: [JSONNode]] = [:]
    var values: [String: [JSONNode]] = [:]
    var present: Set<String> = []
    private var recordedValues: Set<String> = []

    init(model: EdmModel) { self.model = model }

    mutating func collect(_ row: JSONNode, _ declared: EdmStructure) {
      let type = row["@type"]?.string.flatMap { model.structure($0) } ?? declared
      for member in row.members ?? [] { for owner in type.chain { present.insert("\(owner.name)/\(member.name)") } }
      for leaf in QueryData.leaves(of: type, model) {
        var value: JSONNode? = row
        for step in leaf.path.split(separator: "/") { value = value?[String(step)] }
        guard let value, value != .null else { continue }
        for owner in type.chain { add(value, "\(owner.name)/\(leaf.path)") }
      }
      for property in type.properties where property.type.isCollection {
        for item in row[property.name]?.items ?? [] where item.members == nil {
          for owner in type.chain { add(item, "\(owner.name)/\(property.name)") }
        }
      }
      for navigation in type.navigationProperties where navigation.containsTarget {
        guard let name = navigation.type.name, let target = model.structure(name), let inner = row[navigation.name]
        else { continue }
        for item in inner.items ?? [inner] where item != .null { collect(item, target) }
      }
    }

    private mutating func add(_ value: JSONNode, _ path: String) {
      guard values[path, default: []].count < 60, recordedValues.insert("\(path)=\(value)").inserted else { return }
      values[path, default: []].append(value)
    }
  }
}
