import LarderOData

/// Expressions.
extension QueryGenerator {
  /// What property names refer to: an entity, or a lambda variable.
  struct Scope {
    var type: EdmStructure?
    /// The text before paths: empty, `x0/`, or `x0` for a variable whose value is primitive.
    var prefix: String
    /// The kind of a variable whose value is primitive.
    var item: QueryData.Leaf?
    /// Where the values of the variable are found.
    var values: String?
  }

  mutating func filter(_ type: EdmStructure) -> QueryNode {
    let scope = Scope(type: type, prefix: "")
    let expression = truth(scope, depth: 1 + roll(3)) ?? QueryNode(.truth, "true")
    return QueryNode([.text("$filter="), .node(expression)])
  }

  mutating func truth(_ scope: Scope, depth: Int) -> QueryNode? {
    if depth > 0, chance(55) {
      guard let left = truth(scope, depth: depth - 1) else { return nil }
      if chance(25) { return QueryNode(.truth, [.text("not ("), .node(left), .text(")")], .negation) }
      guard let right = truth(scope, depth: depth - 1) else { return nil }
      let isAnd = chance(50)
      return QueryNode(
        .truth, [.text("("), .node(left), .text(isAnd ? " and " : " or "), .node(right), .text(")")],
        .junction(isAnd: isAnd))
    }
    for _ in 0..<4 { if let node = simple(scope, depth: depth) { return node } }
    return nil
  }

  private mutating func simple(_ scope: Scope, depth: Int) -> QueryNode? {
    switch roll(100) {
    case ..<14: return textTest(scope)
    case ..<24 where features.hasLambdas && scope.prefix.count < 6: return lambda(scope)
    case ..<30 where features.hasIn: return membership(scope)
    case ..<36: return nullTest(scope)
    case ..<40 where features.hasCasts:
      guard scope.prefix.isEmpty, let type = scope.type, let below = pick(data.derived(from: type)) else { return nil }
      return QueryNode(.truth, "isof(\(below.name))")
    case ..<43 where features.hasCountInPaths: return countTest(scope)
    case ..<45 where features.hasGeo: return distance(scope)
    case ..<49 where features.hasEnumerations: return enumeration(scope)
    case ..<58 where features.hasNavigationPaths && !avoidsNavigation:
      return far(scope, where: { _ in true }).flatMap { comparison(of: $0.path, $0.leaf, $0.owner) }
    default: return comparison(scope, depth: depth)
    }
  }

  private mutating func comparison(_ scope: Scope, depth: Int) -> QueryNode? {
    guard let leaf = leaf(scope, where: { _ in true }) else { return nil }
    if case .enumeration = leaf.kind { return nil }
    if leaf.kind == .boolean, chance(40) { return QueryNode(.truth, scope.prefix + leaf.path) }
    let name = comparisonOperator(for: leaf.kind)
    if depth > 0, leaf.kind.isNumber || leaf.kind == .string, chance(35), let left = value(leaf.kind, scope, depth: 2) {
      guard let right = literal(leaf, scope) else { return nil }
      return .relation(.node(left), name, .text(right))
    }
    if features.comparesProperties, chance(12), let other = self.leaf(scope, where: { $0 == leaf.kind }) {
      return .relation(.text(scope.prefix + leaf.path), name, .text(scope.prefix + other.path))
    }
    if features.hasDateArithmetic, leaf.kind == .timestamp || leaf.kind == .date, chance(25) {
      return shifted(leaf, scope)
    }
    if leaf.kind == .timestamp || leaf.kind == .date || leaf.kind == .time, chance(40) { return part(leaf, scope) }
    guard let right = literal(leaf, scope) else { return nil }
    let path = path(leaf, scope)
    let isReversed = isV4 && chance(10)
    return .relation(.text(isReversed ? right : path), name, .text(isReversed ? path : right))
  }

  private mutating func comparison(
    of path: String, _ leaf: QueryData.Leaf, _ owner: EdmStructure
  ) -> QueryNode? {
    if case .enumeration = leaf.kind { return nil }
    guard let right = literal(leaf, owner) else { return nil }
    return .relation(.text(path), comparisonOperator(for: leaf.kind), .text(right))
  }

  private mutating func comparisonOperator(for kind: ValueKind) -> String {
    (kind.isOrdered ? pick(["eq", "ne", "lt", "le", "gt", "ge"]) : pick(["eq", "ne"])) ?? "eq"
  }

  /// `contains` and its relatives, with a piece of a text that is there.
  private mutating func textTest(_ scope: Scope) -> QueryNode? {
    guard let leaf = leaf(scope, where: { $0 == .string }), let text = pick(values(leaf, scope))?.string, !text.isEmpty
    else { return nil }
    let letters = Array(text)
    let begin = roll(letters.count)
    let piece = String(letters[begin..<min(letters.count, begin + 1 + roll(4))])
    let path = path(leaf, scope)
    let names = ["contains", "startswith", "endswith", "substringof", "matchesPattern"].filter(
      features.functions.contains)
    guard let name = pick(names) else { return nil }
    switch name {
    case "substringof": return QueryNode(.truth, "substringof(\(QueryLiteral.quoted(piece)),\(path))")
    case "matchesPattern":
      guard piece.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else { return nil }
      return QueryNode(.truth, "matchesPattern(\(path),'\(chance(40) ? "%5E" : "")\(piece)')")
    case "startswith":
      return QueryNode(.truth, "startswith(\(path),\(QueryLiteral.quoted(String(letters.prefix(1 + roll(3))))))")
    case "endswith":
      return QueryNode(.truth, "endswith(\(path),\(QueryLiteral.quoted(String(letters.suffix(1 + roll(3))))))")
    default: return QueryNode(.truth, "\(name)(\(path),\(QueryLiteral.quoted(piece)))")
    }
  }

  private mutating func lambda(_ scope: Scope) -> QueryNode? {
    guard let type = scope.type else { return nil }
    let name = chance(60) ? "any" : "all"
    let variable = "x\(variables)"
    variables += 1
    let collections = data.properties(of: type).filter {
      $0.type.isCollection && ValueKind($0.type.item, model: model) != nil
    }
    let complex = data.properties(of: type).filter {
      $0.type.isCollection && $0.type.name.flatMap { model.complexType($0) } != nil
    }
    let navigations = avoidsNavigation ? [] : type.navigationProperties.filter(\.isCollection)
    if chance(35), let property = pick(collections), let kind = ValueKind(property.type.item, model: model) {
      let leaf = QueryData.Leaf(path: "", kind: kind, type: model.underlying(property.type).type.item.primitive)
      let inner = Scope(type: nil, prefix: variable, item: leaf, values: "\(type.name)/\(property.name)")
      guard let body = comparison(inner, depth: 0) else { return nil }
      return QueryNode(
        .truth, [.text("\(scope.prefix)\(property.name)/\(name)(\(variable):"), .node(body), .text(")")],
        .quantifier(isAll: name == "all"))
    }
    let steps = navigations.map { ($0.name, $0.type.name) } + complex.map { ($0.name, $0.type.name) }
    guard let (step, target) = pick(steps), let inner = target.flatMap({ model.structure($0) }) else { return nil }
    if chance(10) { return QueryNode(.truth, "\(scope.prefix)\(step)/any()") }
    guard let body = truth(Scope(type: inner, prefix: variable + "/"), depth: 1) else { return nil }
    return QueryNode(
      .truth, [.text("\(scope.prefix)\(step)/\(name)(\(variable):"), .node(body), .text(")")],
      .quantifier(isAll: name == "all"))
  }

  private mutating func membership(_ scope: Scope) -> QueryNode? {
    let fits = { (kind: ValueKind) in if case .enumeration = kind { false } else { kind != .boolean && kind != .binary }
    }
    guard let leaf = leaf(scope, where: fits) else { return nil }
    let literals = (0..<(1 + roll(3))).compactMap { _ in literal(leaf, scope) }.filter { $0 != "null" }
    guard !literals.isEmpty else { return nil }
    let list = QueryNode.List(before: "(", after: ")", items: literals.map { QueryNode($0) })
    return .relation(.text(path(leaf, scope)), "in", .list(list))
  }

  private mutating func nullTest(_ scope: Scope) -> QueryNode? {
    guard scope.type != nil, let leaf = leaf(scope, where: { _ in true }) else { return nil }
    return QueryNode(.truth, "\(path(leaf, scope)) \(chance(50) ? "eq" : "ne") null")
  }

  /// How far a place is from another one.
  private mutating func distance(_ scope: Scope) -> QueryNode? {
    let points = (scope.type?.properties ?? []).filter { $0.type.primitive == .geometryPoint }
    guard let point = pick(points) else { return nil }
    let place = "geometry'SRID=0;POINT(\(roll(9)) \(roll(9) - 4))'"
    return .relation(
      .text("geo.distance(\(scope.prefix)\(point.name),\(place))"), pick(["lt", "ge"]) ?? "lt", .text("\(roll(9)).25"))
  }

  /// A timestamp or date, plus or minus a duration.
  private mutating func shifted(_ leaf: QueryData.Leaf, _ scope: Scope) -> QueryNode? {
    guard let right = literal(leaf, scope), let name = pick(["add", "sub"]) else { return nil }
    let lengths = leaf.kind == .date ? ["P1D", "P30D"] : ["P1D", "PT90M", "P31DT1S", "PT36H"]
    let left = "(\(path(leaf, scope)) \(name) duration'\(pick(lengths) ?? "P1D")')"
    return .relation(.text(left), comparisonOperator(for: leaf.kind), .text(right))
  }

  private mutating func countTest(_ scope: Scope) -> QueryNode? {
    guard let type = scope.type, !avoidsNavigation else { return nil }
    let names =
      type.navigationProperties.filter(\.isCollection).map(\.name)
      + data.properties(of: type).filter(\.type.isCollection).map(\.name)
    guard let name = pick(names) else { return nil }
    return QueryNode(.truth, "\(scope.prefix)\(name)/$count \(comparisonOperator(for: .integer)) \(roll(5))")
  }

  private mutating func enumeration(_ scope: Scope) -> QueryNode? {
    let isEnumeration = { (kind: ValueKind) in if case .enumeration = kind { true } else { false } }
    guard let leaf = leaf(scope, where: isEnumeration), case .enumeration(let name) = leaf.kind,
      let type = model.enumType(name), let member = pick(type.members)
    else { return nil }
    let operators = type.isFlags ? ["has"] : ["eq", "ne"]
    let relation = pick(operators) ?? "eq"
    let path = path(leaf, scope)
    return QueryNode(
      .truth, [.text("\(path) \(relation) \(name)'\(member.name)'")], .enumeration(path, relation))
  }
}
