// V2 uses paths for V4's nested options: `$expand=A/B,C&$select=Name,A/Name` is
// `$expand=A($expand=B;$select=Name),C&$select=Name` (OData V2 URI Conventions §4.6, §4.8).
extension Binding {
  func nestedV2(
    _ given: ODataQueryOptions, on instance: Instance
  ) throws(ODataBindingError) -> (expand: [ODataExpandItem], select: [ODataSelectItem]) {
    var expand: [ODataExpandItem] = []
    var places: [[ODataPathSegment]: Int] = [:]
    for item in given.expand {
      let head = headCount(item.path.segments)
      let first = Array(item.path.segments[..<head])
      let place = places[first] ?? expand.endIndex
      if place == expand.endIndex {
        places[first] = place
        expand.append(ODataExpandItem(ODataPath(first, at: item.path.position)))
      }
      guard head < item.path.segments.count else {
        // A query that was built in Swift may have options here: they belong to the end of the path.
        if !item.options.isEmpty { merge(item.options, into: &expand[place].options) }
        continue
      }
      let rest = ODataPath(Array(item.path.segments[head...]), at: item.path.segments[head].position)
      expand[place].options.expand.append(ODataExpandItem(rest, options: item.options))
    }
    var select: [ODataSelectItem] = []
    for item in given.select {
      let segments = item.path.segments
      let head = headCount(segments)
      guard head < segments.count, isNavigation(segments[head - 1], instance) else {
        select.append(item)
        continue
      }
      let first = Array(segments[..<head])
      guard let place = places[first] else {
        throw error(
          .misplacedStep(
            "a further step", behind: "a navigation property that $expand does not name", reason: "expand it"),
          at: segments[head].position)
      }
      let rest = ODataPath(Array(segments[head...]), at: segments[head].position)
      expand[place].options.select.append(ODataSelectItem(rest, options: item.options))
    }
    return (expand, select)
  }

  private func merge(_ options: ODataQueryOptions, into other: inout ODataQueryOptions) {
    let expand = other.expand
    let select = other.select
    other = options
    other.expand = expand + options.expand
    other.select = select + options.select
  }

  /// The number of segments up to the first name: casts may precede it.
  private func headCount(_ segments: [ODataPathSegment]) -> Int {
    var count = 0
    for segment in segments {
      count += 1
      guard case .qualifiedName = segment.kind else { break }
    }
    return count
  }

  private func isNavigation(_ segment: ODataPathSegment, _ instance: Instance) -> Bool {
    guard case .name(let name) = segment.kind, let structure = instance.type.structure else { return false }
    if case .navigation? = self.member(name, of: structure) { return true }
    return false
  }
}
