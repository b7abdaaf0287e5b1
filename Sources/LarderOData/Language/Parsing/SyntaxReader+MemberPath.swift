// Paths inside expressions (ABNF `firstMemberExpr`, `rootExpr`, `functionExpr` and the rules that follow).
extension SyntaxReader {
  /// Reads a path from the current instance, a variable, an alias or the service's root.
  ///
  /// - Parameter endsWithType: whether the path may consist of a qualified type alone, as in `$apply`.
  mutating func memberPath(endsWithType: Bool = false) throws(ODataSyntaxError) -> ODataPath {
    let position = position
    var segments: [ODataPathSegment] = []
    let root = try takeRoot(into: &segments)
    if segments.isEmpty, root == .implicit || root == .root {
      segments = try namedStep()
      try checkFirst(segments, root: root, endsWithType: endsWithType)
    }
    if case .count? = segments.first?.kind { return ODataPath(segments, at: position) }
    if root == .these { try checkCollectionStep() }
    // An alias may be an annotation, which can be primitive.
    if case .alias = root, peek == UInt8(ascii: "/"), index + 1 >= end || canFollowOperand(bytes[index + 1]) {
      index += 1
    }
    return ODataPath(root: root, try steps(after: segments), at: position)
  }

  /// Reads the root of the path; a first step other than a name is added to the segments.
  private mutating func takeRoot(into segments: inout [ODataPathSegment]) throws(ODataSyntaxError) -> ODataPath.Root {
    switch peek {
    case UInt8(ascii: "@"): return try takeAlias(into: &segments)
    case UInt8(ascii: "$"):
      let position = position
      let start = index
      if let root = implicitVariable() {
        guard root != .root || take(UInt8(ascii: "/")) else {
          throw error(.unexpected(expected: ["$root/ and a set, singleton or import"]), at: start)
        }
        return root
      }
      guard take(exact: "$count") else { throw unexpected("$it", "$this", "$these", "$root", "$count") }
      segments = [ODataPathSegment(.count(nil), at: position)]
      return .implicit
    default: break
    }
    let last = endOfIdentifier(at: index)
    guard !variables.isEmpty, last > index, case let name = string(index..<last), variables.contains(name),
      last >= end || bytes[last] != UInt8(ascii: ".") && bytes[last] != UInt8(ascii: "(")
    else { return .implicit }
    index = last
    return .variable(name)
  }

  /// Checks the first step: after `$root` it must not have a namespace. Elsewhere a qualified name is a type, which a
  /// member must follow, or a function.
  private func checkFirst(
    _ segments: [ODataPathSegment], root: ODataPath.Root, endsWithType: Bool
  ) throws(ODataSyntaxError) {
    if root == .root {
      guard case .qualifiedName(let name)? = segments.first?.kind else { return }
      throw error(.unexpected(expected: ["a set, singleton or import; '\(name)' has a namespace"]), at: index)
    }
    if case .qualifiedName? = segments.last?.kind, peek != UInt8(ascii: "/"), !endsWithType {
      throw unexpected("'/' and a member of the type", "'(' and the function's parameters")
    }
    // There is no collection before it from which a key could select.
    if case .qualifiedName(let name)? = segments.first?.kind, segments.count > 1, dialect == .v4,
      case .arguments(let arguments) = segments[1].kind, let first = arguments.first, first.name == nil,
      !SyntaxReader.acceptsPath(name)
    {
      throw ODataSyntaxError(
        .unknownFunction(name, nearest: ODataCanonicalFunction.nearest(to: name)),
        offset: first.value.position.offset ?? offset(of: index), in: text)
    }
  }

  /// Checks the step after `$these`, which is a collection: a step that applies to all its items, a function or an
  /// annotation.
  private func checkCollectionStep() throws(ODataSyntaxError) {
    guard peek == UInt8(ascii: "/"), !isAtEnd else { throw unexpected("'/' and a step of a collection") }
    let name = endOfIdentifier(at: index + 1)
    guard name > index + 1 else {
      guard peek(ahead: 1) &- 0x30 < 10 else { return }
      throw error(.unexpected(expected: ["$count", "aggregate(", "a function"]), at: index + 1)
    }
    let last = endOfNames(from: name)
    guard last < end, bytes[last] == UInt8(ascii: "(") else {
      throw error(.unexpected(expected: ["'(' (only $count, aggregate( and functions can follow $these)"]), at: last)
    }
  }

  private mutating func implicitVariable() -> ODataPath.Root? {
    func takeWord(_ word: StaticString, in reader: inout SyntaxReader) -> Bool {
      let last = reader.index + word.utf8CodeUnitCount
      guard reader.hasWord(word, at: reader.index, anyCase: false), reader.endOfIdentifier(at: reader.index + 1) == last
      else { return false }
      reader.index = last
      return true
    }
    if takeWord("$it", in: &self) { return .it }
    if takeWord("$this", in: &self) { return .this }
    if takeWord("$these", in: &self) { return .these }
    return takeWord("$root", in: &self) ? .root : nil
  }

  /// Reads `@alias`, or an annotation of the current instance if the name is qualified.
  private mutating func takeAlias(into segments: inout [ODataPathSegment]) throws(ODataSyntaxError) -> ODataPath.Root {
    let last = endOfIdentifier(at: index + 1)
    if last < end, bytes[last] == UInt8(ascii: ".") || bytes[last] == UInt8(ascii: "#") {
      segments = [try annotation()]
      return .implicit
    }
    index += 1
    return .alias(try identifier("the name of a parameter alias or an annotation"))
  }

  /// `@Ns.Term#qualifier`
  mutating func annotation() throws(ODataSyntaxError) -> ODataPathSegment {
    let position = position
    try demand(UInt8(ascii: "@"))
    let term = try qualifiedName("an annotation's name").name
    var qualifier: String?
    // An unencoded # would end the query.
    if peek == UInt8(ascii: "#"), !isAtEnd, isEncoded(index) || !options.isPercentEncoded {
      index += 1
      qualifier = try identifier("the annotation's qualifier")
    }
    return ODataPathSegment(.annotation(term: term, qualifier: qualifier), at: position)
  }

  /// Reads a name, qualified or not, with the arguments after it.
  private mutating func namedStep() throws(ODataSyntaxError) -> [ODataPathSegment] {
    let position = position
    let (name, isQualified) = try qualifiedName("the name of a property or function")
    let segment = ODataPathSegment(isQualified ? .qualifiedName(name) : .name(name), at: position)
    guard peek == UInt8(ascii: "(") else { return [segment] }
    let arguments = try checkedArguments(of: name)
    guard dialect == .v4, peek == UInt8(ascii: "("), arguments.isCall else { return [segment, arguments] }
    return [segment, arguments, try key()]
  }

  /// The kinds of beginnings of a step.
  private enum Step {
    case filter
    case count
    case annotation
    case collection(CollectionStep)
    case key
    case name
  }

  /// Reads the following steps, each after a `/`.
  mutating func steps(after first: [ODataPathSegment]) throws(ODataSyntaxError) -> [ODataPathSegment] {
    var segments = first
    while try step(into: &segments) {}
    return segments
  }

  /// Reads one step; false if none follows, or if none is allowed.
  private mutating func step(into segments: inout [ODataPathSegment]) throws(ODataSyntaxError) -> Bool {
    guard !isAtEnd, take(UInt8(ascii: "/")) else { return false }
    // The `/` after a value that can be primitive need not be followed by anything (ABNF `primitivePathExpr`).
    if dialect == .v4, isAtEnd || canFollowOperand(peek), segments.last?.mayBePrimitive ?? false { return false }
    let step = try startOfStep()
    let position = position
    switch step {
    case .filter: try filterSteps(into: &segments, at: position)
    case .count:
      try countStep(into: &segments, at: position)
      return false
    case .annotation: segments.append(try annotation())
    case .collection(let step):
      segments.append(try collectionStep(step, at: position))
      return false
    case .key: segments.append(keySegment(at: position))
    case .name: segments += try namedStep()
    }
    return true
  }

  /// Reads the beginning of a step after a `/`.
  private mutating func startOfStep() throws(ODataSyntaxError) -> Step {
    switch peek {
    case UInt8(ascii: "$"):
      if hasWord("$filter(", at: index, anyCase: false) {
        try demandV4("$filter as a step", at: position)
        return .filter
      }
      guard hasWord("$count", at: index, anyCase: false) else { throw unexpected("$count", "$filter(", "a name") }
      return .count
    case UInt8(ascii: "@"): return .annotation
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return .key
    default: return try startOfCollectionStep().map { .collection($0) } ?? .name
    }
  }

  private mutating func countStep(
    into segments: inout [ODataPathSegment], at position: SourcePosition
  ) throws(ODataSyntaxError) {
    index += 6
    let options = peek == UInt8(ascii: "(") ? try parenthesizedOptions(.expandCount) : nil
    segments.append(ODataPathSegment(.count(options), at: position))
  }

  private mutating func filterSteps(
    into segments: inout [ODataPathSegment], at position: SourcePosition
  ) throws(ODataSyntaxError) {
    segments.append(try filterStep(at: position))
    if peek == UInt8(ascii: "(") { segments.append(try key()) }
  }

  /// Reads a key as a segment that is not a name: digits, and the characters that may follow them unencoded.
  private mutating func keySegment(at position: SourcePosition) -> ODataPathSegment {
    let start = index
    while index < end {
      switch bytes[index] {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        index += 1
        continue
      default: break
      }
      break
    }
    return ODataPathSegment(.text(string(start..<index)), at: position)
  }

  /// Reads `$filter(…)` as a step, in expressions and resource paths.
  mutating func filterStep(at position: SourcePosition) throws(ODataSyntaxError) -> ODataPathSegment {
    index += 8
    skipSpace()
    let filter = try expression()
    skipSpace()
    guard take(UInt8(ascii: ")")) else { throw unexpected("an operator", "')'") }
    return ODataPathSegment(.filter(filter), at: position)
  }
}

/// Whether a byte may directly follow an operand.
private func canFollowOperand(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x20, 0x09, UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "]"),
    UInt8(ascii: "}"):
    true
  default: false
  }
}

extension ODataPathSegment {
  /// Whether the step may lead to a primitive value: a name, a call or an annotation.
  var mayBePrimitive: Bool {
    switch kind {
    case .name, .annotation: true
    case .arguments: isCall
    default: false
    }
  }

  /// Whether the step has no arguments, or named ones: those of a function, or of a key.
  var isCall: Bool {
    guard case .arguments(let arguments) = kind else { return false }
    return arguments.first.map { $0.name != nil } ?? true
  }
}
