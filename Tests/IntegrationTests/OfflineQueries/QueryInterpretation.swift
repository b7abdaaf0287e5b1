/// How a server's interpretation of queries deviates from the standard. Each deviating meaning can also be expressed by a standard
/// query. Apart from its fault, a server's result is right if that query has the same result in the store.
struct QueryInterpretation: Sendable, Hashable {
  /// The operators that are null where an operand is, so that `not` of them is not true.
  var nullRelations: Set<String> = []
  /// Literals of enumerations are equal to no value.
  var enumerationsDiffer = false
  /// The remainder has the divisor's sign.
  var modOfDivisor = false
  /// Casts in paths do not exclude entities of other types.
  var castsKeepAll = false
  /// `$search` matches pieces of all strings.
  var searchesWordParts = false
  /// Options behind `/$ref` are not heeded.
  var ignoresReferenceOptions = false
  /// `$crossjoin` has the entities in line.
  var crossjoinsInLine = false
}

/// The meaning of a part of a query, if interpretations differ.
indirect enum QueryMeaning: Sendable {
  case plain
  /// `not (…)`, of the part at 1.
  case negation
  /// `(… and …)`, of the parts at 1 and 3.
  case junction(isAnd: Bool)
  /// A relation of the parts at 0 and 2, the second of them null where it says so.
  case relation(String)
  /// A lambda: `all` or `any` of the part at 1.
  case quantifier(isAll: Bool)
  /// A comparison of an enumeration with a literal: the path, and the operator.
  case enumeration(String, String)
  /// A remainder of the part at 1, a property, by a constant greater than 0.
  case remainder(String)
  /// `$search`, by the pieces that a reading searches for instead.
  case search(String)
  /// Options behind `/$ref`.
  case referenceOptions
  /// `$crossjoin` of the sets.
  case crossjoin([String])
}

extension QueryNode {
  /// The standard text of what a server with this interpretation evaluates.
  func text(_ interpretation: QueryInterpretation, isNegated: Bool = false) -> String {
    switch meaning {
    case .plain, .referenceOptions, .crossjoin, .search:
      let text = plain(interpretation)
      return isNegated ? "not (\(text))" : text
    case .negation: return node(1)?.text(interpretation, isNegated: !isNegated) ?? plain(interpretation)
    case .junction(let isAnd):
      guard let one = node(1), let other = node(3) else { return plain(interpretation) }
      // One of two is false, or both.
      let name = isAnd != isNegated ? "and" : "or"
      return
        "(\(one.text(interpretation, isNegated: isNegated)) \(name) \(other.text(interpretation, isNegated: isNegated)))"
    case .relation(let name): return relation(name, interpretation, isNegated)
    case .quantifier: return isNegated ? "not (\(plain(interpretation)))" : plain(interpretation)
    case .enumeration(let path, let name):
      guard interpretation.enumerationsDiffer else {
        return isNegated ? "not (\(plain(interpretation)))" : plain(interpretation)
      }
      if name == "has" { return isNegated ? "\(path) ne null" : "false" }
      return (name == "eq") == isNegated ? "true" : "false"
    case .remainder(let divisor):
      guard interpretation.modOfDivisor, let dividend = node(1)?.text(interpretation) else {
        return plain(interpretation)
      }
      let rest = "(\(dividend) mod \(divisor))"
      // One addition and no more: another remainder would round once again.
      return "case(\(rest) lt 0:\(rest) add \(divisor),true:\(rest))"
    }
  }

  private func relation(_ name: String, _ interpretation: QueryInterpretation, _ isNegated: Bool) -> String {
    let text = plain(interpretation)
    guard interpretation.nullRelations.contains(name), parts.count > 2 else {
      return isNegated ? "not (\(text))" : text
    }
    var all = [isNegated ? "not (\(text))" : "(\(text))"]
    for index in [0, 2] {
      let operand = QueryNode.text(parts[index], interpretation)
      // Literals are not null, except for the literal null itself.
      if operand == "null" { return isNegated ? "not (\(text))" : text }
      if operand.hasPrefix("(") && index == 2 && name == "in" { continue }
      if QueryNode.isProperty(operand) { all.append("\(operand) ne null") }
    }
    return all.count == 1 ? all[0] : "(" + all.joined(separator: " and ") + ")"
  }

  /// Whether an operand is made of properties.
  private static func isProperty(_ operand: String) -> Bool {
    guard !["true", "false", "null", "INF", "NaN", "-INF"].contains(operand) else { return false }
    if operand.hasPrefix("(") || operand.contains("(") { return true }
    return operand.first?.isLetter == true && !operand.contains("'") && !isGuid(operand)
  }

  private static func isGuid(_ operand: String) -> Bool {
    operand.count == 36 && operand.filter { $0 == "-" }.count == 4
  }

  private func node(_ index: Int) -> QueryNode? {
    guard parts.indices.contains(index), case .node(let node) = parts[index] else { return nil }
    return node
  }

  private func plain(_ interpretation: QueryInterpretation) -> String {
    switch meaning {
    case .search(let wordParts) where interpretation.searchesWordParts: return wordParts
    case .referenceOptions where interpretation.ignoresReferenceOptions: return ""
    case .crossjoin(let names) where interpretation.crossjoinsInLine:
      let text = parts.map { QueryNode.text($0, interpretation) }.joined()
      return text + (text.contains("?") ? "&" : "?") + "$expand=" + names.joined(separator: ",")
    default: return parts.map { QueryNode.text($0, interpretation) }.joined()
    }
  }

  private static func text(_ part: Part, _ interpretation: QueryInterpretation) -> String {
    switch part {
    case .text(let text): return text
    case .node(let node): return node.text(interpretation)
    case .list(let list):
      let items = list.items.map { $0.text(interpretation) }.filter { !$0.isEmpty }
      return items.isEmpty ? "" : list.before + items.joined(separator: list.separator) + list.after
    }
  }
}
