/// A part of a query's text, with the parts that it consists of, so that a query can be reduced and stays valid.
struct QueryNode: Sendable {
  /// The role of the part.
  var role: Role
  /// The parts that it consists of, in order.
  var parts: [Part]
  /// The meaning of the part, if servers may interpret it differently.
  var meaning = QueryMeaning.plain

  enum Role: Sendable, Hashable {
    /// An expression that is true or false: any part of it that is one too may stand in its place.
    case truth
    /// An expression of a kind of values, likewise.
    case value(ValueKind)
    /// `$orderby`, with the options that make sense only together with it.
    case order
    /// The options of a navigation property in `$expand`, by its path.
    case expand(String)
    case plain
  }

  indirect enum Part: Sendable {
    case text(String)
    case node(QueryNode)
    case list(List)
  }

  /// Pieces of which some may go.
  struct List: Sendable {
    var before = ""
    var separator = ","
    var after = ""
    /// How many must stay.
    var minimum = 1
    var items: [QueryNode]
  }

  init(_ role: Role, _ parts: [Part], _ meaning: QueryMeaning = .plain) {
    self.role = role
    self.parts = parts
    self.meaning = meaning
  }

  /// A condition on two operands.
  static func relation(_ left: Part, _ name: String, _ right: Part) -> QueryNode {
    QueryNode(.truth, [left, .text(" \(name) "), right], .relation(name))
  }

  init(_ parts: [Part]) { self.init(.plain, parts) }
  init(_ role: Role, _ text: String) { self.init(role, [.text(text)]) }
  init(_ text: String) { self.init(.plain, [.text(text)]) }

  /// The text, not yet percent-encoded but for literals.
  var text: String {
    parts.map { part in
      switch part {
      case .text(let text): return text
      case .node(let node): return node.text
      case .list(let list):
        guard !list.items.isEmpty else { return "" }
        return list.before + list.items.map(\.text).joined(separator: list.separator) + list.after
      }
    }.joined()
  }

  /// The paths of the collections that the query orders: empty for the outermost.
  func ordered(_ path: String = "") -> Set<String> {
    var path = path
    if case .expand(let name) = role { path = path.isEmpty ? name : "\(path)/\(name)" }
    var paths: Set<String> = role == .order ? [path] : []
    for part in parts {
      switch part {
      case .text: break
      case .node(let node): paths.formUnion(node.ordered(path))
      case .list(let list): for item in list.items { paths.formUnion(item.ordered(path)) }
      }
    }
    return paths
  }

  /// Every tree that has one piece less.
  func smaller() -> [QueryNode] {
    var all: [QueryNode] = []
    switch (role, meaning) {
    // Conditions on a lambda's variable are not valid outside of it.
    case (_, .quantifier): break
    case (.truth, _), (.value, _): all += inner(role)
    default: break
    }
    for (index, part) in parts.enumerated() {
      for changed in QueryNode.smaller(part) {
        var copy = self
        copy.parts[index] = changed
        all.append(copy)
      }
    }
    return all
  }

  private static func smaller(_ part: Part) -> [Part] {
    switch part {
    case .text: return []
    case .node(let node): return node.smaller().map(Part.node)
    case .list(let list):
      var all: [Part] = []
      if list.items.count > list.minimum {
        for index in list.items.indices {
          var copy = list
          copy.items.remove(at: index)
          all.append(.list(copy))
        }
      }
      for (index, item) in list.items.enumerated() {
        for changed in item.smaller() {
          var copy = list
          copy.items[index] = changed
          all.append(.list(copy))
        }
      }
      return all
    }
  }

  /// The nearest pieces below that have a role.
  private func inner(_ wanted: Role) -> [QueryNode] {
    parts.flatMap { part -> [QueryNode] in
      switch part {
      case .text: return []
      case .node(let node): return node.role == wanted ? [node] : node.inner(wanted)
      case .list(let list): return list.items.flatMap { $0.role == wanted ? [$0] : $0.inner(wanted) }
      }
    }
  }
}

/// One generated query.
struct GeneratedQuery: Sendable {
  var root: QueryNode

  /// From the service's root, percent-encoded as requests need it.
  var path: String { GeneratedQuery.encoded(root.text) }

  /// The path of the query as a server with this interpretation evaluates it.
  func path(_ interpretation: QueryInterpretation) -> String { GeneratedQuery.encoded(root.text(interpretation)) }

  private static func encoded(_ query: String) -> String {
    var text = ""
    for byte in query.utf8 {
      switch byte {
      case 0x20: text += "%20"
      case 0x22, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7B...0x7D, 0x80...: text += QueryLiteral.escaped(byte)
      default: text.unicodeScalars.append(Unicode.Scalar(byte))
      }
    }
    return text
  }
}
