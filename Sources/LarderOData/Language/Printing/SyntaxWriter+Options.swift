// Query options (URL Conventions 4.01 §5), of a URL and in parentheses.
extension SyntaxWriter {
  /// Writes the text after `?`.
  mutating func queryOptions(
    _ options: ODataQueryOptions, in optionPlace: OptionPlace = .url
  ) throws(ODataPrintingError) {
    try check(options, in: optionPlace)
    let outer = place
    if place != .value { place = .query }
    try optionList(options, in: optionPlace)
    place = outer
  }

  /// Writes `(a=b;c=d)`; nothing if there are no options.
  mutating func parenthesizedOptions(
    _ options: ODataQueryOptions, in place: OptionPlace
  ) throws(ODataPrintingError) {
    guard !options.isEmpty else { return }
    try check(options, in: place)
    raw("(")
    try enter()
    try optionList(options, in: place)
    leave()
    raw(")")
  }

  /// Throws if an option is not allowed in its place.
  private func check(_ options: ODataQueryOptions, in place: OptionPlace) throws(ODataPrintingError) {
    // V2's tokens, counts and searches have other names.
    let dialect = ODataDialect.v4
    for option in options.systemOptions where !place.allows(option, dialect: dialect) {
      throw error(
        .misplaced(
          "$" + option.rawValue, expected: ODataSyntaxError.choice(place.allowed(dialect: dialect))))
    }
    if !options.aliases.isEmpty, !place.allowsAliases {
      throw error(.misplaced("an alias", expected: "it among the options of the URL"))
    }
  }

  /// Writes the options in the order in which a service evaluates them (Protocol 4.01 §11.2.1).
  private mutating func optionList(
    _ options: ODataQueryOptions, in place: OptionPlace
  ) throws(ODataPrintingError) {
    let outer = openList
    openList = (bytes.count, place.isNested ? ";" : "&")
    try transforming(options)
    try paging(options)
    try shaping(options)
    try opaque(options)
    for index in options.aliases.indices { try alias(options.aliases[index]) }
    try customOptions(options, in: place)
    openList = outer
  }

  /// Begins an option: writes a separator if another option precedes it, its name, and `=`.
  private mutating func begin(_ name: String) {
    if bytes.count > openList.start { raw(openList.separator) }
    raw(name)
    raw("=")
    self.options.append(name)
  }

  private mutating func end() { options.removeLast() }

  private mutating func transforming(_ options: ODataQueryOptions) throws(ODataPrintingError) {
    if let apply = options.apply {
      try demandV4("$apply")
      begin("$apply")
      try self.apply(apply)
      end()
    }
    if !options.compute.isEmpty {
      try demandV4("$compute")
      begin("$compute")
      try compute(options.compute)
      end()
    }
    if let search = options.search {
      // SAP's V2 services use the name without `$`.
      begin(dialect == .v4 ? "$search" : "search")
      if dialect == .v4 { try self.search(search) } else { try freeSearch(search) }
      end()
    }
    if let filter = options.filter {
      begin("$filter")
      try expression(filter)
      end()
    }
  }

  private mutating func paging(_ options: ODataQueryOptions) throws(ODataPrintingError) {
    if let count = options.count {
      begin(dialect == .v4 ? "$count" : "$inlinecount")
      raw(dialect == .v4 ? count ? "true" : "false" : count ? "allpages" : "none")
      end()
    }
    if !options.orderBy.isEmpty {
      begin("$orderby")
      try orderBy(options.orderBy)
      end()
    }
    for (name, number) in [("$skip", options.skip), ("$top", options.top)] {
      guard let number else { continue }
      begin(name)
      try count(number)
      end()
    }
    if let levels = options.levels {
      try demandV4("$levels")
      begin("$levels")
      try self.levels(levels)
      end()
    }
  }

  private mutating func shaping(_ options: ODataQueryOptions) throws(ODataPrintingError) {
    if !options.expand.isEmpty {
      begin("$expand")
      try expand(options.expand)
      end()
    }
    if !options.select.isEmpty {
      begin("$select")
      try select(options.select)
      end()
    }
  }

  private mutating func opaque(_ options: ODataQueryOptions) throws(ODataPrintingError) {
    if let index = options.index {
      try demandV4("$index")
      begin("$index")
      raw(String(index))
      end()
    }
    let texts = [
      ("$format", options.format), ("$schemaversion", options.schemaVersion), ("$id", options.id),
      ("$skiptoken", options.skipToken), (dialect == .v4 ? "$deltatoken" : "!deltatoken", options.deltaToken),
    ]
    for (name, text) in texts {
      guard let text else { continue }
      if name == "$schemaversion" || name == "$id" { try demandV4(name) }
      begin(name)
      guard !text.isEmpty || name == "!deltatoken" else {
        throw error(.invalidValue("\(name) is empty; leave it out"))
      }
      try encoded(text)
      end()
    }
  }

  private mutating func alias(_ alias: ODataAlias) throws(ODataPrintingError) {
    try demandV4("a parameter alias", cure: "write the value in its place")
    guard SyntaxWriter.isIdentifier(alias.name[...]) else {
      throw error(.invalidName(alias.name, expected: "name of a parameter alias"))
    }
    if bytes.count > openList.start { raw(openList.separator) }
    raw("@")
    try name(alias.name)
    raw("=")
    options.append("@" + alias.name)
    try expression(alias.value)
    end()
  }

  private mutating func customOptions(
    _ options: ODataQueryOptions, in place: OptionPlace
  ) throws(ODataPrintingError) {
    for option in options.custom {
      if bytes.count > openList.start { raw(openList.separator) }
      try customOption(option, beside: options, in: place)
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
      guard number > 0 else { throw error(.invalidValue("$levels cannot be \(number); give 1 or more, or max")) }
      raw(String(number))
    }
  }

  private mutating func customOption(
    _ option: ODataCustomOption, beside options: ODataQueryOptions, in place: OptionPlace
  ) throws(ODataPrintingError) {
    guard !isReserved(option, beside: options, in: place) else {
      throw error(
        .invalidName(option.name, expected: "name of a custom option; it is empty, or OData reserves it"))
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

  /// Whether a name would not be read as that of a custom option.
  private func isReserved(
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
      return name == "search" && options.search == nil && !value.isEmpty && place.allows(.search, dialect: .v4)
        || name == "!deltatoken" && options.deltaToken == nil && place.allows(.deltatoken, dialect: .v4)
    }
    guard isRelaxed, let option = SystemOption.named(name, anyCase: true), option.mayLackDollar else { return false }
    return place.isNested || place.allows(option, dialect: dialect)
  }

  /// Writes an option of the extension for temporal data, whose value is an expression.
  private mutating func temporalOption(_ option: ODataCustomOption) throws(ODataPrintingError) {
    let value = option.value ?? ""
    let parser = ODataParser(options: ODataParserOptions(version: version, isPercentEncoded: false))
    guard (try? parser.expression(value)) != nil else {
      throw error(.invalidValue("\(option.name) accepts a date, a timestamp or another expression, not '\(value)'"))
    }
    raw(option.name)
    raw("=")
    try encoded(value)
  }
}

extension ODataQueryOptions {
  /// The system query options that are set.
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
