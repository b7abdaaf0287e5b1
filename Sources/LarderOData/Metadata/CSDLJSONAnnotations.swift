/// Collects the annotations of one JSON object: `@A`, `@A@B` and `@A#Q` may come in any order.
struct CSDLJSONAnnotations {
  private struct Entry {
    let term: String
    let qualifier: String?
    var value: EdmExpression?
    /// The annotations on the annotation: an array of one element at most.
    var nested: [CSDLJSONAnnotations] = []
  }

  private var entries: [Entry] = []
  private var indexByStep: [Substring: Int] = [:]

  /// Adds a value under the steps of its name; the last step is the annotation that it belongs to.
  mutating func enter(_ steps: ArraySlice<Substring>, _ value: EdmExpression) {
    guard let step = steps.first else { return }
    let index = indexByStep[step] ?? entries.count
    if index == entries.count {
      let parts = step.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
      entries.append(Entry(term: String(parts[0]), qualifier: parts.count > 1 ? String(parts[1]) : nil))
      indexByStep[step] = index
    }
    if steps.count == 1 {
      entries[index].value = value
    } else {
      if entries[index].nested.isEmpty { entries[index].nested.append(CSDLJSONAnnotations()) }
      entries[index].nested[0].enter(steps.dropFirst(), value)
    }
  }

  /// The annotations in their order.
  var annotations: [EdmAnnotation] {
    entries.map { entry in
      var annotation = EdmAnnotation(term: entry.term, qualifier: entry.qualifier, expression: entry.value)
      annotation.annotations = entry.nested.first?.annotations ?? []
      return annotation
    }
  }
}
