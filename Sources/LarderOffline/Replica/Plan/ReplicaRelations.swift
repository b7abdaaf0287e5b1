import LarderOData

/// Determines how the two ends of each navigation property are joined: by a referential constraint if it is sufficient,
/// otherwise by links.
struct ReplicaRelations {
  let tables: [TableDraft]
  let hierarchy: TypeHierarchy
  /// The navigation properties by table, once resolved.
  private(set) var navigations: [[ReplicaNavigation]] = []
  private(set) var links: [LinkTable] = []
  /// The link tables, by the navigation property that uses them forward.
  private var linksOf: [Place: Int] = [:]

  private struct Place: Hashable {
    let table: Int
    let navigation: Int
  }

  init(tables: [TableDraft], hierarchy: TypeHierarchy) {
    self.tables = tables
    self.hierarchy = hierarchy
  }

  mutating func resolve() {
    for table in tables {
      var all: [ReplicaNavigation] = []
      for place in table.navigations.indices {
        let navigation = table.navigations[place]
        all.append(
          ReplicaNavigation(
            path: navigation.path, declaringType: navigation.declaringType, property: navigation.property,
            target: navigation.target, relation: relation(Place(table: table.number, navigation: place))))
      }
      navigations.append(all)
    }
  }

  private mutating func relation(_ place: Place) -> ReplicaRelation {
    let table = tables[place.table]
    let navigation = table.navigations[place.navigation]
    if navigation.property.containsTarget { return .containment }
    let partner = partner(of: place)
    if let partner, tables[partner.table].navigations[partner.navigation].property.containsTarget,
      tables[partner.table].navigations[partner.navigation].target == place.table
    {
      return .container
    }
    if let pairs = constraint(navigation, from: table) { return .columns(pairs) }
    if let partner {
      let back = tables[partner.table].navigations[partner.navigation]
      if let pairs = constraint(back, from: tables[navigation.target], to: table) {
        return .columns(pairs.map { ReplicaRelation.Pair(source: $0.target, target: $0.source) })
      }
    }
    if let pairs = association(navigation, from: table) { return .columns(pairs) }
    return .links(link(place, partner), isForward: linksOf[place] != nil)
  }

  private mutating func link(_ place: Place, _ partner: Place?) -> Int {
    if let existing = linksOf[place] { return existing }
    if let partner, partner != place, let existing = linksOf[partner],
      tables[partner.table].navigations[partner.navigation].target == place.table
    {
      return existing
    }
    let navigation = tables[place.table].navigations[place.navigation]
    let number = links.count
    let back = partner.map { tables[$0.table].navigations[$0.navigation] }.flatMap {
      $0.target == place.table ? $0.property : nil
    }
    let isSourceSingle = back.map { !$0.isCollection } ?? hierarchy.model.isSourceSingle(navigation.property)
    links.append(
      LinkTable(
        number: number, name: tables[place.table].name + "/" + navigation.path.joined(separator: "/"),
        source: place.table, target: navigation.target,
        isSingle: (target: !navigation.property.isCollection, source: isSourceSingle)))
    linksOf[place] = number
    return number
  }

  // MARK: Constraints

  /// The columns that a navigation property's own constraint makes equal; nil if they do not identify the principal.
  private func constraint(
    _ navigation: TableDraft.Navigation, from table: TableDraft, to principal: TableDraft? = nil
  ) -> [ReplicaRelation.Pair]? {
    let constraints = navigation.property.referentialConstraints
    guard !constraints.isEmpty else { return nil }
    return pairs(
      constraints.map { ($0.property, $0.referencedProperty) }, from: table, navigation,
      to: principal ?? tables[navigation.target])
  }

  private func pairs(
    _ names: [(dependent: String, principal: String)], from dependent: TableDraft,
    _ navigation: TableDraft.Navigation, to principal: TableDraft
  ) -> [ReplicaRelation.Pair]? {
    var pairs: [ReplicaRelation.Pair] = []
    let prefix = navigation.path.dropLast()
    for name in names {
      let path = prefix + name.dependent.split(separator: "/").map(String.init)
      let referenced = name.principal.split(separator: "/").map(String.init)
      guard let source = dependent.columns.column(Array(path), on: navigation.declaringType),
        let target = principal.columns.column(referenced, on: principal.types.first),
        areEqual(dependent.columns.columns[source], principal.columns.columns[target])
      else { return nil }
      pairs.append(ReplicaRelation.Pair(source: source, target: target))
    }
    return identify(pairs.map(\.target), principal) ? pairs : nil
  }

  private func areEqual(_ first: ReplicaColumn, _ second: ReplicaColumn) -> Bool {
    first.storage == second.storage && first.storage.isComparable
  }

  /// Whether columns identify one entity. A constraint with fewer columns says what is equal, not what is related (CSDL
  /// 4.01 §8.5). Keys of contained entities are unique only within one parent.
  private func identify(_ columns: [Int], _ principal: TableDraft) -> Bool {
    !principal.key.isEmpty && !principal.isContained && Set(principal.key).isSubset(of: columns)
  }

  /// For V1 to V3: the constraint of an association, seen from its principal, if the dependent has no navigation
  /// property back.
  private func association(
    _ navigation: TableDraft.Navigation, from table: TableDraft
  ) -> [ReplicaRelation.Pair]? {
    guard let relationship = navigation.property.relationship,
      let constraint = hierarchy.model.association(relationship.association)?.referentialConstraint,
      constraint.dependentRole == relationship.toRole,
      constraint.dependentProperties.count == constraint.principalProperties.count
    else { return nil }
    var pairs: [ReplicaRelation.Pair] = []
    for (dependent, principal) in zip(constraint.dependentProperties, constraint.principalProperties) {
      let target = tables[navigation.target]
      guard let end = target.columns.column([dependent], on: target.types.first),
        let start = table.columns.column([principal], on: navigation.declaringType),
        areEqual(table.columns.columns[start], target.columns.columns[end])
      else { return nil }
      pairs.append(ReplicaRelation.Pair(source: start, target: end))
    }
    return identify(pairs.map(\.source), table) ? pairs : nil
  }

  // MARK: Partners

  /// The navigation property that leads back, in the table that this one leads to.
  private func partner(of place: Place) -> Place? {
    let table = tables[place.table]
    let navigation = table.navigations[place.navigation]
    let target = tables[navigation.target]
    let candidates = target.navigations.indices.filter { candidate in
      let back = target.navigations[candidate]
      guard !(target.number == table.number && candidate == place.navigation) else { return false }
      return isPartner(navigation, back)
        && (back.property.type.name.map { hierarchy.areRelated($0, navigation.declaringType.name) } ?? false)
    }
    let leadsBack = candidates.first { target.navigations[$0].target == table.number }
    return (leadsBack ?? candidates.first).map { Place(table: target.number, navigation: $0) }
  }

  private func isPartner(_ first: TableDraft.Navigation, _ second: TableDraft.Navigation) -> Bool {
    if let there = first.property.relationship, let back = second.property.relationship {
      return there.association == back.association && there.fromRole == back.toRole && there.toRole == back.fromRole
    }
    if let partner = first.property.partner { return BindingPath.steps(partner) == second.path }
    guard let partner = second.property.partner else { return false }
    return BindingPath.steps(partner) == first.path
  }
}

extension EdmModel {
  /// For V1 to V3: whether the association of a navigation property gives each target at most one source. In V4 only a
  /// navigation property that leads back can say so.
  func isSourceSingle(_ navigation: EdmNavigationProperty) -> Bool {
    guard let relationship = navigation.relationship, let association = association(relationship.association) else {
      return false
    }
    return association.ends.first { $0.role == relationship.fromRole }.map { $0.multiplicity != .many } ?? false
  }
}
