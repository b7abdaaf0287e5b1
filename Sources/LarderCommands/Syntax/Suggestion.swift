/// Suggests a known word for a mistyped one.
enum Suggestion {
  /// `Did you mean '--cache'?`, or nil if no candidate is similar.
  static func hint(for word: String, among candidates: [String]) -> String? {
    nearest(to: word, among: candidates).map { "Did you mean '\($0)'?" }
  }

  /// The candidate with the fewest edits, if they are few for its length. Case does not count as an edit.
  static func nearest(to word: String, among candidates: [String]) -> String? {
    // A word this long is not a typing error, and the comparison costs the product of the lengths.
    guard word.utf8.count <= 64 else { return nil }
    var best: (candidate: String, edits: Int)?
    for candidate in candidates {
      let edits = distance(Array(word.lowercased().utf8), Array(candidate.lowercased().utf8))
      if edits < best?.edits ?? .max { best = (candidate, edits) }
    }
    guard let best, best.edits <= max(1, best.candidate.utf8.count / 3) else { return nil }
    return best.candidate
  }

  /// The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
  static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for i in left.indices {
      var row = [i + 1]
      for j in right.indices {
        var edits = min(last[j + 1] + 1, row[j] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
          edits = min(edits, beforeLast[j - 1] + 1)
        }
        row.append(edits)
      }
      beforeLast = last
      last = row
    }
    return last[right.count]
  }
}
