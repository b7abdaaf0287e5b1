/// How a server takes questions otherwise than the standard has it. What it understands can be asked too: by a question that says
/// it in the standard's words. A server's answer is right, but for its fault, where that question has the same answer in the store.
struct QuestionReading: Sendable, Hashable {
  /// The operators that are null where an operand is, so that `not` of them is not true.
  var nullRelations: Set<String> = []
  /// Literals of enumerations are equal to no value.
  var enumerationsDiffer = false
  /// The remainder has the divisor's sign.
  var modOfDivisor = false
  /// Casts in paths leave what is of another type.
  var castsKeepAll = false
  /// `$search` asks for pieces of all strings.
  var searchesPieces = false
  /// Options behind `/$ref` are not heeded.
  var ignoresReferenceOptions = false
  /// `$crossjoin` has the entities in line.
  var crossjoinsInLine = false
}

/// What a piece of a question means, as far as readings differ.
indirect enum QuestionMeaning: Sendable {
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
  /// `$search`, by the pieces that a reading asks for instead.
  case search(String)
  /// Options behind `/$ref`.
  case referenceOptions
  /// `$crossjoin` of the sets.
  case crossjoin([String])
}

extension QuestionNode {
  /// What asks for the same in the words of the standard, of a server that reads so.
  func text(_ reading: QuestionReading, isNegated: Bool = false) -> String {
    switch meaning {
    case .plain, .referenceOptions, .crossjoin, .search:
      let text = plain(reading)
      return isNegated ? "not (\(text))" : text
    case .negation: return node(1)?.text(reading, isNegated: !isNegated) ?? plain(reading)
    case .junction(let isAnd):
      guard let one = node(1), let other = node(3) else { return plain(reading) }
      // One of two is false, or both.
      let name = isAnd != isNegated ? "and" : "or"
      return "(\(one.text(reading, isNegated: isNegated)) \(name) \(other.text(reading, isNegated: isNegated)))"
    case .relation(let name): return relation(name, reading, isNegated)
    case .quantifier: return isNegated ? "not (\(plain(reading)))" : plain(reading)
    case .enumeration(let path, let name):
      guard reading.enumerationsDiffer else { return isNegated ? "not (\(plain(reading)))" : plain(reading) }
      if name == "has" { return isNegated ? "\(path) ne null" : "false" }
      return (name == "eq") == isNegated ? "true" : "false"
    case .remainder(let divisor):
      guard reading.modOfDivisor, let dividend = node(1)?.text(reading) else { return plain(reading) }
      let rest = "(\(dividend) mod \(divisor))"
      // One addition and no more: another remainder would round once again.
      return "case(\(rest) lt 0:\(rest) add \(divisor),true:\(rest))"
    }
  }

  private func relation(_ name: String, _ reading: QuestionReading, _ isNegated: Bool) -> String {
    let text = plain(reading)
    guard reading.nullRelations.contains(name), parts.count > 2 else { return isNegated ? "not (\(text))" : text }
    var all = [isNegated ? "not (\(text))" : "(\(text))"]
    for place in [0, 2] {
      let operand = QuestionNode.text(parts[place], reading)
      // Literals are not null, but for the one that is asked for.
      if operand == "null" { return isNegated ? "not (\(text))" : text }
      if operand.hasPrefix("(") && place == 2 && name == "in" { continue }
      if QuestionNode.isProperty(operand) { all.append("\(operand) ne null") }
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

  private func node(_ place: Int) -> QuestionNode? {
    guard parts.indices.contains(place), case .node(let node) = parts[place] else { return nil }
    return node
  }

  private func plain(_ reading: QuestionReading) -> String {
    switch meaning {
    case .search(let pieces) where reading.searchesPieces: return pieces
    case .referenceOptions where reading.ignoresReferenceOptions: return ""
    case .crossjoin(let names) where reading.crossjoinsInLine:
      let text = parts.map { QuestionNode.text($0, reading) }.joined()
      return text + (text.contains("?") ? "&" : "?") + "$expand=" + names.joined(separator: ",")
    default: return parts.map { QuestionNode.text($0, reading) }.joined()
    }
  }

  private static func text(_ part: Part, _ reading: QuestionReading) -> String {
    switch part {
    case .text(let text): return text
    case .node(let node): return node.text(reading)
    case .list(let list):
      let items = list.items.map { $0.text(reading) }.filter { !$0.isEmpty }
      return items.isEmpty ? "" : list.before + items.joined(separator: list.separator) + list.after
    }
  }
}
