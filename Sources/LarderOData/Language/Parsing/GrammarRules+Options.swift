// Rules of section 2: query options.
extension GrammarRules {
  static func addOptionListRules(to rules: inout Table) {
    rules.add(["levels"], option([.levels], .expand))
    rules.add(["systemQueryOption"], option(SystemOption.allCases, .url))
    rules.add(["batchOptions"], optionList(.batch))
    rules.add(["batchOption"], oneOption(.batch))
    rules.add(["metadataOptions"], optionList(.metadata))
    rules.add(["metadataOption"], oneOption(.metadata))
    rules.add(["entityOptions"], optionList(.entity))
    rules.add(["entityIdOption"], oneOption(.entity))
    rules.add(["entityCastOptions"], optionList(.entityCast))
    rules.add(["entityCastOption"], oneOption(.entityCast))
    rules.add(["expandOption"], oneOption(.expand))
    rules.add(["expandRefOption"], oneOption(.expandRef))
    rules.add(["expandCountOption"], oneOption(.expandCount))
    rules.add(["selectOption"], oneOption(.select))
    rules.add(["selectOptionPC"], option([.filter, .search, .count, .orderby, .skip, .top], .select))
    rules.add(["queryOptions"], optionList(.url))
    rules.add(["queryOption"], oneOption(.url))
    rules.add(["aliasAndValue"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .alias(try reader.aliasAndValue())
    }
    rules.add(["nameAndValue"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let position = reader.position
      let name = try reader.identifier("a parameter's name")
      guard reader.take(UInt8(ascii: "=")) else { throw reader.unexpected("'='") }
      return .alias(ODataAlias(name: name, value: try reader.expression(), at: position))
    }
    rules.add(["customQueryOption"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .custom(try reader.customQueryOption())
    }
    rules.add(["customName"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let option = try reader.customQueryOption()
      guard option.value == nil else { throw reader.unexpected("only a name") }
      return .text(option.name)
    }
    rules.add(
      ["customValue"], text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in _ = try reader.queryText() })
    rules.add(
      ["IRI-in-query"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        guard try !reader.queryText().isEmpty else { throw reader.unexpected("a URL") }
      })
    rules.add(["parameterNames"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let names = try reader.items { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        let name = try reader.identifier("a parameter's name")
        return ODataArgument(value: ODataExpression(.path(ODataPath([ODataPathSegment(.name(name))]))))
      }
      return .arguments(names)
    }
    rules.add(
      ["allOperationsInSchema"],
      text { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
        _ = try reader.qualifiedName("a namespace")
        guard reader.take(exact: ".*") else { throw reader.unexpected("'.*'") }
      })
  }

  static func addSystemOptionRules(to rules: inout Table) {
    for option in SystemOption.allCases where option != .levels && option != .count && option != .inlinecount {
      rules.add([option.rawValue], self.option([option], .url))
    }
    rules.add(["inlinecount"], option([.count], .url))
    rules.add(["temporalOption"], option(SystemOption.allCases.filter(\.isTemporal), .url))
    // The names of rules ignore case, and there is another rule named `AT`.
    rules.add(["at-option"], option([.at], .url))
  }

  static func addItemRules(to rules: inout Table) {
    rules.add(["computeItem"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .compute([try reader.computeItem()])
    }
    rules.add(["orderbyItem"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .orderBy([try reader.orderByItem()])
    }
    rules.add(["expandItem", "expandPath"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .expand([try reader.expandItem()])
    }
    rules.add(["selectItem", "selectProperty", "selectPath"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .select([try reader.selectItem()])
    }
    rules.add(["parameterValue", "valueInUrl"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let position = reader.position
      guard reader.peek == UInt8(ascii: "\"") else { return .expression(try reader.expression()) }
      return .expression(ODataExpression(.literal(.string(try reader.jsonString())), at: position))
    }
  }

  /// Reads one of the given system query options.
  private static func option(_ names: [SystemOption], _ place: OptionPlace) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      var options = ODataQueryOptions()
      try reader.systemOption(of: names, place, into: &options)
      return .options(options)
    }
  }

  private static func oneOption(_ place: OptionPlace) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      var options = ODataQueryOptions()
      try reader.oneOption(place, into: &options)
      return .options(options)
    }
  }

  private static func optionList(_ place: OptionPlace) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let options = try reader.queryOptions(place)
      guard options.id != nil || place != .entity && place != .entityCast else { throw reader.unexpected("'&$id='") }
      return .options(options)
    }
  }
}

// Rules of `$search`.
extension GrammarRules {
  static func addSearches(to rules: inout Table) {
    rules.add(["searchExpr"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard reader.peek != UInt8(ascii: "'") else { throw reader.unexpected("a word", "'\"'", "'('") }
      return .search(try reader.searchExpression())
    }
    rules.add(["searchParenExpr"], beginning(["("]))
    rules.add(["searchNegateExpr"], beginning(["NOT ", "NOT\t"]))
    rules.add(["searchPhrase"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .search(try reader.searchPhrase())
    }
    rules.add(["searchWord"]) { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      .search(.word(try reader.searchWord()))
    }
    rules.add(["searchExpr-incomplete"], beginning(["'"]))
    rules.add(["searchOrExpr"], operatorAndOperand("OR", isOptional: false))
    rules.add(["searchAndExpr"], operatorAndOperand("AND", isOptional: true))
  }

  private static func beginning(_ words: [StaticString]) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard words.contains(where: { reader.hasWord($0, at: reader.index, anyCase: false) }) else {
        throw reader.error(.unexpected(expected: words.map { "\($0)" }))
      }
      return .search(try reader.searchExpression())
    }
  }

  /// Reads an operator with its right side.
  private static func operatorAndOperand(_ word: StaticString, isOptional: Bool) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard reader.takeSpace() else { throw reader.unexpected("a space") }
      let start = reader.index
      if reader.take(exact: word), reader.takeSpace(), !reader.isAtEnd { return .search(try reader.searchExpression()) }
      guard isOptional else { throw reader.error(.unexpected(expected: ["\(word)"]), at: start) }
      reader.index = start
      return .search(try reader.searchExpression())
    }
  }
}
