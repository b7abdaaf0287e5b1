// `groupby` (Data Aggregation 4.0 §3.2.3) and the paths of data aggregation.
extension SyntaxReader {
  /// Reads the parentheses of `groupby(…)` with their content.
  mutating func grouping() throws(ODataSyntaxError) -> ODataTransformation {
    try demand(UInt8(ascii: "("))
    skipSpace()
    let elements = try list { (reader) throws(ODataSyntaxError) in try reader.groupingElement() }
    skipSpace()
    try demand(UInt8(ascii: ")"))
    return .groupBy(elements, takeComma() ? try transformations() : [])
  }

  mutating func groupingElement() throws(ODataSyntaxError) -> ODataGroupingElement {
    if take(exact: "rollup(") { return try rollup() }
    guard take(exact: "rolluprecursive(") else { return .property(try groupingProperty()) }
    skipSpace()
    return try nested { (reader) throws(ODataSyntaxError) in
      let hierarchy = try reader.hierarchyReference()
      let sequence = reader.takeComma() ? try reader.transformations(onlyPreserving: true) : []
      reader.skipSpace()
      try reader.demand(UInt8(ascii: ")"))
      return .rollupRecursive(hierarchy, sequence)
    }
  }

  /// Reads `rollupLevels` (§3.2.3.2): the qualifier of a leveled hierarchy, or the properties of an unnamed one.
  /// `$all`, the level of all instances, may precede them; the standard had it until its second committee
  /// specification.
  private mutating func rollup() throws(ODataSyntaxError) -> ODataGroupingElement {
    skipSpace()
    let position = position
    let hasAll = take(exact: "$all")
    if hasAll { try comma() }
    var properties = try list { (reader) throws(ODataSyntaxError) in try reader.groupingProperty() }
    if hasAll { properties.insert(ODataPath([ODataPathSegment(.allEntities, at: position)], at: position), at: 0) }
    skipSpace()
    if properties.count == 1, let only = properties.first {
      guard only.segments.count == 1, case .name(let qualifier)? = only.segments.first?.kind else {
        throw unexpected("',' and another property")
      }
      try demand(UInt8(ascii: ")"))
      return .rollupHierarchy(qualifier)
    }
    try demand(UInt8(ascii: ")"))
    return .rollup(properties)
  }

  /// Reads `groupingProperty`: names and casts without keys and annotations, with a name at the end.
  mutating func groupingProperty() throws(ODataSyntaxError) -> ODataPath { try aggregationPath(mayEndWithCast: false) }

  /// Reads `[ cast "/" ] name *( [ "/" cast ] "/" name )`, optionally with a cast after the last name (ABNF
  /// `nestPath`).
  mutating func aggregationPath(mayEndWithCast: Bool) throws(ODataSyntaxError) -> ODataPath {
    let position = position
    var segments: [ODataPathSegment] = []
    var isAfterCast = false
    repeat {
      let place = self.position
      // A name must follow a cast: if a dot continues it, the error is at the dot.
      let (name, isQualified) = isAfterCast ? (try identifier(), false) : try qualifiedName()
      segments.append(ODataPathSegment(isQualified ? .qualifiedName(name) : .name(name), at: place))
      isAfterCast = isQualified
    } while take(UInt8(ascii: "/"))
    if isAfterCast, !mayEndWithCast || segments.count == 1 { throw unexpected("'/' and a property") }
    return ODataPath(segments, at: position)
  }
}
