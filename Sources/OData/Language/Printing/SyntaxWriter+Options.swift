// Query options (URL Conventions 4.01 §5), of a URL and in parentheses.
extension SyntaxWriter {
  /// What stands behind `?`.
  mutating func queryOptions(
    _ options: ODataQueryOptions, in optionPlace: OptionPlace = .url
  ) throws(ODataPrintingError) {
    try check(options, in: optionPlace)
    let outer = place
    if place != .value { place = .query }
    try optionList(options, in: optionPlace)
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
      try writer.optionList(options, in: place)
    }
    raw(")")
  }

  /// Refuses what has no meaning where it stands.
  private func check(_ options: ODataQueryOptions, in place: OptionPlace) throws(ODataPrintingError) {
    // V2's tokens, counts and searches have names of their own.
    let dialect = ODataDialect.v4
    for option in options.systemOptions where !place.allows(option, dialect: dialect) {
      throw error(
        .misplaced(
          "$" + option.rawValue, expected: ODataSyntaxError.choice(place.allowed(dialect: dialect))))
    }
    if !options.aliases.isEmpty, !place.takesAliases {
      throw error(.misplaced("an alias", expected: "it among the options of the URL"))
    }
  }

  /// The options in the order in which a service evaluates them (Protocol 4.01 §11.2.1).
  private mutating func optionList(
    _ options: ODataQueryOptions, in place: OptionPlace
  ) throws(ODataPrintingError) {
    let outer = openList
    openList = (bytes.count, place.isNested ? ";" : "&")
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
      try customOption(custom, beside: options, in: place)
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
        if writer.dialect == .v4 { try writer.search(search) } else { try writer.freeSearch(search) }
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
        guard !text.isEmpty || name == "!deltatoken" else {
          throw writer.error(.invalidValue("\(name) is empty; leave it out"))
        }
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

  private mutating func customOption(
    _ option: ODataCustomOption, beside options: ODataQueryOptions, in place: OptionPlace
  ) throws(ODataPrintingError) {
    guard !isTaken(option, beside: options, in: place) else {
      throw error(
        .invalidName(option.name, expected: "name of a custom option; it means something to OData, or is empty"))
    }
    if option.name.hasPrefix("$") { return try temporalOption(option) }
    guard !place.isNested else {
      throw error(.misplaced("the custom option '\(option.name)'", expected: "it among the options of the URL"))
    }
    if !printer.isPercentEncoded, option.name.contains("=") { throw error(.needsPercentEncoding(option.name)) }
    try encoded(option.name)
    guard let value = option.value else { return }
    raw("=")
    try encoded(value)
  }

  /// Whether a name would be read as something else than a custom option's.
  private func isTaken(
    _ option: ODataCustomOption, beside options: ODataQueryOptions, in place: OptionPlace
  ) -> Bool {
    let name = option.name
    if name.isEmpty || name.hasPrefix("@") { return true }
    if name.hasPrefix("$") {
      guard let option = SystemOption.named(String(name.dropFirst()), anyCase: false) else { return true }
      return dialect == .v2 || !option.isTemporal || !place.allows(option, dialect: dialect)
    }
    guard let value = option.value else { return false }
    if dialect == .v2 {
      return name == "search" && options.search == nil && !value.isEmpty
        || name == "!deltatoken" && options.deltaToken == nil
    }
    guard isRelaxed, let option = SystemOption.named(name, anyCase: true), option.mayLackDollar else { return false }
    return place.isNested || place.allows(option, dialect: dialect)
  }

  /// An option of the extension for temporal data, whose value is a literal, an alias, or one of two words.
  private mutating func temporalOption(_ option: ODataCustomOption) throws(ODataPrintingError) {
    let value = option.value ?? ""
    let isSound = value.utf8.allSatisfy { byte in
      byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "-+.:@_".utf8.contains(byte) || byte >= 0x80
    }
    guard isSound, !value.isEmpty else {
      throw error(.invalidValue("\(option.name) takes a date, a moment or an alias, not '\(value)'"))
    }
    raw(option.name)
    raw("=")
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
      try writer.expandPath(item.path)
      guard !item.options.isEmpty else { return }
      try writer.demandV4("$expand with options", cure: "write paths: $expand=A/B&$select=A/x")
      try writer.parenthesizedOptions(item.options, in: item.path.optionPlace)
    }
  }

  mutating func select(_ items: [ODataSelectItem]) throws(ODataPrintingError) {
    try demand("$select", least: 1, found: items.count)
    try list(items) { (writer, item) throws(ODataPrintingError) in
      try writer.listPath(item.path, in: .select)
      guard !item.options.isEmpty else { return }
      try writer.demandV4("$select with options")
      switch item.path.segments.last?.kind {
      case .star, .allOperations, .arguments:
        throw writer.error(.misplaced("options behind what is no property", expected: "them behind a property"))
      default: try writer.parenthesizedOptions(item.options, in: .select)
      }
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
      throw error(.misplaced("a type alone", expected: "'/' and a navigation property of the type"))
    }
    try listPath(path, in: .expand)
  }

  /// Where a list of paths stands, which says what may end one.
  enum ListPlace {
    case expand
    case select
    case apply
    case fragment
  }

  /// A path in `$expand`, `$select`, and what `$apply` lists: names, types, annotations, and what stands for several.
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

  /// The parameter names that tell overloads of a function apart.
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
  /// Which options may stand behind it in `$expand`.
  fileprivate var optionPlace: OptionPlace {
    switch segments.last?.kind {
    case .ref: .expandRef
    case .count: .expandCount
    case .star: .expandStar
    default: .expand
    }
  }
}

extension ODataQueryOptions {
  /// The system query options that are there.
  fileprivate var systemOptions: [SystemOption] {
    let all: [(SystemOption, Bool)] = [
      (.apply, apply != nil), (.compute, !compute.isEmpty), (.search, search != nil), (.filter, filter != nil),
      (.count, count != nil), (.orderby, !orderBy.isEmpty), (.skip, skip != nil), (.top, top != nil),
      (.levels, levels != nil), (.expand, !expand.isEmpty), (.select, !select.isEmpty), (.index, index != nil),
      (.format, format != nil), (.schemaversion, schemaVersion != nil), (.id, id != nil),
      (.skiptoken, skipToken != nil), (.deltatoken, deltaToken != nil),
    ]
    return all.filter(\.1).map(\.0)
  }
}
