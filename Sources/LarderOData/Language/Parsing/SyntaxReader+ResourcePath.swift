// Resource paths (URL Conventions 4.01 §4; ABNF section 1, `resourcePath`; V2 URI Conventions §3).
extension SyntaxReader {
  /// Reads a resource path, up to a `?` or `#` that is not encoded.
  mutating func resourcePath() throws(ODataSyntaxError) -> ODataPath {
    let position = position
    var path = PathProgress()
    if peek == UInt8(ascii: "$"), !isEncoded(index) {
      try firstReservedStep(of: &path)
    } else {
      let place = self.position
      // V1 to V3 have the container's name before sets of containers other than the default one.
      let name =
        dialect == .v2
        ? try qualifiedName("the name of an entity set").name : try identifier("the name of an entity set")
      path.add(.name(name), at: place, then: .afterName)
    }
    try steps(of: &path)
    return ODataPath(path.segments, at: position)
  }

  /// Reads the rest of a path, at least one step, beginning with one of the given followers.
  mutating func restOfPath(_ followers: PathFollowers) throws(ODataSyntaxError) -> ODataPath {
    let position = position
    let start = index
    var path = PathProgress()
    path.followers = followers
    try steps(of: &path)
    guard index > start else {
      throw unexpected(followers == .key ? "'('" : "'/'")
    }
    return ODataPath(path.segments, at: position)
  }

  private mutating func steps(of path: inout PathProgress) throws(ODataSyntaxError) {
    while true {
      if peek == UInt8(ascii: "("), path.followers.contains(.key) {
        try pathArguments(of: &path)
      } else if peek == UInt8(ascii: "/"), !isEncoded(index), !isAtEnd, !path.followers.subtracting(.key).isEmpty {
        index += 1
        try pathStep(of: &path)
      } else {
        break
      }
    }
  }

  /// The steps read so far, and the steps that may follow.
  private struct PathProgress {
    var segments: [ODataPathSegment] = []
    var followers: PathFollowers = []

    mutating func add(_ kind: ODataPathSegment.Kind, at position: SourcePosition, then followers: PathFollowers) {
      segments.append(ODataPathSegment(kind, at: position))
      self.followers = followers
    }

    var isAfterLinks: Bool { if case .links? = segments.last?.kind { true } else { false } }
  }

  /// `$crossjoin(…)` or `$all`
  private mutating func firstReservedStep(of path: inout PathProgress) throws(ODataSyntaxError) {
    let position = position
    if take(exact: "$all") {
      path.add(.allEntities, at: position, then: [.name, .qualified])
      return
    }
    guard take(exact: "$crossjoin") else { throw unexpected("the name of an entity set", "$all", "$crossjoin(") }
    try demand(UInt8(ascii: "("))
    let names = try items { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      try reader.identifier("the name of an entity set")
    }
    guard take(UInt8(ascii: ")")) else { throw unexpected("','", "')'") }
    path.add(.crossjoin(names), at: position, then: .query)
  }

  /// Reads `(…)`. A single value without a name is a key; without arguments, or with named ones, it may be a call.
  private mutating func pathArguments(of path: inout PathProgress) throws(ODataSyntaxError) {
    let start = index
    let segment = try arguments(inExpression: false)
    guard case .arguments(let arguments) = segment.kind else { return }
    let isCall: Bool
    switch path.segments.last?.kind {
    case .name, .qualifiedName: isCall = true
    default: isCall = false
    }
    // It is a key, which cannot be empty.
    guard isCall || !arguments.isEmpty else { throw error(.unexpected(expected: ["a key"]), at: start + 1) }
    if arguments.count > 1 { try checkNames(arguments, from: start) }
    let isKey = !isCall || arguments.first.map { $0.name == nil } ?? false
    if isKey, arguments.contains(where: { $0.value.kind == .literal(.null) }) {
      throw error(.unexpected(expected: ["a value (a key cannot contain null)"]), at: index - 1)
    }
    let isLinked = path.followers == .afterLinkedName
    path.segments.append(segment)
    path.followers = isLinked ? .count : isKey ? .afterKey : .afterParameters
  }

  /// Checks that a key of several parts names each of them.
  private mutating func checkNames(_ arguments: [ODataArgument], from start: Int) throws(ODataSyntaxError) {
    guard let first = arguments.firstIndex(where: { $0.name == nil }) else { return }
    if first > 0, let place = arguments[first].value.position.offset {
      throw ODataSyntaxError(.unexpected(expected: ["a name and '='"]), offset: place, in: text)
    }
    index = start + 1
    skipSpace()
    if take(UInt8(ascii: "@")) { _ = try identifier() } else { _ = try primitiveLiteral() }
    throw unexpected("')' (a key with several parts needs their names)")
  }

  /// Reads the step after a `/`.
  private mutating func pathStep(of path: inout PathProgress) throws(ODataSyntaxError) {
    let position = position
    if peek == UInt8(ascii: "$"), !isEncoded(index) {
      try reservedStep(of: &path)
      return
    }
    let start = index
    let isFirstType = path.segments.count == 1 && path.segments.first?.kind == .allEntities
    index = endOfIdentifier(at: index)
    var isQualified = false
    while index > start, peek == UInt8(ascii: "."), case let last = endOfIdentifier(at: index + 1), last > index + 1 {
      isQualified = true
      index = last
    }
    guard index > start, isAtEndOfSegment || peek == UInt8(ascii: "(") else {
      try textStep(from: start, of: &path)
      return
    }
    let name = string(start..<index)
    guard path.followers.contains(isQualified ? .qualified : .name) else {
      throw error(.unexpected(expected: path.followers.expected), at: path.followers.isWord ? start - 1 : start)
    }
    if isFirstType {
      path.add(isQualified ? .qualifiedName(name) : .name(name), at: position, then: [])
    } else if isQualified {
      try qualifiedStep(name, at: position, of: &path)
    } else {
      path.add(.name(name), at: position, then: path.isAfterLinks ? .afterLinkedName : .afterName)
    }
  }

  /// Reads a type or an operation. After a type without arguments, the next qualified name is an operation, as one name
  /// cannot be both.
  private func qualifiedStep(
    _ name: String, at position: SourcePosition, of path: inout PathProgress
  ) throws(ODataSyntaxError) {
    guard case .qualifiedName(let before)? = path.segments.last?.kind else {
      path.add(.qualifiedName(name), at: position, then: .afterName)
      return
    }
    guard before != name || peek == UInt8(ascii: "(") else {
      throw error(.unexpected(expected: ["'(' (a type cannot be cast to itself)"]))
    }
    path.add(.qualifiedName(name), at: position, then: [.query, .key])
  }

  /// Whether the position is the end of a segment.
  private var isAtEndOfSegment: Bool {
    isAtEnd
      || !isEncoded(index)
        && (peek == UInt8(ascii: "/") || peek == UInt8(ascii: "?") || peek == UInt8(ascii: "#"))
  }

  /// Reads a segment that is not a name: a key, or an ordinal.
  private mutating func textStep(from start: Int, of path: inout PathProgress) throws(ODataSyntaxError) {
    let stop = index
    guard path.followers.contains(.text) else {
      throw error(
        .unexpected(expected: stop > start ? ["'/'", "'('"] : path.followers.expected),
        at: path.followers.isWord ? start - 1 : stop)
    }
    while !isAtEnd, isPathCharacter(at: index) { index += 1 }
    // The grammar allows an empty key; at the end of a path it has no meaning.
    if index == start, isAtEnd || isAtEndOfSegment && peek != UInt8(ascii: "/") { return }
    guard index > start else { throw unexpected("a name", "a key") }
    guard isAtEndOfSegment else { throw unexpected("'/'") }
    let text = string(start..<index)
    guard text != ".", text != ".." else {
      throw error(.unexpected(expected: ["a name or a key ('.' and '..' must be resolved first)"]), at: start)
    }
    path.add(.text(text), at: SourcePosition(offset: offset(of: start)), then: .afterText)
  }

  /// Reads `$count`, `$value` and the other steps with `$`.
  private mutating func reservedStep(of path: inout PathProgress) throws(ODataSyntaxError) {
    let position = position
    let allowed = path.followers.subtracting(dialect == .v2 ? [.filter, .each, .query, .ref] : .links)
    for (word, follower) in PathFollowers.reserved
    where allowed.contains(follower) && hasWord(word, at: index, anyCase: false) {
      let last = index + word.utf8CodeUnitCount
      switch follower {
      case .filter:
        guard last < end, bytes[last] == UInt8(ascii: "(") else {
          throw error(.unexpected(expected: ["'('"]), at: last)
        }
        let segment = try filterStep(at: position)
        path.segments.append(segment)
        path.followers = .afterFilter
        return
      case .count: path.add(.count(nil), at: position, then: [])
      case .ref: path.add(.ref, at: position, then: [])
      case .value: path.add(.value, at: position, then: [])
      case .query: path.add(.query, at: position, then: [])
      case .each: path.add(.each, at: position, then: .afterEach)
      default: path.add(.links, at: position, then: .afterLinks)
      }
      index = last
      return
    }
    throw error(.unexpected(expected: allowed.expected), at: allowed.isWord ? index - 1 : index)
  }
}
