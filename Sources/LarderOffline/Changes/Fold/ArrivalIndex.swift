/// Uncertain creations of one table, found by the content of a downloaded row. This type does no I/O.
///
/// Creations that set the same columns share a dictionary by the values of these. So a search takes one look-up for each
/// set of columns, whatever the number of creations is.
struct ArrivalIndex {
  struct Creation: Hashable, Sendable {
    let request: Int64
    /// The first identity that was given to a row after the creation was first sent.
    let newcomers: Int64
  }

  /// Creations with equal content, in the order in which they were first sent.
  private struct EqualCreations {
    var creations: [Creation] = []
    var next = 0

    /// The first creation that no row has been found for, if it was sent before a row was added.
    mutating func first(before row: Int64, but matched: Set<Int64>) -> Creation? {
      while next < creations.count, matched.contains(creations[next].request) { next += 1 }
      return next < creations.count && creations[next].newcomers <= row ? creations[next] : nil
    }
  }

  private struct Shape {
    let columns: [String]
    var creations: [[ComparedValue]: EqualCreations]
  }

  private var shapes: [Shape] = []
  private var matched: Set<Int64> = []
  private let count: Int
  /// The columns that the creations set, in the order of their names.
  let columns: [String]

  /// - Parameter creations: each with its possible contents: the values by column.
  init(_ creations: [(creation: Creation, contents: Set<[String: ComparedValue]>)]) {
    var index: [[String]: [[ComparedValue]: EqualCreations]] = [:]
    var indexed: Set<Int64> = []
    let inOrder = creations.sorted {
      ($0.creation.newcomers, $0.creation.request) < ($1.creation.newcomers, $1.creation.request)
    }
    for (creation, contents) in inOrder {
      for content in contents where !content.isEmpty {
        let columns = content.keys.sorted()
        let values = columns.compactMap { content[$0] }
        index[columns, default: [:]][values, default: EqualCreations()].creations.append(creation)
        indexed.insert(creation.request)
      }
    }
    // A row belongs to a creation that agrees in many values rather than to one that agrees in few.
    shapes = index.map { Shape(columns: $0, creations: $1) }.sorted {
      $0.columns.count == $1.columns.count
        ? $0.columns.lexicographicallyPrecedes($1.columns) : $0.columns.count > $1.columns.count
    }
    columns = Set(index.keys.joined()).sorted()
    count = indexed.count
  }

  /// Whether a row has been matched for each creation that has content.
  var isDone: Bool { matched.count == count }

  /// The creation with the content of a row, for which no other row has been matched; nil if there is none. Rows are
  /// passed in the order of their identities.
  mutating func creation(of row: Int64, _ values: [String: ComparedValue]) -> Creation? {
    for place in shapes.indices {
      let key = shapes[place].columns.compactMap { values[$0] }
      guard let creation = shapes[place].creations[key]?.first(before: row, but: matched) else { continue }
      matched.insert(creation.request)
      return creation
    }
    return nil
  }
}
