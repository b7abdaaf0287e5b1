// Rules of sections 4 and 5: expressions and JSON in URLs.
extension GrammarRules {
  static func addExpressions(to rules: inout Table) {
    rules.add([
      "commonExpr", "boolCommonExpr", "lambdaPredicateExpr", "aggregatableExpr", "collectionExpr", "temporalExpr",
    ]) {
      (reader: inout SyntaxReader) throws(ODataSyntaxError) in .expression(try reader.expression())
    }
    rules.add(memberPaths) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in .path(try reader.memberPath()) }
    rules.add(["functionExpr", "boundFunctionExpr"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let path = try reader.memberPath()
      guard path.segments.count > 1, case .arguments = path.segments[1].kind else { throw reader.unexpected("'('") }
      return .path(path)
    }
    for name in stepsAfter { rules.add([name], steps(mayBeEmpty: mayBeEmpty.contains(name))) }
    rules.add(["rootExpr"], path(from: "$root/"))
    rules.add(["currCollectionExpr"], path(from: "$these"))
    rules.add(["implicitVariableExpr"], words(["$it", "$this"]))
    rules.add(["inscopeVariableExpr"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let path = try reader.memberPath()
      if path.segments.isEmpty { return .path(path) }
      guard case .name(let name)? = path.segments.first?.kind, path.segments.count == 1, path.root == .implicit else {
        throw reader.error(.unexpected(expected: ["$it", "$this", "a variable", "'@'"]), at: 0)
      }
      return .path(ODataPath(root: .variable(name), [], at: path.position))
    }
    rules.add(["functionExprParameters"], arguments(inExpression: true))
    rules.add(["functionExprParameter"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let name = try reader.identifier("a parameter's name")
      guard reader.take(UInt8(ascii: "=")) else { throw reader.unexpected("'='") }
      return .arguments([ODataArgument(name: name, value: try reader.expression())])
    }
    rules.add(["parenExpr"], beginning(with: ["("]))
    rules.add(["negateExpr"], beginning(with: ["-"]))
    rules.add(["notExpr"], beginning(with: ["not ", "not\t"]))
    rules.add(["listExpr"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .expression(try reader.literalList())
    }
    rules.add(["anyExpr"], lambda("any("))
    rules.add(["allExpr"], lambda("all("))
    rules.add(["annotationExpr"], annotated)
    rules.add([
      "annotationInQuery", "complexAnnotationInQuery", "entityAnnotationInQuery", "primitiveAnnotationInQuery",
      "primitiveColAnnotationInQuery",
    ]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in .segment(try reader.annotation()) }
    rules.add(["arrayOrObject"], json(["[", "{"]))
    rules.add(["array"], json(["["]))
    rules.add(["object"], json(["{"]))
    rules.add(["stringInUrl"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .value(.string(try reader.jsonString()))
    }
    rules.add(["member"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let name = try reader.jsonString()
      reader.skipSpace()
      try reader.demand(UInt8(ascii: ":"))
      reader.skipSpace()
      let position = reader.position
      let value =
        reader.peek == UInt8(ascii: "\"")
        ? ODataExpression(.literal(.string(try reader.jsonString())), at: position) : try reader.expression()
      return .expression(ODataExpression(.object([ODataObjectMember(name: name, value: value)])))
    }
  }

  private static let memberPaths = ["firstMemberExpr", "memberExpr", "directMemberExpr", "propertyPathExpr"]

  private static let stepsAfter = [
    "collectionNavigationExpr", "collectionNavNoCastExpr", "singleNavigationExpr", "filterExpr", "complexColPathExpr",
    "collectionPathExpr", "complexPathExpr", "primitivePathExpr",
  ]

  /// The rules that allow a single "/": an empty key, or nothing after a primitive value.
  private static let mayBeEmpty: Set = ["collectionNavigationExpr", "collectionNavNoCastExpr", "primitivePathExpr"]

  private static func steps(mayBeEmpty: Bool) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let position = reader.position
      if mayBeEmpty, reader.index + 1 == reader.end, reader.take(UInt8(ascii: "/")) {
        return .path(ODataPath([], at: position))
      }
      var first: [ODataPathSegment] = []
      if reader.peek == UInt8(ascii: "(") { first = [try reader.arguments(inExpression: true)] }
      let segments = try reader.steps(after: first)
      guard !segments.isEmpty else { throw reader.unexpected("'/'") }
      return .path(ODataPath(segments, at: position))
    }
  }

  private static let annotated: Read = { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
    let position = reader.position
    return .path(ODataPath(try reader.steps(after: [try reader.annotation()]), at: position))
  }

  private static func path(from word: StaticString) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard reader.hasWord(word, at: reader.index, anyCase: false) else { throw reader.unexpected("\(word)") }
      return .path(try reader.memberPath())
    }
  }

  private static func beginning(with words: [StaticString]) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard words.contains(where: { reader.hasWord($0, at: reader.index, anyCase: true) }) else {
        throw reader.error(.unexpected(expected: words.map { "'\($0)'" }))
      }
      return .expression(try reader.expression())
    }
  }

  private static func lambda(_ word: StaticString) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard reader.hasWord(word, at: reader.index, anyCase: reader.isRelaxed),
        let step = try reader.collectionStep(at: reader.position)
      else { throw reader.unexpected("\(word)") }
      return .segment(step)
    }
  }

  private static func json(_ brackets: [Unicode.Scalar]) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let start = reader.index
      reader.skipSpace()
      guard brackets.contains(where: { UInt8(truncatingIfNeeded: $0.value) == reader.peek }) else {
        throw reader.error(.unexpected(expected: brackets.map { "'\($0)'" }))
      }
      reader.index = start
      return .expression(try reader.arrayOrObject())
    }
  }
}

extension SyntaxReader {
  /// Reads `listExpr`: literals in parentheses.
  fileprivate mutating func literalList() throws(ODataSyntaxError) -> ODataExpression {
    let position = position
    try demand(UInt8(ascii: "("))
    skipSpace()
    var items: [ODataExpression] = []
    if take(UInt8(ascii: ")")) { return ODataExpression(.list(items), at: position) }
    repeat {
      skipSpace()
      items.append(try primitiveLiteral())
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: ")")) else { throw unexpected("','", "')'") }
    return ODataExpression(.list(items), at: position)
  }
}
