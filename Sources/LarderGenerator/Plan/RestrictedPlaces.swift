internal import LarderOData

/// The places of entities and complex values that annotations can name: the entity sets and singletons, and the paths
/// behind them that begin a path in their `NavigationRestrictions` (Capabilities vocabulary).
struct RestrictedPlaces {
  struct Place: Hashable {
    /// A set or singleton, `NS.Container/Name`, then each property with the type that declares it, `/NS.Type/Name`. Nil
    /// for all places that no annotation names.
    let path: String?
    /// Whether the entities belong to the place: it is a set or singleton, or one of these contains them. Other entities
    /// are referred to, and have a place of their own.
    let isOwn: Bool

    static let unnamed = Place(path: nil, isOwn: true)

    func behind(_ member: Member) -> Place {
      Place(path: path.map { $0 + "/" + member.target }, isOwn: isOwn && member.isContained)
    }
  }

  /// A property whose values are entities or complex values.
  struct Member {
    let name: String
    /// The property as a target of annotations, `NS.Type/Name`.
    let target: String
    /// The qualified name of its type.
    let type: String
    let isContained: Bool
  }

  /// All entity types and complex types.
  let structures: [EdmStructure]
  /// The elements of `NavigationRestrictions` by their paths, which have the form of those of places.
  private(set) var records: [String: EdmAnnotationValue] = [:]
  private let model: EdmModel
  /// By the qualified name of a type: its places; the type with its base types and those that derive from it; its own
  /// members.
  private var places: [String: Set<Place>] = [:]
  private var related: [String: Set<String>] = [:]
  private var members: [String: [Member]] = [:]

  init(_ model: EdmModel) {
    self.model = model
    structures = model.schemas.flatMap { schema in
      (schema.entityTypes.map(\.qualifiedName) + schema.complexTypes.map(\.qualifiedName)).compactMap(model.structure)
    }
    for structure in structures {
      for base in structure.chain.map(\.name) {
        related[base, default: []].insert(structure.name)
        related[structure.name, default: []].insert(base)
      }
      let own =
        structure.ownNavigationProperties.map { ($0.name, $0.type, $0.containsTarget) }
        + structure.ownProperties.map { ($0.name, $0.type, true) }
      members[structure.name] = own.compactMap { name, type, isContained in
        guard let type = type.name.flatMap({ model.structure($0) })?.name else { return nil }
        return Member(name: name, target: "\(structure.name)/\(name)", type: type, isContained: isContained)
      }
    }
    for container in model.schemas.flatMap(\.containers) {
      let roots =
        container.entitySets.map { ($0.name, $0.entityType) } + container.singletons.map { ($0.name, $0.type) }
      for (name, type) in roots {
        addPlaces(ofSource: "\(container.qualifiedName)/\(name)", model.resolve(type))
      }
    }
    addUnnamedPlaces()
  }

  /// Entities of a type are also in the sets of its base types, and those of a derived type are entities of the type.
  func places(of type: String) -> Set<Place> {
    let places = (related[type] ?? []).reduce(into: Set<Place>()) { $0.formUnion(self.places[$1] ?? []) }
    return places.contains(where: \.isOwn) ? places : places.union([.unnamed])
  }

  private mutating func addPlaces(ofSource source: String, _ type: String) {
    let root = Place(path: source, isOwn: true)
    places[type, default: []].insert(root)
    let term = "Org.OData.Capabilities.V1.NavigationRestrictions"
    for record in model.annotation(term, target: source)?.value?["RestrictedProperties"]?.items ?? [] {
      guard let path = record["NavigationProperty"]?.text else { continue }
      var ends = [(type: type, place: root)]
      for step in path.split(separator: "/").map(String.init) {
        if step.contains(".") {
          ends = ends.map { (model.resolve(step), $0.place) }
          continue
        }
        for (type, place) in ends { places[type, default: []].insert(place) }
        ends = ends.flatMap { type, place in
          (related[type] ?? []).flatMap { members[$0] ?? [] }.filter { $0.name == step }
            .map { ($0.type, place.behind($0)) }
        }
        // If several derived types declare the same property, each step multiplies the ends. A longer list is ignored:
        // the stores check the restriction when they run.
        guard ends.count <= 1_000 else {
          ends = []
          break
        }
      }
      for case let path? in ends.map(\.place.path) where records[path] == nil { records[path] = record }
    }
  }

  /// Adds the place without a name for what is contained where no annotation says anything.
  private mutating func addUnnamedPlaces() {
    let owners = members.filter { $0.value.contains(where: \.isContained) }
    var isChanged = true
    while isChanged {
      isChanged = false
      for (owner, members) in owners {
        let ownPlaces = places(of: owner).filter(\.isOwn)
        for member in members where member.isContained {
          let named = places[member.type] ?? []
          guard !ownPlaces.allSatisfy({ $0 != .unnamed && named.contains($0.behind(member)) }) else { continue }
          if places[member.type, default: []].insert(.unnamed).inserted { isChanged = true }
        }
      }
    }
  }
}
