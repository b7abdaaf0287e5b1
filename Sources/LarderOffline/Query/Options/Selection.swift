import LarderOData

/// The members of an entity or complex value that `$select` chooses (URL Conventions 4.01 §5.1.4).
struct Selection {
  /// One selected item, relative to the entity or complex value.
  struct Item {
    /// The type of the last cast before the name.
    var cast: EdmStructure?
    let name: String
    /// The path segments after the name.
    let rest: ArraySlice<ODataBoundSegment>
    let options: ODataBoundOptions?
  }

  /// Whether all properties are shown: `$select` is absent, or contains `*`.
  private(set) var isAll = false
  private(set) var items: [Item] = []
  /// The names of selected navigation properties. Of the entities that `$apply` shows inline, only these are kept.
  private(set) var navigations: Set<String> = []

  static let all = Selection(isAll: true)

  private init(isAll: Bool) { self.isAll = isAll }

  init(_ select: [ODataBoundSelectItem], path: [String]) throws {
    if select.isEmpty { isAll = true }
    for item in select { try add(item.path.segments[...], item.options) }
  }

  /// The selection within the value of a selected name.
  func inner(_ items: [Item]) throws -> Selection {
    var inner = Selection(isAll: false)
    for item in items {
      if item.rest.isEmpty {
        guard let options = item.options else { return .all }
        if options.select.isEmpty { inner.isAll = true }
        for selected in options.select { try inner.add(selected.path.segments[...], selected.options) }
      } else {
        try inner.add(item.rest, item.options)
      }
    }
    return inner
  }

  private mutating func add(_ segments: ArraySlice<ODataBoundSegment>, _ options: ODataBoundOptions?) throws {
    var rest = segments
    var cast: EdmStructure?
    while case .cast(let type)? = rest.first?.kind {
      cast = type
      rest = rest.dropFirst()
    }
    guard let segment = rest.popFirst() else {
      isAll = true
      return
    }
    switch segment.kind {
    case .property(let property): items.append(Item(cast: cast, name: property.name, rest: rest, options: options))
    case .dynamic(let name), .computed(let name):
      items.append(Item(cast: cast, name: name, rest: rest, options: options))
    case .star: isAll = true
    // A navigation property shows its link, which needs no column; only services offer operations.
    case .navigation(let navigation): navigations.insert(navigation.name)
    case .operations, .allOperations, .operation: break
    default: throw OfflineODataError.unsupported(describe(segment.kind) + " in $select")
    }
  }

  var names: Set<String> { Set(items.map(\.name)) }

  /// Whether a member that the query has computed is shown. Annotations are always shown.
  func shows(_ name: String) -> Bool {
    isAll || name.hasPrefix("@") || navigations.contains(name) || items.contains { $0.name == name }
  }

  /// The items that select a name.
  func items(_ name: String) -> [Item] { items.filter { $0.name == name } }
}
