internal import LarderOData

/// What a service does not allow for the entities of an entity set, a singleton or a navigation property.
struct SetRestrictions {
  var isFilterable = true
  var isSortable = true
  var isInsertable = true
  var isUpdatable = true
  var isDeletable = true
  var isExpandable = true
  /// Whether related entities can be created with a new one.
  var allowsDeepInsert = true
  /// Names of properties, and paths of members of complex properties.
  var unfilterable: Set<String> = []
  var unsortable: Set<String> = []
  /// Names of properties.
  var notInsertable: Set<String> = []
  var notUpdatable: Set<String> = []
  var notExpandable: Set<String> = []
  /// Names of properties that a new entity must have.
  var required: Set<String> = []

  /// No restrictions.
  init() {}

  /// Reads annotations by the names of their terms in the Capabilities vocabulary, and SAP's attributes of a set.
  ///
  /// - Parameter isAllowed: whether what no annotation describes is allowed.
  init(
    _ set: EdmEntitySet? = nil, unlessDescribed isAllowed: Bool = true, _ record: (String) -> EdmAnnotationValue?
  ) {
    func allows(_ restrictions: EdmAnnotationValue?, _ name: String) -> Bool {
      restrictions.map { $0[name]?.bool != false } ?? isAllowed
    }
    func paths(_ value: EdmAnnotationValue?) -> Set<String> { Set((value?.items ?? []).compactMap(\.text)) }
    let (filter, sort) = (record("FilterRestrictions"), record("SortRestrictions"))
    let (insert, update) = (record("InsertRestrictions"), record("UpdateRestrictions"))
    let (delete, expand) = (record("DeleteRestrictions"), record("ExpandRestrictions"))
    isFilterable = allows(filter, "Filterable")
    isSortable = allows(sort, "Sortable")
    isInsertable = allows(insert, "Insertable") && set?.sap("creatable") != "false"
    isUpdatable = allows(update, "Updatable") && set?.sap("updatable") != "false"
    isDeletable = allows(delete, "Deletable") && set?.sap("deletable") != "false"
    isExpandable = allows(expand, "Expandable")
    allowsDeepInsert = (insert?["DeepInsertSupport"] ?? record("DeepInsertSupport"))?["Supported"]?.bool != false
    unfilterable = paths(filter?["NonFilterableProperties"])
    unsortable = paths(sort?["NonSortableProperties"])
    notInsertable = paths(insert?["NonInsertableProperties"]).union(paths(insert?["NonInsertableNavigationProperties"]))
    notUpdatable = paths(update?["NonUpdatableProperties"])
    notExpandable = paths(expand?["NonExpandableProperties"])
    required = paths(insert?["RequiredProperties"])
  }

  /// The restrictions that all places have; nil if there is none.
  static func common(_ places: [SetRestrictions]) -> SetRestrictions? {
    places.first.map { places.dropFirst().reduce($0) { $0.common(with: $1) } }
  }

  /// The restrictions that both have: what one of them allows is allowed.
  func common(with other: SetRestrictions) -> SetRestrictions {
    var common = commonOfEntities(with: other)
    common.isFilterable = isFilterable || other.isFilterable
    common.isSortable = isSortable || other.isSortable
    common.isInsertable = isInsertable || other.isInsertable
    common.isDeletable = isDeletable || other.isDeletable
    common.allowsDeepInsert = isInsertable && allowsDeepInsert || other.isInsertable && other.allowsDeepInsert
    common.unfilterable = both(\.unfilterable, other, if: \.isFilterable)
    common.unsortable = both(\.unsortable, other, if: \.isSortable)
    common.notInsertable = both(\.notInsertable, other, if: \.isInsertable)
    common.required = both(\.required, other, if: \.isInsertable)
    return common
  }

  /// The restrictions, as far as a single entity does not lift them: a singleton is not filtered, created or deleted.
  func commonOfEntities(with singleton: SetRestrictions) -> SetRestrictions {
    var common = self
    common.isUpdatable = isUpdatable || singleton.isUpdatable
    common.isExpandable = isExpandable || singleton.isExpandable
    common.notUpdatable = both(\.notUpdatable, singleton, if: \.isUpdatable)
    common.notExpandable = both(\.notExpandable, singleton, if: \.isExpandable)
    return common
  }

  /// The names that both restrict. A place that allows nothing of the kind lifts no restriction of the other one.
  private func both(
    _ names: KeyPath<SetRestrictions, Set<String>>, _ other: SetRestrictions,
    if isAllowed: KeyPath<SetRestrictions, Bool>
  ) -> Set<String> {
    if self[keyPath: isAllowed] == other[keyPath: isAllowed] {
      return self[keyPath: names].intersection(other[keyPath: names])
    }
    return self[keyPath: isAllowed] ? self[keyPath: names] : other[keyPath: names]
  }
}
