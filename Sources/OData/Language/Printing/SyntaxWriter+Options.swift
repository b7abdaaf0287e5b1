// Query options (URL Conventions 4.01 §5), of a URL and in parentheses.
extension SyntaxWriter {
  /// What may stand in the parentheses of an item.
  enum OptionPlace {
    case expand
    case expandRef
    case count
    case select
  }

  /// What stands behind `?`.
  mutating func queryOptions(_ options: ODataQueryOptions) throws(ODataPrintingError) {
    if options.levels != nil { throw error(.misplaced("$levels", expected: "it in the parentheses of $expand")) }
    let outer = place
    if place != .value { place = .query }
    try optionList(options, separator: "&")
    place = outer
  }

  /// `(a=b;c=d)`; nothing where there is no option.
  mutating func parenthesizedOptions(
    _ options: ODataQueryOptions, in place: OptionPlace
  ) throws(ODataPrintingError) {
    guard !options.isEmpty else { return }
    try check(options, in: place)
    raw("(")
    try nested { (writer: inout SyntaxWriter) throws(ODataPrintingError) in
      try writer.optionList(options, separator: ";")
    }
    raw(")")
  }

  private func check(_ options: ODataQueryOptions, in place: OptionPlace) throws(ODataPrintingError) {
    var rest = options
    rest.filter = nil
    rest.search = nil
    if place != .count {
      rest.orderBy = []
      rest.skip = nil
      rest.top = nil
      rest.count = nil
    }
    if place == .expand {
      rest.apply = nil
      rest.levels = nil
      rest.expand = []
    }
    if place == .expand || place == .select {
      rest.compute = []
      rest.select = []
      rest.aliases = []
      rest.custom = []
    }
    guard !rest.isEmpty else { return }
    throw error(.misplaced(rest.firstName, expected: place.allowed))
  }

  /// The options in the order in which a service evaluates them (Protocol 4.01 §11.2.1).
  private mutating func optionList(
    _ options: ODataQueryOptions, separator: StaticString
  ) throws(ODataPrintingError) {
    let outer = openList
    openList = (bytes.count, separator)
    try transforming(options)
    try paging(options)
    try shaping(options)
    for alias in options.aliases {
      try demandV4("a parameter alias", cure: "write the value in its place")
      separate()
      try inOption("@" + alias.name) { (writer: inout SyntaxWriter) throws(ODataPrintingError) in
        writer.raw("@")
        try writer.name(alias.name, "name of a parameter alias")
        writer.raw("=")
        try writer.expression(alias.value)
      }
    }
    for custom in options.custom {
      separate()
      try customOption(custom)
    }
    openList = outer
  }

  /// Writes the separator where an option stands before this place.
  private mutating func separate() { if bytes.count > openList.start { raw(openList.separator) } }

  private mutating func option(
    _ name: String, _ write: (inout SyntaxWriter) throws(ODataPrintingError) -> Void
  ) throws(ODataPrintingError) {
    separate()
    raw(name)
    raw("=")
    try inOption(name, write)
  }

  private mutating func transforming(_ options: ODataQueryOptions) throws(ODataPrintingError) {
    if let apply = options.apply {
      try demandV4("$apply")
      try option("$apply") { (writer) throws(ODataPrintingError) in try writer.apply(apply) }
    }
    if !options.compute.isEmpty {
      try demandV4("$compute")
      try option("$compute") { (writer) throws(ODataPrintingError) in try writer.compute(options.compute) }
    }
    if let search = options.search {
      // SAP's services of V2 name it without the sign.
      try option(dialect == .v4 ? "$search" : "search") { (writer) throws(ODataPrintingError) in
        try writer.search(search)
      }
    }
    if let filter = options.filter {
      try option("$filter") { (writer) throws(ODataPrintingError) in try writer.expression(filter) }
    }
  }

  private mutating func paging(_ options: ODataQueryOptions) throws(ODataPrintingError) {
    if let count = options.count {
      separate()
      if dialect == .v4 {
        raw(count ? "$count=true" : "$count=false")
      } else {
        raw(count ? "$inlinecount=allpages" : "$inlinecount=none")
      }
    }
    if !options.orderBy.isEmpty {
      try option("$orderby") { (writer) throws(ODataPrintingError) in try writer.orderBy(options.orderBy) }
    }
    for (name, number) in [("$skip", options.skip), ("$top", options.top)] {
      guard let number else { continue }
      try option(name) { (writer) throws(ODataPrintingError) in try writer.count(number) }
    }
    if let levels = options.levels {
      try demandV4("$levels")
      try option("$levels") { (writer) throws(ODataPrintingError) in try writer.levels(levels) }
    }
  }

  private mutating func shaping(_ options: ODataQueryOptions) throws(ODataPrintingError) {
    if !options.expand.isEmpty {
      try option("$expand") { (writer) throws(ODataPrintingError) in try writer.expand(options.expand) }
    }
    if !options.select.isEmpty {
      try option("$select") { (writer) throws(ODataPrintingError) in try writer.select(options.select) }
    }
    if let index = options.index {
      try demandV4("$index")
      separate()
      raw("$index=\(index)")
    }
    let texts = [
      ("$format", options.format), ("$schemaversion", options.schemaVersion), ("$id", options.id),
      ("$skiptoken", options.skipToken), (dialect == .v4 ? "$deltatoken" : "!deltatoken", options.deltaToken),
    ]
    for (name, text) in texts {
      guard let text else { continue }
      if name == "$schemaversion" || name == "$id" { try demandV4(name) }
      try option(name) { (writer) throws(ODataPrintingError) in
        guard !text.isEmpty else { throw writer.error(.invalidValue("\(name) is empty; leave it out")) }
        try writer.encoded(text)
      }
    }
  }

  private mutating func count(_ number: Int) throws(ODataPrintingError) {
    guard number >= 0 else { throw error(.invalidValue("\(number) is negative; give 0 or more")) }
    raw(String(number))
  }

  private mutating func levels(_ levels: ODataLevels) throws(ODataPrintingError) {
    switch levels {
    case .max: raw("max")
    case .count(let number):
      guard number > 0 else { throw error(.invalidValue("\(number) levels are none; give 1 or more, or max")) }
      raw(String(number))
    }
  }

  private mutating func customOption(_ option: ODataCustomOption) throws(ODataPrintingError) {
    let name = option.name
    guard !name.isEmpty, !name.hasPrefix("@"), !ODataQueryOptions.isSystemName(name, version) else {
      throw error(.invalidName(name, expected: "name of a custom option; it is empty or means something to OData"))
    }
    if !printer.isPercentEncoded, name.contains("=") || name.contains(";") && !options.isEmpty {
      throw error(.needsPercentEncoding(name))
    }
    try encoded(name)
    guard let value = option.value else { return }
    raw("=")
    if !printer.isPercentEncoded, !options.isEmpty, value.utf8.contains(where: { ";()".utf8.contains($0) }) {
      throw error(.needsPercentEncoding(value))
    }
    try encoded(value)
  }
}

// Lists of items.
extension SyntaxWriter {
  mutating func orderBy(_ items: [ODataOrderByItem]) throws(ODataPrintingError) {
    try demand("$orderby", least: 1, found: items.count)
    try list(items) { (writer, item) throws(ODataPrintingError) in
      try writer.expression(item.expression)
      guard item.isDescending else { return }
      writer.space()
      writer.raw("desc")
    }
  }

  mutating func compute(_ items: [ODataComputeItem]) throws(ODataPrintingError) {
    try demand("$compute", least: 1, found: items.count)
    try list(items) { (writer, item) throws(ODataPrintingError) in
      try writer.expression(item.expression)
      writer.word("as")
      try writer.name(item.alias, "name of a computed property")
    }
  }

  mutating func expand(_ items: [ODataExpandItem]) throws(ODataPrintingError) {
    try demand("$expand", least: 1, found: items.count)
    try list(items) { (writer, item) throws(ODataPrintingError) in
      try writer.listPath(item.path, isExpand: true)
      guard !item.options.isEmpty else { return }
      try writer.demandV4("$expand with options", cure: "write paths: $expand=A/B&$select=A/x")
      let last = item.path.segments.last
      if case .count? = last?.kind {
        throw writer.error(.misplaced("options behind $count", expected: "them inside of its step"))
      }
      try writer.parenthesizedOptions(item.options, in: last?.isRef == true ? .expandRef : .expand)
    }
  }

  mutating func select(_ items: [ODataSelectItem]) throws(ODataPrintingError) {
    try demand("$select", least: 1, found: items.count)
    try list(items) { (writer, item) throws(ODataPrintingError) in
      try writer.listPath(item.path, isExpand: false)
      guard !item.options.isEmpty else { return }
      try writer.demandV4("$select with options")
      try writer.parenthesizedOptions(item.options, in: .select)
    }
  }

  /// A path in `$expand`, `$select`, and what `$apply` lists: names, types, annotations, and what stands for several.
  mutating func listPath(_ path: ODataPath, isExpand: Bool = false) throws(ODataPrintingError) {
    guard path.root == .implicit, !path.segments.isEmpty else {
      throw error(.misplaced("a path with a root, or without steps", expected: "the name of a property"))
    }
    for (index, segment) in path.segments.enumerated() {
      let isLast = index == path.segments.count - 1
      if case .arguments(let names) = segment.kind, index > 0, !isExpand {
        try parameterNames(names)
        continue
      }
      if index > 0 { raw("/") }
      switch segment.kind {
      case .name(let name): try self.name(name)
      case .qualifiedName(let name): try qualifiedName(name, least: 2)
      case .annotation(let term, let qualifier): try annotation(term, qualifier)
      case .star where isLast || isExpand && path.segments.count == index + 2: raw("*")
      case .allOperations(let namespace) where isLast && !isExpand:
        try qualifiedName(namespace, "namespace")
        raw(".*")
      case .ref where isLast && isExpand:
        try demandV4("$ref")
        raw("$ref")
      case .count(let options) where isLast && isExpand: try count(options)
      case .value where isLast && isExpand:
        try demandV4("$value")
        raw("$value")
      default: throw error(.misplaced(segment.label, expected: "the name of a property"))
      }
    }
  }

  /// The parameter names that tell overloads of a function apart.
  private mutating func parameterNames(_ names: [ODataArgument]) throws(ODataPrintingError) {
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
}

extension SyntaxWriter.OptionPlace {
  fileprivate var allowed: String {
    switch self {
    case .expand: "options of the expanded entities"
    case .expandRef: "$filter, $search, $orderby, $skip, $top or $count"
    case .count: "$filter or $search"
    case .select: "$filter, $search, $orderby, $skip, $top, $count, $compute or $select"
    }
  }
}

extension ODataQueryOptions {
  /// The first option that is there, by its name in V4.
  fileprivate var firstName: String {
    let names: [(String, Bool)] = [
      ("$apply", apply != nil), ("$compute", !compute.isEmpty), ("$search", search != nil),
      ("$filter", filter != nil), ("$count", count != nil), ("$orderby", !orderBy.isEmpty), ("$skip", skip != nil),
      ("$top", top != nil), ("$levels", levels != nil), ("$expand", !expand.isEmpty), ("$select", !select.isEmpty),
      ("$index", index != nil), ("$format", format != nil), ("$schemaversion", schemaVersion != nil),
      ("$id", id != nil), ("$skiptoken", skipToken != nil), ("$deltatoken", deltaToken != nil),
      ("an alias", !aliases.isEmpty), ("a custom option", !custom.isEmpty),
    ]
    return names.first { $0.1 }?.0 ?? "an option"
  }

  private static let systemNames: Set<String> = [
    "$apply", "$compute", "$search", "$filter", "$count", "$orderby", "$skip", "$top", "$levels", "$expand", "$select",
    "$index", "$format", "$schemaversion", "$id", "$skiptoken", "$deltatoken",
  ]

  /// Whether a name is a system query option's where the version is read.
  static func isSystemName(_ name: String, _ version: ODataVersion) -> Bool {
    if version.dialect == .v2 {
      return name == "search" || name == "!deltatoken" || name == "$inlinecount"
        || systemNames.contains(name)
    }
    guard version >= .v401 else { return systemNames.contains(name) }
    let folded = name.lowercased()
    return systemNames.contains(folded.hasPrefix("$") ? folded : "$" + folded)
  }
}
