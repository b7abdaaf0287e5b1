// Random query options, also nested ones.
extension QueryGenerator {
  /// The options of a collection, after `?` or in parentheses.
  mutating func options(_ place: QueryPlace, depth: Int, isTop: Bool = true) -> [String] {
    var all: [String] = []
    let scope = QueryScope("", place)
    if chance(40) { all.append("$filter=" + (isTop ? filter(place, depth: 1) : condition(scope, 1))) }
    if chance(50) {
      let terms = (0..<(1 + below(2))).map { _ -> String in
        let kind = pick([.whole, .string, .decimal, .timestamp, .double] as [QueryKind])
        return (chance(60) ? path(kind, scope) : nil ?? value(kind, scope, 1)) ?? literal(.whole)
      }
      all.append("$orderby=" + terms.map { $0 + (chance(50) ? "%20desc" : "") }.joined(separator: ","))
    }
    if chance(35) { all.append("$top=\(below(6))") }
    if chance(20) { all.append("$skip=\(below(4))") }
    if chance(30) { all.append("$count=true") }
    if depth > 0, chance(75), let expand = expand(place, depth: depth - 1) { all.append("$expand=" + expand) }
    return all
  }

  private mutating func expand(_ place: QueryPlace, depth: Int) -> String? {
    let many: [(String, QueryPlace)]
    let single: [(String, QueryPlace)]
    switch place {
    case .product:
      (many, single) = ([("Friends", .product)], [("Category", .category), ("Shop.Special/Best", .product)])
    case .category: (many, single) = ([("Products", .product), ("Children", .category)], [("Parent", .category)])
    case .order: (many, single) = ([("Items", .item)], [])
    case .item: (many, single) = ([], [("Product", .product)])
    case .address, .maker: return nil
    }
    var items: [String] = []
    for (name, target) in many where chance(55) {
      switch below(8) {
      case 0: items.append(name + "/$count" + (chance(50) ? "($filter=\(condition(QueryScope("", target), 1)))" : ""))
      case 1: items.append(name + "/$ref" + inParentheses(options(target, depth: 0, isTop: false)))
      case 2 where target == .product:
        items.append(name + "/Shop.Special" + inParentheses(options(target, depth: depth, isTop: false)))
      case 3 where target == place: items.append("\(name)($levels=\(1 + below(3)))")
      default: items.append(name + inParentheses(options(target, depth: depth, isTop: false)))
      }
    }
    for (name, target) in single where chance(55) {
      if target == place, name == "Parent", chance(40) {
        items.append("\(name)($levels=\(pick(["1", "2", "max"])))")
        continue
      }
      let inner = depth > 0 && chance(60) ? expand(target, depth: depth - 1) : nil
      items.append(name + (inner.map { "($expand=\($0))" } ?? ""))
    }
    return items.isEmpty ? nil : items.joined(separator: ",")
  }

  private func inParentheses(_ options: [String]) -> String {
    options.isEmpty ? "" : "(" + options.joined(separator: ";") + ")"
  }
}
