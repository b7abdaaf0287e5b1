import LarderOData

/// The part of `$filter` that stores look up with: comparisons by `eq` and `ne`, `and`, `or`, `not`, parentheses, and the
/// functions of texts.
struct ModelFilter {
  private var tokens: [Substring] = []
  private var place = 0

  /// Whether an entity's values fit a filter; nil for a filter that the model does not know.
  static func holds(_ text: String, _ values: [String: JSONNode]) -> Bool? {
    guard var filter = ModelFilter(text) else { return nil }
    let result = filter.either(values)
    return filter.place == filter.tokens.count ? result : nil
  }

  private init?(_ text: String) {
    var rest = text[...]
    while let first = rest.first {
      if first == " " {
        rest = rest.dropFirst()
      } else if first == "'" {
        var end = rest.index(after: rest.startIndex)
        while end < rest.endIndex {
          let next = rest.index(after: end)
          if rest[end] == "'" {
            guard next < rest.endIndex, rest[next] == "'" else { break }
            end = rest.index(after: next)
          } else {
            end = next
          }
        }
        guard end < rest.endIndex else { return nil }
        tokens.append(rest[...end])
        rest = rest[rest.index(after: end)...]
      } else if "(),".contains(first) {
        tokens.append(rest.prefix(1))
        rest = rest.dropFirst()
      } else {
        let word = rest.prefix { !" (),'".contains($0) }
        tokens.append(word)
        rest = rest.dropFirst(word.count)
      }
    }
  }

  private mutating func take(_ word: String) -> Bool {
    guard place < tokens.count, tokens[place] == word else { return false }
    place += 1
    return true
  }

  private mutating func either(_ values: [String: JSONNode]) -> Bool? {
    guard var result = both(values) else { return nil }
    while take("or") {
      guard let next = both(values) else { return nil }
      result = result || next
    }
    return result
  }

  private mutating func both(_ values: [String: JSONNode]) -> Bool? {
    guard var result = one(values) else { return nil }
    while take("and") {
      guard let next = one(values) else { return nil }
      result = result && next
    }
    return result
  }

  private mutating func one(_ values: [String: JSONNode]) -> Bool? {
    if take("not") { return one(values).map { !$0 } }
    if take("(") {
      let result = either(values)
      return take(")") ? result : nil
    }
    guard let left = operand(values) else { return nil }
    if take("eq") { return operand(values).map { ModelFilter.equal(left, $0) } }
    if take("ne") { return operand(values).map { !ModelFilter.equal(left, $0) } }
    if case .boolean(let holds) = left { return holds }
    return nil
  }

  private static func equal(_ left: JSONNode, _ right: JSONNode) -> Bool { left.text == right.text }

  private mutating func operand(_ values: [String: JSONNode]) -> JSONNode? {
    guard place < tokens.count else { return nil }
    let word = String(tokens[place])
    place += 1
    if word.hasPrefix("'") { return .string(String(word.dropFirst().dropLast()).replacing("''", with: "'")) }
    if place < tokens.count, tokens[place] == "(" { return function(word, values) }
    if word == "null" { return .null }
    if word == "true" || word == "false" { return .boolean(word == "true") }
    if let first = word.first, first.isNumber || first == "-" { return .number(word) }
    var value = JSONNode.object(values.map { JSONNode.Member($0.key, $0.value) })
    for step in word.split(separator: "/") { value = value[String(step)] ?? .null }
    return value
  }

  private mutating func function(_ name: String, _ values: [String: JSONNode]) -> JSONNode? {
    guard take("(") else { return nil }
    var arguments: [String?] = []
    repeat {
      guard let argument = operand(values) else { return nil }
      arguments.append(argument.text)
    } while take(",")
    guard take(")"), let first = arguments.first else { return nil }
    let second = arguments.count > 1 ? arguments[1] : nil
    switch name {
    case "toupper": return first.map { .string($0.uppercased()) } ?? .null
    case "tolower": return first.map { .string($0.lowercased()) } ?? .null
    case "trim": return first.map { .string($0.trimmed) } ?? .null
    case "endswith": return .boolean(second.map { first?.hasSuffix($0) ?? false } ?? false)
    case "startswith": return .boolean(second.map { first?.hasPrefix($0) ?? false } ?? false)
    case "contains": return .boolean(second.map { first?.contains($0) ?? false } ?? false)
    default: return nil
    }
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}
