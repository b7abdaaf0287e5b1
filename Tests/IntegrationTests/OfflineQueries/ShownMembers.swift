/// The members that `$select` and `$expand` of a query request, at each level.
struct ShownMembers {
  /// The items of `$select`; nil where there is none.
  private(set) var selected: [String]?
  private var expanded: [(name: String, inner: ShownMembers)] = []

  /// Creates the members from a query's text, not percent-encoded.
  init(query: String) {
    let options = query.firstIndex(of: "?").map { query[query.index(after: $0)...] }
    self.init(options: options ?? "", separator: "&")
  }

  private init(options: Substring, separator: Character) {
    for option in ShownMembers.split(options, separator) {
      if option.hasPrefix("$select=") {
        selected = ShownMembers.split(option.dropFirst(8), ",").map(String.init)
      } else if option.hasPrefix("$expand=") {
        for item in ShownMembers.split(option.dropFirst(8), ",") {
          let path = item.prefix { $0 != "(" }
          let name = path.split(separator: "/").last.map(String.init) ?? ""
          let inner = item.dropFirst(path.count + 1).dropLast()
          expanded.append((name, ShownMembers(options: inner, separator: ";")))
        }
      }
    }
  }

  /// At commas and the like outside parentheses and quotes.
  private static func split(_ text: Substring, _ separator: Character) -> [Substring] {
    var parts: [Substring] = []
    var start = text.startIndex
    var depth = 0
    var isQuoted = false
    for index in text.indices {
      switch text[index] {
      case "'": isQuoted.toggle()
      case "(" where !isQuoted: depth += 1
      case ")" where !isQuoted: depth -= 1
      case separator where !isQuoted && depth == 0:
        parts.append(text[start..<index])
        start = text.index(after: index)
      default: break
      }
    }
    parts.append(text[start...])
    return parts
  }

  /// Whether the query requests the member of a result at a path (`value[0]/Products[1]/ID`).
  func has(_ path: String) -> Bool {
    var names = path.split(separator: "/").map { String($0.prefix { $0 != "[" }) }
    if names.first == "value" { names.removeFirst() }
    var level = self
    while let name = names.first, let next = level.expanded.first(where: { $0.name == name }) {
      names.removeFirst()
      level = next.inner
      if names.isEmpty { return true }
    }
    guard let selected = level.selected else { return true }
    let property = names.joined(separator: "/")
    return selected.contains { item in
      item == "*" || item == property || property.hasPrefix(item + "/") || item.hasPrefix(property + "/")
    }
  }
}
