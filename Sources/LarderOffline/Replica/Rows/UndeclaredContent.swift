import LarderOData

/// What a response contains and the model does not declare. It is not stored: the metadata may be older than the
/// service's model, or incomplete.
struct UndeclaredContent: Sendable, Hashable {
  /// The numbers of values, by the paths of their properties: `Orders/Extra`.
  var properties: [String: Int64] = [:]
  /// The numbers of entities, by the names of their types. They are stored as entities of the declared type.
  var types: [String: Int64] = [:]

  /// The maximum number of names of each kind. Values and entities with further names are not counted: a service may use
  /// data as names.
  static let nameLimit = 1000

  mutating func add(_ others: UndeclaredContent) {
    for (path, count) in others.properties { Self.add(count, path, to: &properties) }
    for (name, count) in others.types { Self.add(count, name, to: &types) }
  }

  static func add(_ count: Int64, _ name: String, to counts: inout [String: Int64]) {
    guard counts.count < nameLimit || counts[name] != nil else { return }
    counts[name, default: 0] += count
  }

  /// Names with their numbers as text; further names are counted after the first ones.
  static func list(_ counts: [String: Int64], of thing: (one: String, many: String)) -> String {
    let sorted = counts.sorted { $0.key < $1.key }
    let shown = sorted.prefix(20).map { "\($0.key) (\($0.value) \($0.value == 1 ? thing.one : thing.many))" }
    let rest = sorted.count - shown.count
    return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }
}

extension PageRows {
  /// Counts a value of a property that the model does not declare.
  mutating func noteUndeclared(_ name: String, _ top: Int) {
    guard top >= 0, frames[top].map >= 0 else { return }
    let map = maps[frames[top].map]
    let path = ([map.table.name] + map.prefix + [name]).joined(separator: "/")
    UndeclaredContent.add(1, path, to: &undeclared.properties)
  }
}
