/// The steps that may follow a step of a resource path, as far as the grammar defines it without the model (ABNF
/// section 1).
struct PathFollowers: OptionSet, Sendable {
  let rawValue: UInt16

  /// `/Name`
  static let name = PathFollowers(rawValue: 1)
  /// `/Ns.Name`: a type or an operation.
  static let qualified = PathFollowers(rawValue: 2)
  /// `/1`: a part of a key, or an ordinal.
  static let text = PathFollowers(rawValue: 4)
  /// `(…)`
  static let key = PathFollowers(rawValue: 8)
  static let count = PathFollowers(rawValue: 16)
  static let ref = PathFollowers(rawValue: 32)
  static let value = PathFollowers(rawValue: 64)
  static let each = PathFollowers(rawValue: 128)
  static let filter = PathFollowers(rawValue: 256)
  static let query = PathFollowers(rawValue: 512)
  /// `/$links`, V1 to V3.
  static let links = PathFollowers(rawValue: 1024)

  /// After a name, which may be anything.
  static let afterName: PathFollowers = [
    .name, .qualified, .text, .key, .count, .ref, .value, .each, .filter, .query, .links,
  ]
  /// After arguments that may be those of a function.
  static let afterParameters = afterName
  /// After a key in parentheses: an entity.
  static let afterKey: PathFollowers = [.name, .qualified, .ref, .value, .query, .links]
  /// After a part of a key as a segment: the entity, or the next part.
  static let afterText: PathFollowers = [.name, .qualified, .text, .ref, .value, .query, .links]
  /// After `$filter(…)`: a collection.
  static let afterFilter: PathFollowers = [.name, .qualified, .text, .key, .count, .ref, .each, .filter, .query]
  /// After `$each`: an operation.
  static let afterEach: PathFollowers = [.name, .qualified]
  /// After `$links`: a navigation property.
  static let afterLinks: PathFollowers = [.name]
  /// After the navigation property of `$links`.
  static let afterLinkedName: PathFollowers = [.key, .count]

  /// The steps that begin with `$`.
  static let reserved: [(word: StaticString, follower: PathFollowers)] = [
    ("$count", .count), ("$ref", .ref), ("$value", .value), ("$each", .each), ("$query", .query), ("$links", .links),
    ("$filter", .filter),
  ]

  /// Whether only a word with `$` may follow: then the "/" is a part of it.
  var isWord: Bool { isDisjoint(with: [.name, .qualified, .text]) }

  /// The steps that may follow a `/`, in words.
  var expected: [String] {
    var words: [String] = []
    if contains(.name) { words.append("a name") }
    if contains(.text) { words.append("a key") }
    if !contains(.name), contains(.qualified) { words.append("a qualified name") }
    for (word, follower) in PathFollowers.reserved where contains(follower) { words.append("\(word)") }
    return words
  }
}
