import LarderOData

/// The rows of the result, their order, and their members.
extension QueryGenerator {
  /// `$orderby`, always with the key at its end, so that there is one right order; `$top` and `$skip` only with it.
  mutating func order(_ type: EdmStructure, separator: String, rows: Int) -> QueryNode {
    var items: [QueryNode] = []
    for _ in 0..<(1 + roll(2)) {
      guard let expression = orderItem(type) else { continue }
      items.append(QueryNode([.node(expression), .text(chance(40) ? " desc" : chance(20) ? " asc" : "")]))
    }
    let names = Set(items.map { $0.text.split(separator: " ").first.map(String.init) ?? "" })
    let key = type.key.map(\.path).filter { !names.contains($0) }.joined(separator: ",")
    var pages: [QueryNode] = []
    if chance(50) { pages.append(QueryNode("$top=\(roll(max(2, rows)))")) }
    if chance(30) { pages.append(QueryNode("$skip=\(roll(max(2, rows)))")) }
    let list = QueryNode.List(after: key.isEmpty ? "" : ",", minimum: key.isEmpty ? 1 : 0, items: items)
    return QueryNode(
      .order,
      [
        .text("$orderby="), .list(list), .text(key),
        .list(QueryNode.List(before: separator, separator: separator, minimum: 0, items: pages)),
      ])
  }

  private mutating func orderItem(_ type: EdmStructure) -> QueryNode? {
    // The standard has no place for NaN in an order.
    let leaves = data.leaves(of: type).filter {
      ($0.kind.isOrdered || $0.kind == .boolean)
        && !(data.values["\(type.name)/\($0.path)"] ?? []).contains(.string("NaN"))
    }
    guard let leaf = pick(leaves) else { return nil }
    let scope = Scope(type: type, prefix: "")
    if features.ordersByExpressions, leaf.kind != .double, chance(25), let node = value(leaf.kind, scope, depth: 1) {
      return node
    }
    if features.hasNavigationPaths, !avoidsNavigation, chance(15), let far = far(scope, where: { $0.isOrdered }) {
      return QueryNode(far.path)
    }
    let many = type.navigationProperties.filter(\.isCollection)
    if features.hasCountInPaths, !avoidsNavigation, chance(10), let navigation = pick(many) {
      return QueryNode(navigation.name + "/$count")
    }
    return QueryNode(leaf.path)
  }

  /// `$select`, `$expand`, `$compute`.
  mutating func shapes(_ type: EdmStructure) -> [QueryNode] {
    var all: [QueryNode] = []
    if features.hasCompute, chance(8), let compute = compute(type) { return [compute] }
    let expanded = chance(35) && !type.navigationProperties.isEmpty ? expand(type) : nil
    if chance(45), let select = select(type, with: isV4 ? [] : expanded?.names ?? []) { all.append(select) }
    if let expanded { all.append(expanded.node) }
    return all
  }

  mutating func select(_ type: EdmStructure, with navigations: [String] = []) -> QueryNode? {
    if !isV4, !navigations.isEmpty {
      let names = some(data.properties(of: type).map(\.name), atMost: 3) + navigations
      // Expanded properties must be selected (V2 URI conventions, 4.8), so none of them may be dropped.
      return QueryNode("$select=" + names.joined(separator: ","))
    }
    var names = data.properties(of: type).map(\.name)
    if features.selectsPaths { names += data.leaves(of: type).map(\.path).filter { $0.contains("/") } }
    guard !names.isEmpty else { return nil }
    let some = some(names, atMost: 4)
    // A property and a part of it say the same twice.
    let chosen = some.filter { name in !some.contains { name.hasPrefix($0 + "/") } }
    return QueryNode([.text("$select="), .list(QueryNode.List(items: chosen.map { QueryNode($0) }))])
  }

  mutating func expand(_ type: EdmStructure, depth: Int = 0) -> (node: QueryNode, names: [String]) {
    // A product is one whether it was reached as a product or as one that goes bad.
    let base = type.chain.first ?? type
    let supported = type.navigationProperties.filter {
      features.expandsAgain || expanded.insert("\(base.name)/\($0.name)").inserted
    }
    let navigations = some(supported, atMost: 2)
    let items = navigations.map { expandItem($0, of: type, depth: depth) }
    // In V2 `$select` contains the expanded properties, so the items stay together.
    let least = isV4 ? 1 : items.count
    let node = QueryNode([.text("$expand="), .list(QueryNode.List(minimum: least, items: items))])
    return (node, navigations.map(\.name))
  }

  private mutating func expandItem(
    _ navigation: EdmNavigationProperty, of type: EdmStructure, depth: Int
  ) -> QueryNode {
    avoidsNavigation = !features.expandsAgain
    defer { avoidsNavigation = false }
    guard let target = navigation.type.name.flatMap({ model.structure($0) }) else {
      return QueryNode(navigation.name)
    }
    guard isV4 else {
      let next = depth == 0 && chance(25) ? pick(target.navigationProperties) : nil
      return QueryNode(.expand(navigation.name), navigation.name + (next.map { "/\($0.name)" } ?? ""))
    }
    var options: [QueryNode] = []
    let supported = features.expandOptions
    if supported.contains("$select"), chance(40), let select = select(target) { options.append(select) }
    if navigation.isCollection {
      if supported.contains("$filter"), chance(35) { options.append(filter(target)) }
      if supported.contains("$orderby"), chance(35) { options.append(order(target, separator: ";", rows: 5)) }
      if supported.contains("$count"), chance(20) { options.append(QueryNode("$count=true")) }
    }
    if supported.contains("$levels"), target.name == type.name, chance(50) {
      options.append(QueryNode("$levels=\(1 + roll(3))"))
    } else if supported.contains("$expand"), depth < 2, chance(25) {
      let inner = expand(target, depth: depth + 1)
      if !inner.names.isEmpty { options.append(inner.node) }
    }
    let list = QueryNode.List(before: "(", separator: ";", after: ")", minimum: 0, items: options)
    return QueryNode(.expand(navigation.name), [.text(navigation.name), .list(list)])
  }

  mutating func search(_ type: EdmStructure) -> QueryNode? {
    let texts = data.leaves(of: type).filter { $0.kind == .string }
      .flatMap { data.values["\(type.name)/\($0.path)"] ?? [] }
    let words = texts.compactMap(\.string).flatMap { $0.split(separator: " ") }.map(String.init)
      .filter { word in word.count > 2 && word.allSatisfy { $0.isASCII && $0.isLetter } }
    guard let one = pick(words), let other = pick(words) else { return nil }
    let text = [one, "\(one) \(other)", "\(one) OR \(other)", "NOT \(one)", "\(one) AND NOT \(other)"]
    let pieces = [one, other].map { self.pieces(of: $0, in: type) }
    let readings = [
      pieces[0], "\(pieces[0]) and \(pieces[1])", "\(pieces[0]) or \(pieces[1])", "not (\(pieces[0]))",
      "\(pieces[0]) and not (\(pieces[1]))",
    ]
    let form = roll(text.count)
    return QueryNode(.plain, [.text("$search=\(text[form])")], .search("$filter=" + readings[form]))
  }

  /// A condition that any string of an entity contains a word: one interpretation of `$search`.
  private func pieces(of word: String, in type: EdmStructure) -> String {
    let word = word.lowercased()
    var tests = data.leaves(of: type).filter { $0.kind == .string || $0.kind == .guid }.map { leaf in
      let text = leaf.kind == .guid ? "cast(\(leaf.path),Edm.String)" : leaf.path
      return "(contains(tolower(\(text)),'\(word)') and \(leaf.path) ne null)"
    }
    for property in data.properties(of: type) where property.type.isCollection {
      if ValueKind(property.type.item, model: model) == .string {
        tests.append("\(property.name)/any(s:contains(tolower(s),'\(word)'))")
      } else if let inner = property.type.name.flatMap({ model.complexType($0) == nil ? nil : model.structure($0) }) {
        let stringConditions = data.leaves(of: inner).filter { $0.kind == .string }
          .map { "(contains(tolower(s/\($0.path)),'\(word)') and s/\($0.path) ne null)" }
        if !stringConditions.isEmpty {
          tests.append("\(property.name)/any(s:\(stringConditions.joined(separator: " or ")))")
        }
      }
    }
    return "(\(tests.joined(separator: " or ")))"
  }

  mutating func compute(_ type: EdmStructure) -> QueryNode? {
    let kinds = data.leaves(of: type).map(\.kind).filter { $0.isNumber || $0 == .string }
    let scope = Scope(type: type, prefix: "")
    guard let kind = pick(kinds), let expression = value(kind, scope, depth: 2), let key = type.key.first else {
      return nil
    }
    return QueryNode([
      .text("$compute="), .node(expression), .text(" as Made&$select=\(key.path),Made"),
    ])
  }

  /// `$apply`, with rows that differ in the grouping properties.
  mutating func apply(_ path: String, _ type: EdmStructure) -> QueryNode {
    var steps: [QueryNode.Part] = [.text("$apply=")]
    let scope = Scope(type: type, prefix: "")
    if features.applySteps.contains("filter"), chance(40), let condition = truth(scope, depth: 2) {
      steps += [.text("filter("), .node(condition), .text(")/")]
    }
    var aggregates = aggregates(type)
    aggregates.append(QueryNode("$count as Rows"))
    let leaves = data.leaves(of: type).filter { !$0.path.contains("/") && $0.kind != .binary && $0.kind != .double }
    let groups = some(leaves.map(\.path), atMost: 2).map { QueryNode($0) }
    if chance(70), !groups.isEmpty {
      let list = QueryNode.List(before: ",aggregate(", after: ")", minimum: 0, items: aggregates)
      steps += [.text("groupby(("), .list(QueryNode.List(items: groups)), .text(")"), .list(list), .text(")")]
    } else {
      steps += [.text("aggregate("), .list(QueryNode.List(items: aggregates)), .text(")")]
    }
    return options(path, [QueryNode(steps)])
  }

  private mutating func aggregates(_ type: EdmStructure) -> [QueryNode] {
    let leaves = data.leaves(of: type).filter { !$0.path.contains("/") }
    var all: [QueryNode] = []
    for place in 0..<roll(3) {
      guard let method = pick(features.aggregates) else { continue }
      let fitting = method == "countdistinct" ? leaves.filter { $0.kind != .binary } : leaves.filter(\.kind.isNumber)
      guard let leaf = pick(fitting) else { continue }
      all.append(QueryNode("\(leaf.path) with \(method) as Made\(place)"))
    }
    return all
  }
}
