import LarderOData

// Query options (URL Conventions 4.01 §5).
extension TreeGenerator {
  /// The options after the `?` of a resource's URL.
  mutating func queryOptions() -> ODataQueryOptions {
    var options = listOptions()
    options.select = maybe(3) { $0.selectItems() } ?? []
    options.expand = maybe(3) { $0.expandItems() } ?? []
    options.format = maybe(6) { $0.random.pick(["json", "atom", "application/json;odata.metadata=full", "XML"]) }
    options.skipToken = maybe(6) { $0.text(1...6) }
    options.deltaToken = maybe(8) { $0.text(1...6) }
    options.custom = maybe(5) { $0.customOptions() } ?? []
    guard isV4 else { return options }
    options.apply = maybe(4) { $0.transformations() }
    options.compute = maybe(4) { $0.computeItems() } ?? []
    options.index = maybe(8) { Int.random(in: -5...5, using: &$0.random) }
    options.schemaVersion = maybe(8) { $0.random.pick(["*", "1.0~x", "2021-01_01"]) }
    options.id = maybe(8) { $0.text(1...6) }
    options.aliases = maybe(4) { $0.aliases() } ?? []
    return options
  }

  /// What collections take everywhere.
  private mutating func listOptions() -> ODataQueryOptions {
    var options = ODataQueryOptions()
    options.filter = maybe(2) { $0.deeper { $0.expression() } }
    options.orderBy = maybe(3) { $0.orderByItems() } ?? []
    options.skip = maybe(4) { $0.random.pick([0, 1, 20, .max]) }
    options.top = maybe(4) { $0.random.pick([0, 1, 20, .max]) }
    options.count = maybe(4) { $0.random.once(in: 2) }
    if isV4 { options.search = maybe(4) { $0.search() } }
    return options
  }

  mutating func orderByItems() -> [ODataOrderByItem] {
    several(1...3) { ODataOrderByItem($0.deeper { $0.expression() }, isDescending: $0.random.once(in: 2)) }
  }

  mutating func computeItems() -> [ODataComputeItem] {
    several(1...2) { ODataComputeItem($0.deeper { $0.expression() }, as: $0.name()) }
  }

  private mutating func aliases() -> [ODataAlias] {
    var names: Set<String> = []
    return several(1...3) { ODataAlias(name: $0.name(), value: $0.deeper { $0.expression() }) }
      .filter { names.insert($0.name).inserted }
  }

  private mutating func customOptions() -> [ODataCustomOption] {
    several(1...3) { generator in
      let name = generator.random.pick(["sap-client", "x", "a b", "ä&=", "debug;1", "!special", "(x)"])
      return ODataCustomOption(name: name, value: generator.maybe(2) { $0.text() })
    }
  }

  mutating func search() -> ODataSearchExpression {
    random.once(in: 6) ? .incomplete(text()) : searchTerm(depth: 3)
  }

  private mutating func searchTerm(depth: Int) -> ODataSearchExpression {
    switch random.below(depth > 0 ? 6 : 2) {
    case 0:
      return .word(
        random.pick(["coffee", "größe", "NOT", "AND", "OR", "a'b", "1;2", "x&y", "*", "NOTHING", "a/b", "😀"]))
    case 1: return .phrase(text(1...5).replacing("\"", with: "x"))
    case 2: return .not(searchTerm(depth: depth - 1))
    case 3:
      return .or(
        several(2...3) { generator in
          let term = generator.searchTerm(depth: depth - 1)
          if case .or = term { return .word("w") }
          return term
        })
    default:
      return .and(
        several(2...3) { generator in
          let term = generator.searchTerm(depth: depth - 1)
          if case .and = term { return .word("w") }
          return term
        })
    }
  }
}

// `$select` and `$expand`.
extension TreeGenerator {
  /// Names, with a type between two of them now and then.
  mutating func listPath(mayBeginWithType: Bool = true) -> [ODataPathSegment] {
    var segments: [ODataPathSegment] = []
    for step in 0..<(1 + random.below(3)) {
      if isV4, random.once(in: 4), step > 0 || mayBeginWithType {
        segments.append(ODataPathSegment(.qualifiedName(qualifiedName())))
      }
      segments.append(ODataPathSegment(.name(name())))
    }
    return segments
  }

  mutating func selectItems() -> [ODataSelectItem] { several(1...3) { $0.selectItem() } }

  private mutating func selectItem() -> ODataSelectItem {
    let path = listPath()
    guard isV4 else {
      return ODataSelectItem(ODataPath(random.once(in: 4) ? path + [ODataPathSegment(.star)] : path))
    }
    switch random.below(8) {
    case 0: return ODataSelectItem(ODataPath([ODataPathSegment(.star)]))
    case 1: return ODataSelectItem(ODataPath([ODataPathSegment(.allOperations("Ns.Größe"))]))
    case 2:
      let term = ODataPathSegment(.annotation(term: qualifiedName(), qualifier: maybe(3) { $0.name() }))
      return ODataSelectItem(ODataPath([term]))
    case 3:
      let names = several(1...2) {
        ODataArgument(value: ODataExpression(.path(ODataPath([ODataPathSegment(.name($0.name()))]))))
      }
      return ODataSelectItem(
        ODataPath([ODataPathSegment(.qualifiedName(qualifiedName())), ODataPathSegment(.arguments(names))]))
    case 4 where depth > 0:
      var options = deeper { $0.listOptions() }
      options.select = maybe(3) { $0.deeper { $0.selectItems() } } ?? []
      options.compute = maybe(4) { $0.computeItems() } ?? []
      options.aliases = maybe(4) { $0.aliases() } ?? []
      return ODataSelectItem(ODataPath(path), options: options)
    default: return ODataSelectItem(ODataPath(path))
    }
  }

  mutating func expandItems() -> [ODataExpandItem] { several(1...3) { $0.expandItem() } }

  private mutating func expandItem() -> ODataExpandItem {
    let path = listPath()
    guard isV4 else { return ODataExpandItem(ODataPath(path)) }
    switch random.below(9) {
    case 0: return ODataExpandItem(ODataPath([ODataPathSegment(.star)]))
    case 1: return ODataExpandItem(ODataPath([ODataPathSegment(.star), ODataPathSegment(.ref)]))
    case 2: return ODataExpandItem(ODataPath([ODataPathSegment(.value)]))
    case 3:
      var options = ODataQueryOptions()
      options.levels = .count(1 + random.below(9))
      return ODataExpandItem(ODataPath([ODataPathSegment(.star)]), options: options)
    case 4 where depth > 0:
      return ODataExpandItem(ODataPath(path + [ODataPathSegment(.ref)]), options: deeper { $0.listOptions() })
    case 5 where depth > 0:
      let options = maybe(2) { $0.deeper { $0.countOptions() } }
      return ODataExpandItem(
        ODataPath(path + [ODataPathSegment(.count(nil))]), options: options ?? ODataQueryOptions())
    case 6 where depth > 0, 7 where depth > 0:
      return ODataExpandItem(ODataPath(path), options: deeper { $0.expandOptions() })
    default: return ODataExpandItem(ODataPath(path))
    }
  }

  private mutating func expandOptions() -> ODataQueryOptions {
    var options = listOptions()
    options.select = maybe(3) { $0.deeper { $0.selectItems() } } ?? []
    options.expand = depth > 0 ? maybe(2) { $0.deeper { $0.expandItems() } } ?? [] : []
    options.compute = maybe(4) { $0.computeItems() } ?? []
    options.levels = maybe(4) { $0.random.once(in: 2) ? .max : .count(1 + $0.random.below(9)) }
    options.apply = maybe(5) { $0.deeper { $0.transformations() } }
    options.aliases = maybe(5) { $0.aliases() } ?? []
    return options
  }
}
