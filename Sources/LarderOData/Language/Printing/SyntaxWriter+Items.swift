// Lists of items.
extension SyntaxWriter {
  mutating func orderBy(_ items: [ODataOrderByItem]) throws(ODataPrintingError) {
    try demand("$orderby", least: 1, found: items.count)
    for index in items.indices {
      if index > 0 { raw(",") }
      try expression(items[index].expression)
      guard items[index].isDescending else { continue }
      space()
      raw("desc")
    }
  }

  mutating func compute(_ items: [ODataComputeItem]) throws(ODataPrintingError) {
    try demand("$compute", least: 1, found: items.count)
    for index in items.indices {
      if index > 0 { raw(",") }
      try expression(items[index].expression)
      word("as")
      try name(items[index].alias, "name of a computed property")
    }
  }

  mutating func expand(_ items: [ODataExpandItem]) throws(ODataPrintingError) {
    try demand("$expand", least: 1, found: items.count)
    for index in items.indices {
      if index > 0 { raw(",") }
      if let place = try expandPath(of: items[index]) { try parenthesizedOptions(items[index].options, in: place) }
    }
  }

  /// Writes the path; returns the kind of the options after it, if there are any.
  private mutating func expandPath(of item: ODataExpandItem) throws(ODataPrintingError) -> OptionPlace? {
    try expandPath(item.path)
    guard !item.options.isEmpty else { return nil }
    try demandV4("$expand with options", cure: "write paths: $expand=A/B&$select=A/x")
    return item.path.optionPlace
  }

  mutating func select(_ items: [ODataSelectItem]) throws(ODataPrintingError) {
    try demand("$select", least: 1, found: items.count)
    for index in items.indices {
      if index > 0 { raw(",") }
      if try selectPath(of: items[index]) { try parenthesizedOptions(items[index].options, in: .select) }
    }
  }

  /// Writes the path; returns whether options follow it.
  private mutating func selectPath(of item: ODataSelectItem) throws(ODataPrintingError) -> Bool {
    try listPath(item.path, in: .select)
    guard !item.options.isEmpty else { return false }
    try demandV4("$select with options")
    try checkProperty(item.path)
    return true
  }

  private func checkProperty(_ path: ODataPath) throws(ODataPrintingError) {
    switch path.segments.last?.kind {
    case .star, .allOperations, .arguments:
      throw error(.misplaced("options after a segment that is not a property", expected: "options after a property"))
    default: break
    }
  }

  private mutating func expandPath(_ path: ODataPath) throws(ODataPrintingError) {
    let names = path.segments.filter { segment in
      switch segment.kind {
      case .ref, .count, .star, .value: false
      default: true
      }
    }
    let lastTwo = names.suffix(2)
    let endsWithType =
      lastTwo.last?.isQualified ?? false && lastTwo.first.map { lastTwo.count < 2 || $0.isQualified } ?? true
    if endsWithType, path.segments.last?.isStar != true {
      throw error(.misplaced("a type cast without a property", expected: "'/' and a navigation property of the type"))
    }
    try listPath(path, in: .expand)
  }

  /// The places of lists of paths, which determine how a path may end.
  enum ListPlace {
    case expand
    case select
    case apply
    case fragment
  }

  /// Writes a path in `$expand`, `$select` or a list of `$apply`: names, types, annotations, and `*`.
  mutating func listPath(_ path: ODataPath, in list: ListPlace) throws(ODataPrintingError) {
    guard path.root == .implicit, !path.segments.isEmpty else {
      throw error(.misplaced("a path with a root, or without steps", expected: "the name of a property"))
    }
    let last = path.segments.count - 1
    for (index, segment) in path.segments.enumerated() {
      if case .arguments(let names) = segment.kind, index > 0, index == last, list == .select || list == .fragment {
        try parameterNames(names, least: list == .select ? 1 : 0)
        continue
      }
      if index > 0 { raw("/") }
      switch segment.kind {
      case .name(let name): try self.name(name)
      case .qualifiedName(let name): try qualifiedName(name, least: 2)
      case .annotation(let term, let qualifier): try annotation(term, qualifier)
      case .star where isStarAllowed(at: index, of: path, in: list): raw("*")
      case .allOperations(let namespace) where last == 0 && (list == .select || list == .fragment):
        try qualifiedName(namespace, "namespace")
        raw(".*")
      case .ref where index == last && index > 0 && list == .expand:
        try demandV4("$ref")
        raw("$ref")
      case .count(nil) where index == last && index > 0 && list == .expand:
        try demandV4("$count")
        raw("$count")
      case .value where last == 0 && list == .expand:
        try demandV4("$value")
        raw("$value")
      default: throw error(.misplaced(segment.label, expected: "the name of a property"))
      }
    }
  }

  private func isStarAllowed(at index: Int, of path: ODataPath, in list: ListPlace) -> Bool {
    let isLast = index == path.segments.count - 1
    switch list {
    case .expand:
      return dialect == .v4 && (isLast || path.segments.count == index + 2 && path.segments[index + 1].isRef)
    case .select: return isLast && (index == 0 || dialect == .v2)
    case .fragment: return isLast && index == 0
    case .apply: return false
    }
  }

  /// Writes the parameter names that distinguish overloads of a function.
  private mutating func parameterNames(_ names: [ODataArgument], least: Int) throws(ODataPrintingError) {
    try demandV4("the names of parameters")
    try demand("a function's list of parameters", least: least, found: names.count)
    raw("(")
    try list(names) { (writer, argument) throws(ODataPrintingError) in
      guard argument.name == nil, case .path(let path) = argument.value.kind, path.root == .implicit,
        path.segments.count == 1, case .name(let name)? = path.segments.first?.kind
      else { throw writer.error(.misplaced("an argument", expected: "the name of a parameter")) }
      try writer.name(name, "name of a parameter")
    }
    raw(")")
  }
}

extension ODataPathSegment {
  var isRef: Bool { if case .ref = kind { true } else { false } }
  var isStar: Bool { if case .star = kind { true } else { false } }
  var isQualified: Bool { if case .qualifiedName = kind { true } else { false } }
}

extension ODataPath {
  /// The place that determines the options allowed after the item in `$expand`.
  fileprivate var optionPlace: OptionPlace {
    switch segments.last?.kind {
    case .ref: .expandRef
    case .count: .expandCount
    case .star: .expandStar
    default: .expand
    }
  }
}
