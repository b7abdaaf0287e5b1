import LarderOData

/// An object that a question has made: its members by name, in the order in which they came.
struct ComputedRow {
  private var members: [String: Scope] = [:]
  private(set) var names: [String] = []
  /// The text of ``ReadMember/Kind/complex(_:_:)``: NULL in rows that have no such object. nil where all have it.
  var marker: SQLText?
  /// Members that not all rows have: the numbers of the kinds that do.
  var kinds: [String: Set<Int>] = [:]
  /// What tells the kinds of rows apart; nil where there is one.
  var kind: Kind?
  /// Entities that the answer shows in line; of others it shows the link.
  var inLine: Set<String> = []

  /// Rows of several kinds, some of which lack members.
  struct Kind {
    /// The number of a row's kind, from 0.
    var number: SQLText
    var count: Int
  }

  var isEmpty: Bool { names.isEmpty }

  /// The names of properties, in their order; what only the question knows has others.
  var shown: [String] { names.filter { !$0.contains(" ") } }

  /// A member; a new one comes last.
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
