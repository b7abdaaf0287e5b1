// `$select` (URL Conventions 4.01 §5.1.4).
extension Binding {
  func select(
    _ items: [ODataSelectItem], on instance: Instance
  ) throws(ODataBindingError) -> [ODataBoundSelectItem] {
    var bound: [ODataBoundSelectItem] = []
    bound.reserveCapacity(items.count)
    // Few items are compared with each other; many are looked up in a dictionary.
    var places: [ODataBoundPath: Int] = [:]
    for number in items.indices {
      let next = try selectItem(items[number])
      let isMany = items.count > 8
      if let place = isMany ? places[next.path] : bound.firstIndex(where: { $0.path == next.path }) {
        guard bound[place] == next else {
          throw error(.duplicate("the item with options"), at: items[number].path.position)
        }
        continue
      }
      if isMany { places[next.path] = bound.count }
      bound.append(next)
    }
    return bound
  }

  private func selectItem(_ item: ODataSelectItem) throws(ODataBindingError) -> ODataBoundSelectItem {
    var walk = try begin(item.path, .select, at: item.path.position)
    let segments = item.path.segments
    while walk.next < segments.count {
      let segment = segments[walk.next]
      if case .navigation(let property)? = walk.path.lastKind {
        throw misplaced(
          "a further step", walk, "select it in $expand=\(property.name)($select=…)", at: segment.position)
      }
      switch segment.kind {
      case .name, .qualifiedName, .star, .allOperations, .annotation: try step(segments, &walk)
      default: throw misplaced("the step", walk, "expected a property", at: segment.position)
      }
    }
    guard !walk.path.segments.isEmpty else {
      throw error(.wrongType(expected: "a property", found: "nothing"), at: item.path.position)
    }
    guard !item.options.isBare else { return ODataBoundSelectItem(path: walk.path, options: nil) }
    let type = walk.path.type
    var kinds = allowed(on: type).subtracting([.expand, .index])
    switch walk.path.lastKind {
    case .property, .dynamic, .computed: break
    default: kinds = []
    }
    if type?.structure?.isEntityType == true { kinds = [] }
    // 4.01 allows `$expand` in the options of a complex property that has navigation properties.
    if type?.item.isStructured == true, !kinds.isEmpty { kinds.insert(.expand) }
    try allow(kinds, item.options, on: type.map { "\($0)" } ?? "it", at: item.path.position)
    let options = try nested(item.options, on: walk.instance, .select, at: item.path.position)
    return ODataBoundSelectItem(path: walk.path, options: options)
  }
}
