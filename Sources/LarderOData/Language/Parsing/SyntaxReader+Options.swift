// Query options: their names, their places, their order (ABNF section 2, `queryOptions`).
extension SyntaxReader {
  /// Reads options after `?`, joined by `&`, up to the end or a `#`; at least one.
  mutating func queryOptions(_ place: OptionPlace) throws(ODataSyntaxError) -> ODataQueryOptions {
    let last = end
    defer { end = last }
    var options = ODataQueryOptions()
    var names = OptionNames()
    while true {
      end = endOfOption(upTo: last)
      try option(place, into: &options, names: &names)
      let place = index
      skipSpace()
      guard index >= end else { throw error(.unexpected(expected: ["'&'", "the end of the option"]), at: place) }
      end = last
      guard take(plain: UInt8(ascii: "&")) else { return options }
    }
  }

  /// Returns the end of the option that begins here: a `&` or `#` that is not encoded.
  private func endOfOption(upTo last: Int) -> Int {
    var place = index
    while place < last {
      if bytes[place] == UInt8(ascii: "&") || bytes[place] == UInt8(ascii: "#"), !isEncoded(place) { return place }
      place += 1
    }
    return last
  }

  /// Reads `(a=b;c=d)` after an item of `$expand` or `$select`, or after `$count`.
  mutating func parenthesizedOptions(_ place: OptionPlace) throws(ODataSyntaxError) -> ODataQueryOptions {
    try nested { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      try reader.demand(UInt8(ascii: "("))
      var options = ODataQueryOptions()
      var names = OptionNames()
      repeat {
        reader.skipSpace()
        try reader.option(place, into: &options, names: &names)
        reader.skipSpace()
      } while reader.take(UInt8(ascii: ";"))
      guard reader.take(UInt8(ascii: ")")) else { throw reader.unexpected("';'", "')'") }
      return options
    }
  }

  /// Reads a single option.
  mutating func oneOption(
    _ place: OptionPlace, into options: inout ODataQueryOptions
  ) throws(ODataSyntaxError) {
    var names = OptionNames()
    try option(place, into: &options, names: &names)
  }

  /// Reads a single system query option, one of the given ones.
  mutating func systemOption(
    of allowed: [SystemOption], _ place: OptionPlace, into options: inout ODataQueryOptions
  ) throws(ODataSyntaxError) {
    let start = index
    let hasDollar = take(UInt8(ascii: "$"))
    let name = string(index..<endOfIdentifier(at: index))
    guard let option = SystemOption.named(name, anyCase: isRelaxed), allowed.contains(option),
      hasDollar || isRelaxed && option.mayLackDollar
    else {
      try checkEquals(after: name, of: allowed)
      throw error(.unexpected(expected: allowed.map { "$" + $0.rawValue }), at: start)
    }
    var names = OptionNames()
    try check(option, place, names: &names, at: start)
    index += name.utf8.count
    try demandEquals()
    try value(of: option, place, into: &options)
  }

  /// Reads one option, beginning with its name.
  private mutating func option(
    _ place: OptionPlace, into options: inout ODataQueryOptions, names: inout OptionNames
  ) throws(ODataSyntaxError) {
    let start = index
    switch peek {
    case UInt8(ascii: "@") where place.allowsAliases:
      let alias = try aliasAndValue()
      guard names.aliases.insert(alias.name).inserted else {
        throw error(.duplicateOption("@" + alias.name), at: start)
      }
      options.aliases.append(alias)
    case UInt8(ascii: "$"):
      index += 1
      let name = string(index..<endOfIdentifier(at: index))
      guard let option = SystemOption.named(name, anyCase: isRelaxed) else {
        try checkEquals(after: name, of: SystemOption.allCases.filter { place.allows($0, dialect: dialect) })
        throw error(unknownOption(name, place), at: start)
      }
      try check(option, place, names: &names, at: start)
      index += name.utf8.count
      try demandEquals()
      try value(of: option, place, into: &options)
    default:
      if let option = bareOption(place) {
        try check(option, place, names: &names, at: start)
        index += option.rawValue.utf8.count
        try demandEquals()
        try value(of: option, place, into: &options)
      } else if place.isNested {
        let name = string(index..<endOfIdentifier(at: index))
        if isRelaxed { try checkEquals(after: name, of: SystemOption.allCases.filter { isBare($0, place) }) }
        throw error(.unexpected(expected: expected(at: place)), at: start)
      } else {
        try customOption(place, into: &options)
      }
    }
  }

  /// Whether a place allows an option without its `$`.
  private func isBare(_ option: SystemOption, _ place: OptionPlace) -> Bool {
    option.mayLackDollar && place.allows(option, dialect: dialect)
  }

  /// The system query option that is written without `$` (4.01); nil if the place does not allow it: then a custom
  /// option may have its name.
  private func bareOption(_ place: OptionPlace) -> SystemOption? {
    guard isRelaxed else { return nil }
    let last = endOfIdentifier(at: index)
    guard last > index, last < end, bytes[last] == UInt8(ascii: "="),
      let option = SystemOption.named(string(index..<last), anyCase: true), option.mayLackDollar
    else { return nil }
    return place.isNested || place.allows(option, dialect: dialect) ? option : nil
  }

  private func check(
    _ option: SystemOption, _ place: OptionPlace, names: inout OptionNames, at start: Int
  ) throws(ODataSyntaxError) {
    var name: String { "$" + option.rawValue }
    if dialect == .v2, !option.isInV2 {
      throw error(
        .notInDialect(option == .count ? "$count as an option (use $inlinecount=allpages)" : name), at: start)
    }
    if dialect == .v4, option == .inlinecount {
      throw error(.notInDialect("$inlinecount (use $count=true)"), at: start)
    }
    guard place.allows(option, dialect: dialect) else {
      throw error(.misplacedOption(name, allowed: expected(at: place)), at: start)
    }
    guard !names.options.contains(option) else { throw error(.duplicateOption(name), at: start) }
    names.options.append(option)
  }

  private func expected(at place: OptionPlace) -> [String] {
    place.allowed(dialect: dialect).filter { $0 != "$inlinecount" || dialect == .v2 }
      + (place.allowsAliases && dialect == .v4 ? ["@alias"] : [])
  }

  private func unknownOption(_ name: String, _ place: OptionPlace) -> ODataSyntaxError.Problem {
    let allowed = expected(at: place)
    if let nearest = NearestName.find("$" + name, among: allowed) { return .unexpected(expected: [nearest]) }
    return .unexpected(expected: allowed)
  }

  /// Throws if an unknown name begins with the name of an option; the error is after that beginning.
  private func checkEquals(after name: String, of allowed: [SystemOption]) throws(ODataSyntaxError) {
    let written = isRelaxed ? name.lowercased() : name
    let begun = allowed.filter { option in
      !option.isTemporal && written.hasPrefix(isRelaxed ? option.rawValue.lowercased() : option.rawValue)
    }
    guard let longest = begun.map(\.rawValue.utf8.count).max() else { return }
    throw error(.unexpected(expected: ["'='"]), at: index + longest)
  }

  private mutating func demandEquals() throws(ODataSyntaxError) {
    guard take(UInt8(ascii: "=")) else { throw unexpected("'='") }
  }

  /// `@name=value`
  mutating func aliasAndValue() throws(ODataSyntaxError) -> ODataAlias {
    let position = position
    try demand(UInt8(ascii: "@"))
    let name = try identifier("the name of a parameter alias")
    try demandEquals()
    return ODataAlias(name: name, value: try expression(), at: position)
  }

  /// Reads `name=text` that OData does not define. In V2, SAP's `search` and `!deltatoken` have their own fields.
  private mutating func customOption(
    _ place: OptionPlace, into options: inout ODataQueryOptions
  ) throws(ODataSyntaxError) {
    let option = try customQueryOption(place)
    switch (dialect, option.name, option.value) {
    case (.v2, "!deltatoken", let value?)
    where options.deltaToken == nil && place.allows(.deltatoken, dialect: .v4):
      options.deltaToken = value
    case (.v2, "search", let value?)
    where options.search == nil && !value.isEmpty && place.allows(.search, dialect: .v4):
      options.search = SyntaxReader.freeSearch(value)
    default: options.custom.append(option)
    }
  }

  /// Reads `customQueryOption`, up to the end.
  mutating func customQueryOption(_ place: OptionPlace = .url) throws(ODataSyntaxError) -> ODataCustomOption {
    let position = position
    let start = index
    while !isAtEnd, peek != UInt8(ascii: "=") || isEncoded(index) {
      guard isQueryCharacter(at: index), index > start || peek != UInt8(ascii: "@") && peek != UInt8(ascii: "$") else {
        break
      }
      index += 1
    }
    guard index > start else {
      throw error(.unexpected(expected: expected(at: place) + ["the name of an option"]))
    }
    let name = string(start..<index)
    guard !isAtEnd else { return ODataCustomOption(name: name, value: nil, at: position) }
    try demandEquals()
    return ODataCustomOption(name: name, value: try queryText(), at: position)
  }

  /// Whether the query of a URL allows the byte as it is or percent-encoded. Unencoded characters beyond ASCII are
  /// accepted, as browsers show them, and so are spaces, quotes and brackets, which many clients do not encode.
  func isQueryCharacter(at place: Int) -> Bool {
    if isEncoded(place) || !options.isPercentEncoded { return true }
    let byte = bytes[place]
    return (byte >= 0x20 || byte == 0x09) && byte != 0x7F && byte != UInt8(ascii: "&") && byte != UInt8(ascii: "#")
  }

  /// Returns the text up to the end, unchanged.
  mutating func queryText() throws(ODataSyntaxError) -> String {
    let start = index
    while !isAtEnd {
      guard isQueryCharacter(at: index) else { throw error(.unexpected(expected: [])) }
      index += 1
    }
    return string(start..<index)
  }
}

/// The options that were read in one place.
struct OptionNames {
  var options: [SystemOption] = []
  var aliases: Set<String> = []
}
