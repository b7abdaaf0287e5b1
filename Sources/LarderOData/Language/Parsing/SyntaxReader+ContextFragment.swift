// Fragments of context URLs (ABNF section 3; Protocol 4.01 §10). Percent-encoding is decoded in names and keys; the `#`
// of an annotation's qualifier and the `+` after an expanded property are never encoded.
extension SyntaxReader {
  /// `context`: the fragment with its `#`.
  mutating func context() throws(ODataSyntaxError) -> ODataContextFragment {
    guard take(plain: UInt8(ascii: "#")) else { throw unexpected("'#'") }
    return try contextFragment()
  }

  /// `contextFragment`
  mutating func contextFragment() throws(ODataSyntaxError) -> ODataContextFragment {
    let position = position
    if take(exact: "$ref") { return ODataContextFragment(path: ODataPath([], at: position), item: "$ref") }
    if hasWord("Collection(", at: index, anyCase: false) { return try contextCollection() }
    var fragment = ODataContextFragment(path: ODataPath([], at: position))
    let (name, isQualified) = try qualifiedName("the name of a set, singleton or type")
    fragment.path.segments.append(ODataPathSegment(isQualified ? .qualifiedName(name) : .name(name), at: position))
    if isQualified {
      if peek == UInt8(ascii: "(") { fragment.selectList = try selectList() }
      return fragment
    }
    try contextPath(&fragment)
    return fragment
  }

  /// Reads `Collection(…)`; a type of the model can have a select list.
  private mutating func contextCollection() throws(ODataSyntaxError) -> ODataContextFragment {
    let position = position
    index += 11
    var fragment = ODataContextFragment(path: ODataPath([], at: position))
    if take(exact: "$ref") {
      fragment.collectionOf = "$ref"
      try demand(UInt8(ascii: ")"))
      return fragment
    }
    let (name, isQualified) = try qualifiedName("'$ref' or the qualified name of a type")
    guard isQualified else { throw unexpected("'.' and the rest of a type's name") }
    try demand(UInt8(ascii: ")"))
    fragment.collectionOf = name
    if name != "Edm.EntityType", name != "Edm.ComplexType", peek == UInt8(ascii: "(") {
      fragment.selectList = try selectList()
    }
    return fragment
  }

  /// Reads the steps after the name of a set or singleton.
  private mutating func contextPath(_ fragment: inout ODataContextFragment) throws(ODataSyntaxError) {
    while true {
      if peek == UInt8(ascii: "(") {
        guard isAtContextKey else {
          fragment.selectList = try selectList()
          let slash = index
          if take(plain: UInt8(ascii: "/")) { fragment.item = try contextItem(["$entity", "$delta"], at: slash) }
          return
        }
        let start = index
        let key = try arguments(inExpression: false)
        if case .arguments(let parts) = key.kind, parts.isEmpty {
          throw error(.unexpected(expected: ["a key, or ')'"]), at: start + 1)
        }
        fragment.path.segments.append(key)
      }
      let isAfterKey = fragment.path.segments.last?.kind.isKeyOfContext ?? false
      guard take(plain: UInt8(ascii: "/")) else {
        if isAfterKey { throw unexpected("'/' and a property") }
        return
      }
      if peek == UInt8(ascii: "$") {
        if isAfterKey { throw unexpected("a property") }
        // A key may begin in the same way.
        let last = (index..<end).first { !isEncoded($0) && !isCharacterOfKey(bytes[$0]) } ?? end
        fragment.item = try contextItem(["$entity", "$delta", "$deletedEntity", "$link", "$deletedLink"], at: last)
        return
      }
      fragment.path.segments.append(try contextStep(after: fragment.path.segments.last))
    }
  }

  /// Reads a property, a type, or a key as a segment.
  private mutating func contextStep(after last: ODataPathSegment?) throws(ODataSyntaxError) -> ODataPathSegment {
    let position = position
    let start = index
    if endOfIdentifier(at: index) > index {
      let isAfterType = if case .qualifiedName? = last?.kind { true } else { false }
      let (name, isQualified) = isAfterType ? (try identifier(), false) : try qualifiedName()
      if isAtEnd || peek == UInt8(ascii: "/") || peek == UInt8(ascii: "(") {
        return ODataPathSegment(isQualified ? .qualifiedName(name) : .name(name), at: position)
      }
      guard !isAfterType, !isQualified else { throw unexpected("'/'") }
    }
    // ABNF `keyPathLiteral`: characters of a path's segment, a "/" only encoded.
    index = start
    while !isAtEnd, isEncoded(index) || isCharacterOfKey(peek) { index += 1 }
    guard index > start else { throw unexpected("a property, a type or a key") }
    return ODataPathSegment(.text(string(start..<index)), at: position)
  }

  private func isCharacterOfKey(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...: true
    default: "-._~!$&'*+,;=:@".utf8.contains(byte)
    }
  }

  /// Reads one of several words. If no other step is allowed there, the position of an error is the "/".
  private mutating func contextItem(_ allowed: [StaticString], at place: Int) throws(ODataSyntaxError) -> String {
    for word in allowed where take(exact: word) { return "\(word)" }
    throw error(.unexpected(expected: allowed.map { "'\($0)'" }), at: place)
  }

  /// Whether the next parenthesis opens a key. A select list comes last, or before `/$entity` and `/$delta`. A list of
  /// one bare name or term could also be a key that is a keyword or an alias: the text after it decides.
  private var isAtContextKey: Bool {
    var lookahead = self
    lookahead.index += 1
    let isAlias = lookahead.take(UInt8(ascii: "@"))
    let last = lookahead.endOfIdentifier(at: lookahead.index)
    guard last > lookahead.index else {
      return isAlias || lookahead.peek != UInt8(ascii: "*") && lookahead.peek != UInt8(ascii: ")")
    }
    lookahead.index = last
    while lookahead.take(UInt8(ascii: ".")) { lookahead.index = lookahead.endOfIdentifier(at: lookahead.index) }
    switch lookahead.peek {
    case UInt8(ascii: "="), UInt8(ascii: "'"), UInt8(ascii: "-"): return true
    case UInt8(ascii: ")"):
      let word = string(index + 1..<lookahead.index)
      let isKeyword = word == "INF" || word == "NaN" || ["true", "false"].contains(word.lowercased())
      return (isAlias || isKeyword) && lookahead.peek(ahead: 1) == UInt8(ascii: "/")
        && lookahead.peek(ahead: 2) != UInt8(ascii: "$")
    default: return false
    }
  }
}

// Select lists (Protocol 4.01 §10.7 to §10.11).
extension SyntaxReader {
  /// `selectList`
  mutating func selectList() throws(ODataSyntaxError) -> [ODataSelectListItem] {
    try demand(UInt8(ascii: "("))
    if take(UInt8(ascii: ")")) { return [] }
    return try nested { (reader) throws(ODataSyntaxError) in
      var items = [try reader.selectListItem()]
      while reader.take(UInt8(ascii: ",")) { items.append(try reader.selectListItem()) }
      guard reader.take(UInt8(ascii: ")")) else { throw reader.unexpected("','", "')'") }
      return items
    }
  }

  mutating func selectListItem() throws(ODataSyntaxError) -> ODataSelectListItem {
    let position = position
    if take(UInt8(ascii: "*")) {
      return ODataSelectListItem(path: ODataPath([ODataPathSegment(.star, at: position)], at: position))
    }
    var item = ODataSelectListItem(path: ODataPath([], at: position))
    repeat {
      let (step, isLast) = try selectListStep(after: item.path.segments)
      item.path.segments.append(step)
      if isLast { return item }
    } while take(plain: UInt8(ascii: "/"))
    if case .qualifiedName? = item.path.segments.last?.kind {
      if peek == UInt8(ascii: "(") { item.path.segments.append(try namesOfParameters()) }
      return item
    }
    item.isExpanded = take(plain: UInt8(ascii: "+"))
    if peek == UInt8(ascii: "(") { item.nested = try selectList() }
    return item
  }

  /// Reads a step of an item; returns whether nothing may follow it.
  private mutating func selectListStep(
    after before: [ODataPathSegment]
  ) throws(ODataSyntaxError) -> (ODataPathSegment, isLast: Bool) {
    let position = position
    if peek == UInt8(ascii: "@") { return (try annotationInFragment(), false) }
    // Two casts never follow each other; an operation may follow the cast at the beginning.
    var isAfterType = false
    if case .qualifiedName? = before.last?.kind, before.count > 1 { isAfterType = true }
    let (name, isQualified) =
      isAfterType ? (try identifier(), false) : try qualifiedName("a property, operation or annotation")
    if peek == UInt8(ascii: "."), peek(ahead: 1) == UInt8(ascii: "*"), before.isEmpty {
      index += 2
      return (ODataPathSegment(.allOperations(name), at: position), true)
    }
    return (ODataPathSegment(isQualified ? .qualifiedName(name) : .name(name), at: position), false)
  }

  /// Reads `parameterNames` in parentheses, which distinguish overloads of a function.
  private mutating func namesOfParameters() throws(ODataSyntaxError) -> ODataPathSegment {
    let position = position
    try demand(UInt8(ascii: "("))
    var arguments: [ODataArgument] = []
    repeat {
      let place = self.position
      let path = ODataPath([ODataPathSegment(.name(try identifier("a parameter's name")), at: place)], at: place)
      arguments.append(ODataArgument(value: ODataExpression(.path(path), at: place)))
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: ")")) else { throw unexpected("','", "')'") }
    return ODataPathSegment(.arguments(arguments), at: position)
  }

  /// `annotationInFragment`
  mutating func annotationInFragment() throws(ODataSyntaxError) -> ODataPathSegment {
    let position = position
    try demand(UInt8(ascii: "@"))
    let term = try qualifiedName("a term's name").name
    let qualifier = take(plain: UInt8(ascii: "#")) ? try identifier("a qualifier") : nil
    return ODataPathSegment(.annotation(term: term, qualifier: qualifier), at: position)
  }
}

extension ODataPathSegment.Kind {
  /// Whether the segment is a key after which a property must follow in a context URL.
  fileprivate var isKeyOfContext: Bool {
    switch self {
    case .arguments, .text: true
    default: false
    }
  }
}
