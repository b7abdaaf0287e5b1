// Paths inside expressions (ABNF `firstMemberExpr`, `rootExpr`, `functionExpr` and what follows them).
extension SyntaxReader {
  /// A path from the current instance, a variable, an alias or the service's root.
  ///
  /// - Parameter endsWithType: whether a qualified type alone may be the whole path, as in `$apply`.
  mutating func memberPath(endsWithType: Bool = false) throws(ODataSyntaxError) -> ODataPath {
    let position = position
    switch peek {
    case UInt8(ascii: "@"): return try aliasPath(at: position)
    case UInt8(ascii: "$"):
      if let root = implicitVariable() {
        if root == .root {
          guard take(UInt8(ascii: "/")) else { throw unexpected("'/'") }
          let first = try namedStep()
          if case .qualifiedName(let name)? = first.first?.kind {
            throw error(.unexpected(expected: ["a set, singleton or import; '\(name)' has a namespace"]), at: index)
          }
          return ODataPath(root: root, try steps(behind: first), at: position)
        }
        return ODataPath(root: root, try steps(behind: []), at: position)
      }
      guard take(exact: "$count") else { throw unexpected("$it", "$this", "$these", "$root", "$count") }
      return ODataPath([ODataPathSegment(.count(nil), at: position)], at: position)
    default: break
    }
    let last = endOfIdentifier(at: index)
    if !variables.isEmpty, last > index, case let name = string(index..<last), variables.contains(name),
      last >= end || bytes[last] != UInt8(ascii: ".") && bytes[last] != UInt8(ascii: "(")
    {
      index = last
      return ODataPath(root: .variable(name), try steps(behind: []), at: position)
    }
    let first = try namedStep()
    if case .qualifiedName? = first.last?.kind, peek != UInt8(ascii: "/"), !endsWithType {
      throw unexpected("'/' and a member of the type", "'(' and the function's parameters")
    }
    return ODataPath(try steps(behind: first), at: position)
  }

  private mutating func implicitVariable() -> ODataPath.Root? {
    func takeWord(_ word: StaticString, in reader: inout SyntaxReader) -> Bool {
      let last = reader.index + word.utf8CodeUnitCount
      guard reader.stands(word, at: reader.index, anyCase: false), reader.endOfIdentifier(at: reader.index + 1) == last
      else { return false }
      reader.index = last
      return true
    }
    if takeWord("$it", in: &self) { return .it }
    if takeWord("$this", in: &self) { return .this }
    if takeWord("$these", in: &self) { return .these }
    return takeWord("$root", in: &self) ? .root : nil
  }

  /// `@alias`, or an annotation of the current instance where the name is qualified.
  private mutating func aliasPath(at position: SourcePosition) throws(ODataSyntaxError) -> ODataPath {
    let last = endOfIdentifier(at: index + 1)
    if last < end, bytes[last] == UInt8(ascii: ".") || bytes[last] == UInt8(ascii: "#") {
      return ODataPath(try steps(behind: [try annotation()]), at: position)
    }
    index += 1
    let name = try identifier("the name of a parameter alias or an annotation")
    return ODataPath(root: .alias(name), try steps(behind: []), at: position)
  }

  /// `@Ns.Term#qualifier`
  mutating func annotation() throws(ODataSyntaxError) -> ODataPathSegment {
    let position = position
    try demand(UInt8(ascii: "@"))
    let term = try qualifiedName("an annotation's name").name
    var qualifier: String?
    // A bare # would end the query.
    if peek == UInt8(ascii: "#"), !isAtEnd, isEncoded(index) || !options.isPercentEncoded {
      index += 1
      qualifier = try identifier("the annotation's qualifier")
    }
    return ODataPathSegment(.annotation(term: term, qualifier: qualifier), at: position)
  }

  /// A name, qualified or not, with the arguments behind it.
  private mutating func namedStep() throws(ODataSyntaxError) -> [ODataPathSegment] {
    let position = position
    let (name, isQualified) = try qualifiedName("the name of a property or function")
    let segment = ODataPathSegment(isQualified ? .qualifiedName(name) : .name(name), at: position)
    guard peek == UInt8(ascii: "(") else { return [segment] }
    return [segment, try checkedArguments(of: name)]
  }

  /// Arguments in an expression: named parameters, or a key: one literal or alias. V2 has no keys there, but functions of the
  /// service whose arguments have no names.
  private mutating func checkedArguments(of name: String) throws(ODataSyntaxError) -> ODataPathSegment {
    let start = index
    let segment = try arguments(inExpression: true)
    guard case .arguments(let list) = segment.kind, dialect == .v4 else { return segment }
    if let first = list.first, first.name == nil, list.count > 1 || !first.value.isKeyValue {
      throw error(.unknownFunction(name, nearest: ODataCanonicalFunction.nearest(to: name)), at: start)
    }
    return segment
  }

  /// The steps that follow, each behind a `/`.
  mutating func steps(behind first: [ODataPathSegment]) throws(ODataSyntaxError) -> [ODataPathSegment] {
    var segments = first
    while peek == UInt8(ascii: "/"), !isAtEnd {
      index += 1
      let position = position
      switch peek {
      case UInt8(ascii: "$"):
        if stands("$filter(", at: index, anyCase: false) {
          segments.append(try filterStep(at: position))
          if peek == UInt8(ascii: "(") { segments.append(try arguments(inExpression: true)) }
        } else if take(exact: "$count") {
          let options = peek == UInt8(ascii: "(") ? try parenthesizedOptions(.expandCount) : nil
          segments.append(ODataPathSegment(.count(options), at: position))
          return segments
        } else {
          throw unexpected("$count", "$filter(", "a name")
        }
      case UInt8(ascii: "@"): segments.append(try annotation())
      default:
        if let last = try collectionStep(at: position) {
          segments.append(last)
          return segments
        }
        if peek &- 0x30 < 10, !isAtEnd {
          segments.append(keySegment(at: position))
        } else {
          segments += try namedStep()
        }
      }
    }
    return segments
  }

  /// A key as a segment that is no name: digits, and what may follow them unencoded.
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

  /// `$filter(…)` as a step, in expressions and resource paths.
  mutating func filterStep(at position: SourcePosition) throws(ODataSyntaxError) -> ODataPathSegment {
    index += 8
    skipSpace()
    let filter = try expression()
    skipSpace()
    guard take(UInt8(ascii: ")")) else { throw unexpected("an operator", "')'") }
    return ODataPathSegment(.filter(filter), at: position)
  }

  /// `any(…)`, `all(…)` or `aggregate(…)`; nil where none of them stands here.
  mutating func collectionStep(at position: SourcePosition) throws(ODataSyntaxError) -> ODataPathSegment? {
    guard peek | 0x20 == UInt8(ascii: "a") else { return nil }
    let isRelaxed = isRelaxed
    if stands("any(", at: index, anyCase: isRelaxed), !isNamedArgument(at: index + 4) {
      index += 4
      skipSpace()
      if take(UInt8(ascii: ")")) { return ODataPathSegment(.any(nil), at: position) }
      return ODataPathSegment(.any(try lambda()), at: position)
    }
    if stands("all(", at: index, anyCase: isRelaxed), !isNamedArgument(at: index + 4) {
      index += 4
      skipSpace()
      if peek == UInt8(ascii: ")") {
        // It reads as a call of a function as far as the parenthesis.
        throw error(.unexpected(expected: ["a variable and a predicate in the parentheses of all"]), at: index + 1)
      }
      return ODataPathSegment(.all(try lambda()), at: position)
    }
    guard stands("aggregate(", at: index, anyCase: false), !isNamedArgument(at: index + 10) else { return nil }
    index += 10
    skipSpace()
    let aggregate = try nested { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      try reader.aggregateExpression(hasAlias: false)
    }
    skipSpace()
    try demand(UInt8(ascii: ")"))
    return ODataPathSegment(.aggregate(aggregate), at: position)
  }

  /// `variable:predicate)`
  private mutating func lambda() throws(ODataSyntaxError) -> ODataLambda {
    let variable = try identifier("a variable")
    skipSpace()
    try demand(UInt8(ascii: ":"))
    skipSpace()
    variables.append(variable)
    let predicate = try expression()
    variables.removeLast()
    skipSpace()
    guard take(UInt8(ascii: ")")) else { throw unexpected("an operator", "')'") }
    return ODataLambda(variable: variable, predicate: predicate)
  }
}

// Arguments in parentheses: keys and parameters.
extension SyntaxReader {
  /// `(…)` behind a name: the parts of a key, or a function's parameters. In a resource path literals and aliases alone.
  mutating func arguments(inExpression: Bool) throws(ODataSyntaxError) -> ODataPathSegment {
    let last = end
    if !inExpression { end = endOfSegment }
    defer { end = last }
    let position = position
    try demand(UInt8(ascii: "("))
    skipSpace()
    var arguments: [ODataArgument] = []
    if take(UInt8(ascii: ")")) { return ODataPathSegment(.arguments([]), at: position) }
    repeat {
      skipSpace()
      let start = index
      let argument = try argument(inExpression: inExpression)
      if argument.name == nil, arguments.first?.name != nil {
        throw error(.unexpected(expected: ["a name and '='"]), at: start)
      }
      arguments.append(argument)
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: ")")) else { throw unexpected("','", "')'") }
    return ODataPathSegment(.arguments(arguments), at: position)
  }

  private mutating func argument(inExpression: Bool) throws(ODataSyntaxError) -> ODataArgument {
    var name: String?
    let last = endOfIdentifier(at: index)
    if last > index, last < end, bytes[last] == UInt8(ascii: "=") {
      name = string(index..<last)
      index = last + 1
    }
    if inExpression { return ODataArgument(name: name, value: try expression()) }
    guard peek == UInt8(ascii: "@") else { return ODataArgument(name: name, value: try primitiveLiteral()) }
    let position = position
    index += 1
    let alias = try identifier("the name of a parameter alias")
    return ODataArgument(
      name: name, value: ODataExpression(.path(ODataPath(root: .alias(alias), [], at: position)), at: position))
  }

  /// Where the segment of a resource path ends: at a `/` or `?` that is not encoded.
  private var endOfSegment: Int {
    (index..<end).first { place in
      (bytes[place] == UInt8(ascii: "/") || bytes[place] == UInt8(ascii: "?")) && !isEncoded(place)
    } ?? end
  }
}
