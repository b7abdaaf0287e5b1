// The canonical form: one tree for all trees with the same meaning that differ in spelling and aliases.
extension ODataPrinter {
  /// The URL in its canonical form. Two URLs have the same canonical form if they differ only in case, parentheses, the
  /// order of options and of named arguments, the spelling of literals, and in whether and by which aliases they name
  /// values.
  ///
  /// - A primitive literal replaces its alias wherever the grammar has literals: in expressions, keys and parameters. A
  ///   literal of more than 128 bytes does so only if it is used once.
  /// - An expression that depends on nothing around it (arrays, objects, arithmetic of literals, paths from `$root`)
  ///   replaces its alias if that is used once. It does not as an argument in the resource path, where the grammar has
  ///   only literals and aliases.
  /// - Expressions with paths from the instance stay behind their alias: their meaning depends on where they are
  ///   defined, which can differ from where they are used (`@m=$this`, URL Conventions 4.01 §5.1.1.13).
  /// - The remaining aliases are named `p1`, `p2` … in the order of their first use. Unused ones keep their names,
  ///   because a function import without parentheses takes its parameters from them. Aliases without a value, which are
  ///   null, also keep their names.
  /// - Timestamps are written in UTC, except those that a function takes the parts of; geo values name their reference
  ///   system.
  /// - Custom options are ordered by their names; options of one name keep their order.
  /// - A URL whose parts nest deeper than 48 levels stays as it is.
  public func canonical(_ url: ODataURL) -> ODataURL {
    var form = CanonicalForm(dialect: version.dialect)
    let canonical = form.url(url)
    return form.isTooDeep ? url : canonical
  }

  /// The canonical form of options, as for those of a URL.
  public func canonical(_ options: ODataQueryOptions) -> ODataQueryOptions {
    var form = CanonicalForm(dialect: version.dialect)
    let canonical = form.rewrite(options)
    return form.isTooDeep ? options : canonical
  }

  /// The canonical form of an expression; its aliases keep their names.
  public func canonical(_ expression: ODataExpression) -> ODataExpression {
    var form = CanonicalForm(dialect: version.dialect)
    let canonical = form.rewrite(expression)
    return form.isTooDeep ? expression : canonical
  }
}

private struct CanonicalForm: SyntaxRewriting {
  var level = 0
  var isTooDeep = false
  let dialect: ODataDialect
  /// The options that define aliases, the innermost last.
  private var scopes: [AliasScope] = []
  /// The number of the last alias that was renamed.
  private var count = 0
  /// The names that aliases keep.
  private var reserved: Set<String> = []
  /// Whether an enclosing function takes the parts of a timestamp.
  private var isInParts = false

  init(dialect: ODataDialect) { self.dialect = dialect }

  mutating func url(_ url: ODataURL) -> ODataURL {
    var url = url
    var uses = AliasUses()
    if case .path(let path) = url.resource { _ = uses.rewrite(path) }
    _ = uses.rewriteParts(of: url.options)
    open(url.options.aliases, uses: uses.counts)
    if case .path(let path) = url.resource { url.resource = .path(resourcePath(path)) }
    url.options = close(url.options)
    return url
  }

  mutating func rewrite(_ options: ODataQueryOptions) -> ODataQueryOptions {
    var uses = AliasUses()
    _ = uses.rewriteParts(of: options)
    open(options.aliases, uses: uses.counts)
    return close(options)
  }

  private mutating func open(_ aliases: [ODataAlias], uses: [String: Int]) {
    let scope = AliasScope(aliases, uses: uses)
    reserved.formUnion(uses.keys.filter { scope.values[$0] == nil })
    reserved.formUnion(scope.values.keys.filter { uses[$0] == nil })
    scopes.append(scope)
  }

  /// Returns the options with their parts rewritten, and the aliases that are still needed.
  private mutating func close(_ options: ODataQueryOptions) -> ODataQueryOptions {
    var options = options
    let aliases = options.aliases
    options.aliases = []
    options = rewriteParts(of: options)
    let place = scopes.count - 1
    var next = 0
    // Values may use aliases that were not used before.
    while next < scopes[place].retained.count {
      let name = scopes[place].retained[next]
      next += 1
      guard let value = scopes[place].values[name] else { continue }
      let rewritten = rewrite(value)
      options.aliases.append(ODataAlias(name: scopes[place].names[name] ?? name, value: rewritten))
    }
    for alias in aliases.sorted(by: { $0.name < $1.name }) where scopes[place].uses[alias.name] == nil {
      let value = rewrite(alias.value)
      options.aliases.append(ODataAlias(name: alias.name, value: value))
    }
    scopes.removeLast()
    let ordered = options.custom.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
    options.custom = ordered.map(\.element)
    return options
  }
}

// Aliases.
extension CanonicalForm {
  /// Returns the alias's value if it replaces the alias; nil if the alias stays.
  private mutating func inlined(_ name: String, asArgument argument: ODataArgument? = nil) -> ODataExpression? {
    guard let place = scopes.lastIndex(where: { $0.values[name] != nil }), let value = scopes[place].values[name],
      !scopes[place].open.contains(name), level < SyntaxRewriteLimit.depth
    else { return nil }
    let isOnce = scopes[place].uses[name] == 1
    if argument == nil, !value.isLiteral, !isOnce { return nil }
    if value.isLiteral, !isOnce, !value.isShort { return nil }
    // The value is evaluated where it is defined, with the aliases that are known there.
    let inner = scopes[(place + 1)...]
    scopes.removeLast(scopes.count - place - 1)
    scopes[place].open.insert(name)
    level += 1
    let saved = scopes[place].retained
    let savedNames = scopes[place].names
    let savedCount = count
    let rewritten = rewrite(value)
    level -= 1
    scopes[place].open.remove(name)
    let isFree = argument.map { rewritten.isKeyValue(isNamed: $0.name != nil) } ?? rewritten.isFree
    if !isFree {
      // The alias stays; names for the aliases in its value are assigned later.
      scopes[place].retained = saved
      scopes[place].names = savedNames
      count = savedCount
    }
    scopes.append(contentsOf: inner)
    return isFree ? rewritten : nil
  }

  /// Returns the name of an alias that stays.
  private mutating func renamed(_ name: String) -> String {
    guard let place = scopes.lastIndex(where: { $0.values[name] != nil }) else { return name }
    if let newName = scopes[place].names[name] { return newName }
    repeat { count += 1 } while reserved.contains("p\(count)")
    scopes[place].names[name] = "p\(count)"
    scopes[place].retained.append(name)
    return "p\(count)"
  }

  mutating func rewrite(_ path: ODataPath) -> ODataPath {
    var path = path
    if case .alias(let name) = path.root { path.root = .alias(renamed(name)) }
    // Arguments are sorted before the aliases in them get their names.
    for index in path.segments.indices { sortArguments(&path.segments[index]) }
    return rewriteSteps(of: path)
  }

  /// Sorts named arguments by their names.
  private func sortArguments(_ segment: inout ODataPathSegment) {
    guard case .arguments(let arguments) = segment.kind, arguments.allSatisfy({ $0.name != nil }) else { return }
    segment.kind = .arguments(arguments.sorted { ($0.name ?? "") < ($1.name ?? "") })
  }

  private mutating func resourcePath(_ path: ODataPath) -> ODataPath {
    var path = path
    for index in path.segments.indices {
      sortArguments(&path.segments[index])
      switch path.segments[index].kind {
      case .arguments(let arguments):
        path.segments[index].kind = .arguments(arguments.map { resourceArgument($0) })
      case .filter(let filter): path.segments[index].kind = .filter(rewrite(filter))
      default: break
      }
    }
    return path
  }

  private mutating func resourceArgument(_ argument: ODataArgument) -> ODataArgument {
    var argument = argument
    if case .path(let path) = argument.value.kind, case .alias(let name) = path.root, path.segments.isEmpty {
      argument.value = inlined(name, asArgument: argument) ?? rewriteParts(of: argument.value)
    } else {
      argument.value = rewrite(argument.value)
    }
    return argument
  }
}

// Expressions.
extension CanonicalForm {
  mutating func rewrite(_ expression: ODataExpression) -> ODataExpression {
    switch expression.kind {
    case .literal, .enumeration: return leaf(expression)
    case .call, .cast: return rewriteCall(expression)
    case .path: return value(ofAlias: expression) ?? rewriteParts(of: expression)
    default: return rewriteParts(of: expression)
    }
  }

  /// Returns the value that replaces an alias; nil for other paths, and for aliases that stay.
  private mutating func value(ofAlias expression: ODataExpression) -> ODataExpression? {
    guard case .path(let path) = expression.kind, case .alias(let name) = path.root, path.segments.isEmpty else {
      return nil
    }
    return inlined(name)
  }

  private mutating func rewriteCall(_ expression: ODataExpression) -> ODataExpression {
    let outer = isInParts
    defer { isInParts = outer }
    switch expression.kind {
    case .call(let function, _): isInParts = isInParts || function.dependsOnOffset
    default: isInParts = true
    }
    return rewriteParts(of: expression)
  }

  private func leaf(_ expression: ODataExpression) -> ODataExpression {
    switch expression.kind {
    case .literal(let value): return ODataExpression(.literal(canonical(value)), at: expression.position)
    case .enumeration(var literal):
      literal.members = literal.members.split(separator: ",").map { member in
        member.utf8.first == UInt8(ascii: "+") ? String(member.dropFirst()) : String(member)
      }.joined(separator: ",")
      return ODataExpression(.enumeration(literal), at: expression.position)
    default: return expression
    }
  }

  private func canonical(_ value: ODataValue) -> ODataValue {
    switch value {
    case .dateTimeOffset(let timestamp) where !isInParts:
      return .dateTimeOffset(timestamp.with(offsetMinutes: 0) ?? timestamp)
    case .geo(var geo):
      geo.srid = geo.srid ?? (geo.space == .geography ? 4326 : 0)
      return .geo(geo)
    default: return dialect == .v4 ? SpellingV4.number(value) : value
    }
  }
}

extension ODataCanonicalFunction {
  /// Whether the function's result depends on the offset of a timestamp.
  fileprivate var dependsOnOffset: Bool {
    switch self {
    case .year, .month, .day, .hour, .minute, .second, .fractionalseconds, .date, .time, .totaloffsetminutes: true
    default: false
    }
  }
}

/// The aliases of one list of options.
private struct AliasScope {
  let values: [String: ODataExpression]
  let uses: [String: Int]
  /// The new names of the aliases that stay.
  var names: [String: String] = [:]
  /// The aliases that stay, in the order of their first use.
  var retained: [String] = []
  /// The aliases whose values are being inserted.
  var open: Set<String> = []

  init(_ aliases: [ODataAlias], uses: [String: Int]) {
    values = Dictionary(aliases.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    self.uses = uses
  }
}

/// Counts the uses of aliases, except those that are defined further inside.
private struct AliasUses: SyntaxRewriting {
  var level = 0
  var isTooDeep = false
  var counts: [String: Int] = [:]
  private var hidden: [Set<String>] = []

  mutating func rewrite(_ path: ODataPath) -> ODataPath {
    if case .alias(let name) = path.root, !hidden.contains(where: { $0.contains(name) }) {
      counts[name, default: 0] += 1
    }
    return rewriteSteps(of: path)
  }

  mutating func rewrite(_ options: ODataQueryOptions) -> ODataQueryOptions {
    hidden.append(Set(options.aliases.map(\.name)))
    defer { hidden.removeLast() }
    return rewriteParts(of: options)
  }
}

/// Whether an expression contains a path whose meaning depends on its place.
private struct DependenceCheck: SyntaxRewriting {
  var level = 0
  var isTooDeep = false
  var isDependent = false

  mutating func rewrite(_ path: ODataPath) -> ODataPath {
    if path.root != .root { isDependent = true }
    return rewriteSteps(of: path)
  }
}

extension ODataExpression {
  fileprivate var isFree: Bool {
    var check = DependenceCheck()
    _ = check.rewrite(self)
    return !check.isDependent
  }

  /// Whether the grammar allows the expression as an argument in a resource path; keys are not null, binary, geo or
  /// floating-point.
  fileprivate func isKeyValue(isNamed: Bool) -> Bool {
    guard isLiteral, case .literal(let value) = kind, !isNamed else { return isLiteral }
    switch value {
    case .null, .binary, .geo, .double, .single: return false
    default: return true
    }
  }

  /// Whether the literal is short enough to be written more than once.
  fileprivate var isShort: Bool {
    switch kind {
    case .literal(.string(let text)): text.utf8.count <= 128
    case .literal(.binary(let bytes)): bytes.count <= 96
    case .literal(.geo): false
    case .enumeration(let literal): literal.members.utf8.count <= 128
    default: true
    }
  }
}
