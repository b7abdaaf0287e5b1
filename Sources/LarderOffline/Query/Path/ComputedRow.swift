import LarderOData

/// A row that a query has computed: its members by name, in the order in which they were added.
struct ComputedRow {
  private var members: [String: Scope] = [:]
  private(set) var names: [String] = []
  /// The text of the marker of ``ReadMember/Kind/complex(_:_:)``: it is NULL in rows that have no such object. Nil if
  /// all rows have one.
  var marker: SQLText?
  /// The members that not all rows have, with the numbers of the kinds that do.
  var kinds: [String: Set<Int>] = [:]
  /// The kind of a row; nil if there is only one.
  var kind: Kind?
  /// The names of entities that the result shows inline; for others it shows the link.
  var inLine: Set<String> = []

  /// Tells rows of several kinds apart, if some kinds lack members.
  struct Kind {
    /// The kind's number, from 0.
    var number: SQLText
    var count: Int
  }

  var isEmpty: Bool { names.isEmpty }

  /// The names of properties, in their order. Members that only the query uses have names with a space.
  var shown: [String] { names.filter { !$0.contains(" ") } }

  /// The member with a name; a new member is added at the end.
  subscript(name: String) -> Scope? {
    get { members[name] }
    set {
      if newValue == nil {
        names.removeAll { $0 == name }
      } else if members[name] == nil {
        names.append(name)
      }
      members[name] = newValue
    }
  }
}

extension ComputedRow: ExpressibleByDictionaryLiteral {
  init(dictionaryLiteral elements: (String, Scope)...) {
    for (name, scope) in elements { self[name] = scope }
  }
}
