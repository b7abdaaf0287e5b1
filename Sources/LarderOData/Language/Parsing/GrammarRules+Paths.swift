// Rules of section 1: whole URLs, resource paths and their parts.
extension GrammarRules {
  static func addPaths(to rules: inout Table) {
    rules.add(["odataUri"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in .url(try reader.uri()) }
    rules.add(["odataRelativeUri"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .url(try reader.relativeURL())
    }
    rules.add(["serviceRoot"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in .url(try reader.serviceRoot())
    }
    rules.add(["resourcePath"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .path(try reader.resourcePath())
    }
    rules.add(["crossjoin"], first("$crossjoin("))
    rules.add(["keyPredicate"], tail([.key, .text]))
    rules.add(["simpleKey"], tail(.key))
    rules.add(["compoundKey"], tail(.key))
    rules.add(["keyPathSegments"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .path(try reader.keySegments())
    }
    rules.add(["ordinalIndex"], tail(.text))
    rules.add(["filterInPath"], tail(.filter))
    rules.add(["each"], tail(.each))
    rules.add(["count"], tail(.count))
    rules.add(["ref"], tail(.ref))
    rules.add(["value"], tail(.value))
    rules.add(["querySegment"], tail(.query))
    rules.add(["boundOperation"], tail(.afterEach))
    rules.add(["collectionNavigation"], tail(.afterFilter))
    rules.add(["collectionNavPath"], tail(.afterFilter))
    rules.add(["singleNavigation"], tail(.afterKey))
    rules.add(["singleNavPath"], tail(.afterKey))
    rules.add(["collectionPath"], tail([.name, .qualified, .text, .count, .query]))
    rules.add(["complexColPath"], tail([.name, .qualified, .text, .count, .query]))
    rules.add(["complexPath"], tail([.name, .qualified, .query]))
    rules.add(["complexNavPath"], tail([.name, .qualified, .query]))
    rules.add(["primitivePath"], tail([.name, .qualified, .value, .query]))
    rules.add(["functionParameters"], arguments(inExpression: false))
    rules.add(["keyPropertyValue"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .expression(try reader.primitiveLiteral())
    }
    rules.add(
      ["keyPathLiteral"], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in reader.skipPathCharacters() })
    rules.add(
      ["parameterAlias"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        try reader.demand(UInt8(ascii: "@"))
        _ = try reader.identifier("the name of a parameter alias")
      })
    rules.add(["functionParameter", "keyValuePair"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .arguments([try reader.namedArgument()])
    }
    rules.add(["propertyPath"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard reader.peek != UInt8(ascii: "$") else { throw reader.unexpected("a property") }
      return .path(try reader.resourcePath())
    }
    rules.add(calls) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let position = reader.position
      let (name, isQualified) = try reader.qualifiedName("the name of a function")
      let segment = ODataPathSegment(isQualified ? .qualifiedName(name) : .name(name), at: position)
      return .path(ODataPath([segment, try reader.arguments(inExpression: false)], at: position))
    }
  }

  private static let calls = [
    "boundEntityFunctionCall", "boundEntityColFunctionCall", "boundComplexFunctionCall", "boundComplexColFunctionCall",
    "boundPrimitiveFunctionCall", "boundPrimitiveColFunctionCall", "entityFunctionImportCall",
    "entityColFunctionImportCall", "complexFunctionImportCall", "complexColFunctionImportCall",
    "primitiveFunctionImportCall", "primitiveColFunctionImportCall",
  ]

  /// Reads the rest of a path that begins with one of the given steps.
  private static func tail(_ followers: PathFollowers) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in .path(try reader.restOfPath(followers)) }
  }

  /// Reads a resource path that begins with a word.
  private static func first(_ word: StaticString) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard reader.hasWord(word, at: reader.index, anyCase: false) else { throw reader.unexpected("\(word)") }
      return .path(try reader.resourcePath())
    }
  }

  static func arguments(inExpression: Bool) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard case .arguments(let arguments) = try reader.arguments(inExpression: inExpression).kind else {
        return .arguments([])
      }
      if let place = arguments.first(where: { $0.name == nil })?.value.position.offset {
        throw ODataSyntaxError(.unexpected(expected: ["a parameter's name and '='"]), offset: place, in: reader.text)
      }
      return .arguments(arguments)
    }
  }
}

// Rules that are not needed to read whole paths.
extension SyntaxReader {
  /// Reads `odataUri`: a text that is not a resource path may still be the beginning of a service's root.
  fileprivate mutating func uri() throws(ODataSyntaxError) -> ODataURL {
    let start = index
    do throws(ODataSyntaxError) {
      return try readToEnd { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.absoluteURL() }
    } catch {
      var lookahead = self
      lookahead.index = start
      guard (try? lookahead.authority()) != nil, lookahead.take(plain: UInt8(ascii: "/")) else { throw error }
      repeat { lookahead.skipPathCharacters() } while lookahead.take(plain: UInt8(ascii: "/"))
      guard error.offset < lookahead.offset(of: lookahead.index) else { throw error }
      throw ODataSyntaxError(error.problem, offset: lookahead.offset(of: lookahead.index), in: text)
    }
  }

  /// Reads `serviceRoot`, which ends with the last slash.
  fileprivate mutating func serviceRoot() throws(ODataSyntaxError) -> ODataURL {
    let start = index
    try authority()
    try demand(UInt8(ascii: "/"))
    while !isAtEnd {
      let segment = index
      skipPathCharacters()
      guard index > segment else { throw unexpected("a segment") }
      try demand(UInt8(ascii: "/"))
    }
    return ODataURL(serviceRoot: string(start..<index), .service)
  }

  /// `keyPathSegments`
  fileprivate mutating func keySegments() throws(ODataSyntaxError) -> ODataPath {
    let position = position
    var segments: [ODataPathSegment] = []
    repeat {
      guard !isAtEnd, take(plain: UInt8(ascii: "/")) else { throw unexpected("'/'") }
      let place = self.position
      let start = index
      skipPathCharacters()
      segments.append(ODataPathSegment(.text(string(start..<index)), at: place))
    } while !isAtEnd
    return ODataPath(segments, at: position)
  }

  mutating func skipPathCharacters() { while !isAtEnd, isPathCharacter(at: index) { index += 1 } }

  /// Reads `name=value` of a key or a parameter in a path.
  fileprivate mutating func namedArgument() throws(ODataSyntaxError) -> ODataArgument {
    let name = try identifier("a parameter's name")
    guard take(UInt8(ascii: "=")) else { throw unexpected("'='") }
    guard peek == UInt8(ascii: "@") else { return ODataArgument(name: name, value: try primitiveLiteral()) }
    let position = position
    index += 1
    let path = ODataPath(root: .alias(try identifier("the name of a parameter alias")), [], at: position)
    return ODataArgument(name: name, value: ODataExpression(.path(path), at: position))
  }
}
