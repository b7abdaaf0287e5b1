import LarderOData

/// The queries that the model allows for the entities of a set or singleton, or behind a navigation property (the
/// Capabilities vocabulary, SAP's attributes). A function that checks an option throws the reason, with the annotation.
struct QueryRules {
  /// A reason why a query is not allowed.
  struct Violation: Error {
    /// What is not allowed: `Orders cannot be sorted by Note`.
    let text: String
    let annotation: String
  }

  /// The name for messages: the set, or the path of navigation properties.
  let name: String
  private let type: EdmStructure?
  private let set: EdmEntitySet?
  private let model: EdmModel
  /// Where restrictions may be. The first place that has a term counts.
  private let places: [Place]
  /// The sets and singletons along the path, with the navigation properties from there and the type that declares the
  /// first of them.
  private let owners: [(target: String, path: String, type: EdmStructure?)]

  private enum Place {
    case element(String)
    case navigation(EdmAnnotationValue)
  }

  /// The rules of a set or singleton.
  init(source: String, type: EdmStructure?, _ model: EdmModel) {
    name = source
    self.type = type
    self.model = model
    set = model.entitySet(source)
    let target = model.target(ofSource: source)
    places = target.map { [.element($0)] } ?? []
    owners = target.map { [($0, "", nil)] } ?? []
  }

  /// The rules of the entities behind a navigation property: those of the property itself, else those of their set.
  func behind(
    _ navigation: ODataDeclaredNavigation, path: String, source: ODataBoundSource?
  ) -> QueryRules {
    let owners = owners.map { owner in
      (owner.target, owner.path.isEmpty ? path : owner.path + "/" + path, owner.type ?? navigation.declaringType)
    }
    var places: [Place] = []
    for (target, path, type) in owners {
      places.append(.element(target + "/" + path))
      let restrictions = model.navigationRestrictions(target, of: [type])
      places += restrictions.filter { $0.path == path }.map { .navigation($0.record) }
    }
    places.append(.element(navigation.declaringType.name + "/" + navigation.name))
    let set = source.flatMap { $0.containment.isEmpty ? $0.source.name : nil }
    let target = set.flatMap(model.target(ofSource:))
    if let target { places.append(.element(target)) }
    return QueryRules(
      name: name + "/" + path, type: navigation.type.structure, set: set.flatMap(model.entitySet), model: model,
      places: places, owners: owners + (target.map { [($0, "", nil)] } ?? []))
  }

  private init(
    name: String, type: EdmStructure?, set: EdmEntitySet?, model: EdmModel, places: [Place],
    owners: [(target: String, path: String, type: EdmStructure?)]
  ) {
    (self.name, self.type, self.set, self.model, self.places, self.owners) = (name, type, set, model, places, owners)
  }

  // MARK: Checks

  func checkReadable(byKey: Bool) throws(Violation) {
    if byKey, let place = rejection("IndexableByKey") { throw violation("cannot be read by key", place) }
    if let (read, place) = value("ReadRestrictions") {
      let readByKey = byKey ? read["ReadByKeyRestrictions"]?["Readable"]?.bool : nil
      if (readByKey ?? read["Readable"]?.bool) == false { throw violation("cannot be read", place + "/Readable") }
    }
  }

  /// - Parameter used: the paths of the properties that the filter uses.
  func checkFilter(_ used: [String]) throws(Violation) {
    let (filter, place) = value("FilterRestrictions") ?? (nil, "")
    if filter?["Filterable"]?.bool == false {
      throw violation("cannot be filtered", place + "/Filterable")
    }
    for path in used {
      let reason = Self.reason(path, filter?.reasons("NonFilterableProperties", place)) ?? sap("filterable", path)
      if let reason { throw violation("cannot be filtered by \(path)", reason) }
    }
  }

  /// Checks whether the set can be read as a whole, and what every query of it must filter by.
  ///
  /// - Parameter used: the paths of the properties that the filter uses; nil if there is no filter.
  func checkSet(filteredBy used: [String]?) throws(Violation) {
    if set?.sap("addressable") == "false" {
      throw violation("can be read only through navigation properties", "sap:addressable")
    }
    let (filter, place) = value("FilterRestrictions") ?? (nil, "")
    if used == nil, filter?["RequiresFilter"]?.bool == true {
      throw violation("can be read only with a filter", place + "/RequiresFilter")
    }
    if used == nil, set?.sap("requires-filter") == "true" {
      throw violation("can be read only with a filter", "sap:requires-filter")
    }
    var required = used == nil ? [:] : filter?.reasons("RequiredProperties", place) ?? [:]
    for property in type?.properties ?? [] where property.sap("required-in-filter") == "true" {
      required[property.name] = "sap:required-in-filter"
    }
    for (path, reason) in required.sorted(by: { $0.key < $1.key }) where used?.contains(path) != true {
      throw violation("can be read only with a filter by \(path)", reason)
    }
  }

  func checkSort(_ items: [(path: String, isDescending: Bool)]) throws(Violation) {
    guard !items.isEmpty else { return }
    let (sort, place) = value("SortRestrictions") ?? (nil, "")
    if sort?["Sortable"]?.bool == false { throw violation("cannot be sorted", place + "/Sortable") }
    for (path, isDescending) in items {
      let reason = Self.reason(path, sort?.reasons("NonSortableProperties", place)) ?? sap("sortable", path)
      if let reason { throw violation("cannot be sorted by \(path)", reason) }
      let only = isDescending ? "AscendingOnlyProperties" : "DescendingOnlyProperties"
      if let reason = sort?.reasons(only, place)[path] {
        throw violation("can be sorted by \(path) only in \(isDescending ? "ascending" : "descending") order", reason)
      }
    }
  }

  func checkSearch() throws(Violation) {
    if let place = rejection("SearchRestrictions", "Searchable") ?? sapSet("searchable") {
      throw violation("cannot be searched", place)
    }
  }

  func checkCount() throws(Violation) {
    if let place = rejection("CountRestrictions", "Countable") ?? sapSet("countable") {
      throw violation("cannot be counted", place)
    }
  }

  /// Checks the count of a collection in these entities.
  func checkCount(of path: String) throws(Violation) {
    let (count, place) = value("CountRestrictions") ?? (nil, "")
    let reasons = ["NonCountableProperties", "NonCountableNavigationProperties"].lazy.compactMap {
      count?.reasons($0, place)[path]
    }
    if let reason = reasons.first { throw violation("does not allow counting \(path)", reason) }
  }

  func checkTop() throws(Violation) {
    if let place = rejection("TopSupported") ?? sapSet("topable") ?? sapSet("pageable") {
      throw violation("cannot be read with $top", place)
    }
  }

  func checkSkip() throws(Violation) {
    if let place = rejection("SkipSupported") ?? sapSet("pageable") {
      throw violation("cannot be read with $skip", place)
    }
  }

  func checkSelect() throws(Violation) {
    if let place = rejection("SelectSupport", "Supported") { throw violation("cannot be read with $select", place) }
  }

  /// - Parameter levels: how many levels of related entities the query has below this set.
  func checkExpand(_ paths: [String], levels: Int) throws(Violation) {
    guard !paths.isEmpty, let (expand, place) = value("ExpandRestrictions") else { return }
    if expand["Expandable"]?.bool == false { throw violation("cannot be expanded", place + "/Expandable") }
    for path in paths {
      guard let reason = Self.reason(path, expand.reasons("NonExpandableProperties", place)) else { continue }
      throw violation("does not allow expanding \(path)", reason)
    }
    if let most = expand["MaxLevels"]?.int, most >= 0, levels > most {
      throw violation("can be expanded by \(most) levels at most", place + "/MaxLevels")
    }
  }

  // MARK: Annotations

  private func violation(_ text: String, _ annotation: String) -> Violation {
    Violation(text: "\(name) \(text)", annotation: annotation)
  }

  /// The value of a term, and where it is.
  private func value(_ term: String) -> (value: EdmAnnotationValue, place: String)? {
    for place in places {
      switch place {
      case .element(let target):
        guard let value = model.annotation(EdmModel.capabilities + term, target: target)?.value else { continue }
        return (value, "Capabilities." + term)
      case .navigation(let record):
        if let value = record[term] { return (value, EdmModel.navigationPlace + "/" + term) }
      }
    }
    return nil
  }

  /// Where a term, or a property of its record, is false.
  private func rejection(_ term: String, _ property: String? = nil) -> String? {
    guard let (value, place) = value(term) else { return nil }
    guard let property else { return value.bool == false ? place : nil }
    return value[property]?.bool == false ? place + "/" + property : nil
  }

  /// The restriction of a path: its own, or that of a property that it leads through.
  private static func reason(_ path: String, _ reasons: ChangeRestrictions.Reasons?) -> String? {
    reasons.flatMap { ChangeRules.reason(of: path.split(separator: "/").map(String.init), among: $0) }
  }

  private func sapSet(_ name: String) -> String? { set?.sap(name) == "false" ? "sap:" + name : nil }

  /// SAP's restriction of the first property of a path.
  private func sap(_ name: String, _ path: String) -> String? {
    let first = String(path.prefix { $0 != "/" })
    let value = type?.property(first)?.sap(name) ?? type?.navigationProperty(first)?.sap(name)
    return value == "false" ? "sap:" + name : nil
  }
}
