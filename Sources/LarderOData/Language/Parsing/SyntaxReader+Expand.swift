// `$expand` (URL Conventions 4.01 §5.1.3; V2 URI Conventions §4.6).
extension SyntaxReader {
  /// The value of `$expand`.
  mutating func expandItems() throws(ODataSyntaxError) -> [ODataExpandItem] {
    try items { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.expandItem() }
  }

  /// `expandItem`
  mutating func expandItem() throws(ODataSyntaxError) -> ODataExpandItem {
    let position = position
    if dialect == .v4, peek == UInt8(ascii: "$") {
      guard take(word: "$value") else { throw unexpected("$value", "a navigation property", "'*'") }
      return ODataExpandItem(ODataPath([ODataPathSegment(.value, at: position)], at: position))
    }
    return try expandPath(at: position)
  }

  private mutating func expandPath(at position: SourcePosition) throws(ODataSyntaxError) -> ODataExpandItem {
    var segments: [ODataPathSegment] = []
    while true {
      let place = self.position
      if dialect == .v4, take(UInt8(ascii: "*")) {
        segments.append(ODataPathSegment(.star, at: place))
        return try star(segments, at: position)
      }
      if peek == UInt8(ascii: "$"), let last = try referenceStep(after: segments) {
        segments.append(last.step)
        let options = peek == UInt8(ascii: "(") ? try parenthesizedOptions(last.place) : ODataQueryOptions()
        return ODataExpandItem(ODataPath(segments, at: position), options: options)
      }
      segments.append(try listStep(after: segments, segments.isEmpty ? "a navigation property" : "a property"))
      if peek == UInt8(ascii: "("), dialect == .v4, endsWithProperty(segments) {
        return ODataExpandItem(ODataPath(segments, at: position), options: try parenthesizedOptions(.expand))
      }
      guard take(UInt8(ascii: "/")) else { break }
    }
    guard endsWithProperty(segments) else { throw unexpected("'/' and a navigation property of the type") }
    return ODataExpandItem(ODataPath(segments, at: position))
  }

  /// Whether a path ends with a property or annotation, with or without a cast.
  private func endsWithProperty(_ segments: [ODataPathSegment]) -> Bool {
    func isType(_ segment: ODataPathSegment) -> Bool {
      if case .qualifiedName = segment.kind { true } else { false }
    }
    guard let last = segments.last else { return false }
    return !isType(last) || segments.dropLast().last.map { !isType($0) } ?? false
  }

  /// `*`, `*/$ref` or `*($levels=…)`.
  private mutating func star(
    _ segments: [ODataPathSegment], at position: SourcePosition
  ) throws(ODataSyntaxError) -> ODataExpandItem {
    var segments = segments
    if peek == UInt8(ascii: "(") {
      return ODataExpandItem(ODataPath(segments, at: position), options: try parenthesizedOptions(.expandStar))
    }
    if hasWord("/$ref", at: index, anyCase: false) {
      index += 1
      let place = self.position
      index += 4
      segments.append(ODataPathSegment(.ref, at: place))
    }
    return ODataExpandItem(ODataPath(segments, at: position))
  }

  /// Reads `$ref` or `$count` after a navigation property.
  private mutating func referenceStep(
    after segments: [ODataPathSegment]
  ) throws(ODataSyntaxError) -> (step: ODataPathSegment, place: OptionPlace)? {
    guard dialect == .v4, endsWithProperty(segments) else { return nil }
    let position = position
    if take(exact: "$ref") { return (ODataPathSegment(.ref, at: position), .expandRef) }
    guard take(exact: "$count") else { throw unexpected("$ref", "$count", "a property") }
    return (ODataPathSegment(.count(nil), at: position), .expandCount)
  }
}
