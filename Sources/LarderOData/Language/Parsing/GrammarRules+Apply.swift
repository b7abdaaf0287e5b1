// Rules of Data Aggregation, of context fragments (section 3), of URI syntax (section A) and of single characters (section 9).
extension GrammarRules {
  static func addAggregation(to rules: inout Table) {
    for (name, words) in transformations { rules.add([name], transformation(words)) }
    rules.add(["applyExpr"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .apply(try reader.transformations())
    }
    rules.add(["preservingTrafos"], sequence(onlyPreserving: true, single: false))
    rules.add(["preservingTrafo"], sequence(onlyPreserving: true, single: true))
    rules.add(["applyTrafo"], sequence(onlyPreserving: false, single: true))
    rules.add(["aggregateExpr"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .aggregate(try reader.aggregateExpression(hasAlias: true))
    }
    rules.add(["aggregateFunctionExpr"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .aggregate(try reader.aggregateExpression(hasAlias: false))
    }
    rules.add(["customFunction"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .path(try reader.collectionFunction())
    }
    rules.add(["computeExpr"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .compute([try reader.computeItem()])
    }
    rules.add(
      ["asAlias"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        guard reader.peek == 0x20 || reader.peek == 0x09 else { throw reader.unexpected("a space") }
        _ = try reader.alias()
      })
    rules.add(
      ["recHierReference"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        _ = try reader.hierarchyReference()
      })
    rules.add(
      ["groupbyList"],
      grouping { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        try reader.demand(UInt8(ascii: "("))
        reader.skipSpace()
        let elements = try reader.list { (reader) throws(ODataSyntaxError) in try reader.groupingElement() }
        reader.skipSpace()
        try reader.demand(UInt8(ascii: ")"))
        return elements
      })
    rules.add(["rollupLevels"], groupingElement("rollup("))
    rules.add(["rollupRecursive"], groupingElement("rolluprecursive("))
    rules.add(["groupbyElement"], groupingElement(""))
    rules.add(
      ["groupingProperties"],
      grouping { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        try reader.list { (reader) throws(ODataSyntaxError) in .property(try reader.groupingProperty()) }
      })
    rules.add(["groupingProperty", "snglPrimPath", "aggrPrimPath", "recHierPropertyPath"]) {
      (reader: inout SyntaxReader) throws(ODataSyntaxError) in .path(try reader.groupingProperty())
    }
    rules.add(["snglPropPath", "aggrPropPath", "aggrPropStep", "aggrPathPrefix", "nestPath", "nestPropPath"]) {
      (reader: inout SyntaxReader) throws(ODataSyntaxError) in .path(try reader.aggregationPath(mayEndWithCast: true))
    }
    rules.add(
      ["aggrCastPath"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in _ = try reader.qualifiedName("a type's name") })
  }

  private static let transformations: [(String, [StaticString])] = [
    ("aggregateTrafo", ["aggregate("]), ("computeTrafo", ["compute("]), ("concatTrafo", ["concat("]),
    ("groupbyTrafo", ["groupby("]), ("joinTrafo", ["join("]), ("outerjoinTrafo", ["outerjoin("]),
    ("nestTrafo", ["nest(", "addnested("]), ("filterTrafo", ["filter("]), ("searchTrafo", ["search("]),
    ("orderbyTrafo", ["orderby("]), ("topTrafo", ["top("]), ("skipTrafo", ["skip("]), ("identityTrafo", ["identity"]),
    ("topcountTrafo", ["topcount("]), ("toppercentTrafo", ["toppercent("]), ("topsumTrafo", ["topsum("]),
    ("bottomcountTrafo", ["bottomcount("]), ("bottompercentTrafo", ["bottompercent("]),
    ("bottomsumTrafo", ["bottomsum("]), ("ancestorsTrafo", ["ancestors("]), ("descendantsTrafo", ["descendants("]),
    ("traverseTrafo", ["traverse("]),
  ]

  /// Reads one transformation that begins with one of the words.
  private static func transformation(_ words: [StaticString]) -> Read {
    let read = sequence(onlyPreserving: false, single: true)
    return { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard words.contains(where: { reader.hasWord($0, at: reader.index, anyCase: false) }) else {
        throw reader.error(.unexpected(expected: words.map { "\($0)" }))
      }
      return try read(&reader)
    }
  }

  private static func sequence(onlyPreserving: Bool, single: Bool) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let sequence = try reader.transformations(onlyPreserving: onlyPreserving)
      guard !single || sequence.count == 1 else { throw reader.unexpected("one transformation") }
      return .apply(sequence)
    }
  }

  private static func grouping(
    _ read: @escaping @Sendable (inout SyntaxReader) throws(ODataSyntaxError) -> [ODataGroupingElement]
  ) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in .apply([.groupBy(try read(&reader), [])]) }
  }

  private static func groupingElement(_ word: StaticString) -> Read {
    grouping { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard reader.hasWord(word, at: reader.index, anyCase: false) else { throw reader.unexpected("\(word)") }
      return [try reader.groupingElement()]
    }
  }
}

// Rules of context fragments.
extension GrammarRules {
  static func addContexts(to rules: inout Table) {
    rules.add(["context"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in .context(try reader.context()) }
    rules.add(["contextFragment"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .context(try reader.contextFragment())
    }
    rules.add(["selectList"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .context(ODataContextFragment(path: ODataPath([]), selectList: try reader.selectList()))
    }
    rules.add(["selectListItem", "selectListProperty"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .context(ODataContextFragment(path: ODataPath([]), selectList: [try reader.selectListItem()]))
    }
    rules.add(["annotationInFragment", "complexAnnotationInFragment", "entityAnnotationInFragment"]) {
      (reader: inout SyntaxReader) throws(ODataSyntaxError) in .segment(try reader.annotationInFragment())
    }
    rules.add(["entitySet"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let fragment = try reader.contextFragment()
      guard fragment.item == nil, fragment.selectList == nil, fragment.collectionOf == nil else {
        throw reader.unexpected("only a set")
      }
      return .path(fragment.path)
    }
    rules.add(["containmentNavigation", "navigation"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .path(try reader.restOfPath([.key, .name, .text]))
    }
    rules.add(["contextPropertyPath"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .path(try reader.groupingProperty())
    }
  }
}

// Rules of URIs and single characters.
extension GrammarRules {
  static func addUris(to rules: inout Table) {
    rules.add(["host"], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.host() })
    rules.add(
      ["IPv6address"], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.ipv6Address() })
    rules.add(
      ["IPv4address"], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.ipv4Address() })
    rules.add(
      ["IPvFuture"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        guard reader.peek | 0x20 == UInt8(ascii: "v") else { throw reader.unexpected("'v'") }
        try reader.ipvFuture()
      })
    rules.add(
      ["IP-literal"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        guard reader.peek == UInt8(ascii: "[") else { throw reader.unexpected("'['") }
        try reader.host()
      })
    rules.add(
      ["segment"], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in reader.skipPathCharacters() })
    rules.add(
      ["segment-nz"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        guard !reader.isAtEnd, reader.isPathCharacter(at: reader.index) else { throw reader.unexpected("a character") }
        reader.skipPathCharacters()
      })
    rules.add(
      ["port"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        while reader.peek &- 0x30 < 10, !reader.isAtEnd { reader.index += 1 }
      })
    rules.add(
      ["RWS"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        guard reader.takeSpace() else { throw reader.unexpected("a space") }
      })
    rules.add(["BWS"], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in reader.skipSpace() })
    rules.add(["OPEN"], words(["("]))
    rules.add(["CLOSE"], words([")"]))
    rules.add(["COMMA"], words([","]))
    rules.add(["SEMI"], words([";"]))
    rules.add(["COLON"], words([":"]))
    rules.add(["AT"], words(["@"]))
    rules.add(["STAR"], words(["*"]))
    rules.add(["SQUOTE"], words(["'"]))
    rules.add(["SIGN"], words(["+", "-"]))
    rules.add(["EQ"], words(["="]))
    rules.add(["HASH"], words(["#"]))
    rules.add(["nanInfinity"], words(["NaN", "-INF", "INF"]))
  }
}
