/// Finds the name that a misspelt name most likely means: the one with the least Damerau-Levenshtein distance, ignoring
/// case.
///
/// Used only to describe errors. Names whose length differs too much are skipped, a distance beyond the best one is not
/// computed to its end, and no more than ``mostCandidates`` are compared.
package enum NearestName {
  /// The most names that are compared.
  static let mostCandidates = 20_000

  /// Returns the nearest of the candidates; nil if none is near: more than a third of the name's letters differ, or
  /// more than 4.
  package static func find(_ name: String, among candidates: some Sequence<String>) -> String? {
    let target = fold(name)
    guard !target.isEmpty, target.count <= 128 else { return nil }
    var best: (name: String, distance: Int)?
    var limit = min(4, max(1, target.count / 3))
    for candidate in candidates.prefix(mostCandidates) {
      guard abs(candidate.utf8.count - target.count) <= limit + 8 else { continue }
      let letters = fold(candidate)
      guard abs(letters.count - target.count) <= limit,
        let distance = distance(target, letters, limit: limit)
      else { continue }
      // Of equally near names, the first in alphabetical order: the result does not depend on the order of a
      // dictionary.
      guard let current = best, current.distance < distance || current.distance == distance && current.name <= candidate
      else {
        best = (candidate, distance)
        limit = distance
        continue
      }
    }
    return best?.name
  }

  private static func fold(_ name: String) -> [UInt32] { name.lowercased().unicodeScalars.map(\.value) }

  /// The number of insertions, deletions, replacements and swaps of neighbours that turn one name into the other; nil
  /// beyond the limit.
  static func distance(_ left: [UInt32], _ right: [UInt32], limit: Int) -> Int? {
    var before: [Int] = []
    var last = Array(0...right.count)
    for row in 0..<left.count {
      var current = [row + 1]
      current.reserveCapacity(right.count + 1)
      var least = row + 1
      for column in 0..<right.count {
        var cost = last[column] + (left[row] == right[column] ? 0 : 1)
        cost = min(cost, last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          cost = min(cost, before[column - 1] + 1)
        }
        current.append(cost)
        least = min(least, cost)
      }
      if least > limit { return nil }
      before = last
      last = current
    }
    let distance = last[right.count]
    return distance <= limit ? distance : nil
  }
}
