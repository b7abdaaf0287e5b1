// The rules of section 4: one rule for each function and operator.
extension GrammarRules {
  static func addMethods(to rules: inout Table) {
    for (name, function) in functions { rules.add([name], call([function])) }
    rules.add(["methodCallExpr"], call(nil))
    rules.add(
      ["boolMethodCallExpr"],
      call([.endswith, .startswith, .contains, .geoIntersects, .hassubset, .hassubsequence], orIsDefined: true))
    rules.add(["caseMethodCallExpr"], operand("case("))
    rules.add(["castExpr"], operand("cast("))
    rules.add(["isofExpr"], operand("isof("))
    rules.add(["isdefinedExpr"], operand("isdefined("))
  }

  private static let functions: [(String, ODataCanonicalFunction)] = [
    ("indexOfMethodCallExpr", .indexof), ("toLowerMethodCallExpr", .tolower), ("toUpperMethodCallExpr", .toupper),
    ("trimMethodCallExpr", .trim), ("substringMethodCallExpr", .substring), ("concatMethodCallExpr", .concat),
    ("lengthMethodCallExpr", .length), ("matchesPatternMethodCallExpr", .matchesPattern),
    ("yearMethodCallExpr", .year), ("monthMethodCallExpr", .month), ("dayMethodCallExpr", .day),
    ("hourMethodCallExpr", .hour), ("minuteMethodCallExpr", .minute), ("secondMethodCallExpr", .second),
    ("fractionalsecondsMethodCallExpr", .fractionalseconds), ("totalsecondsMethodCallExpr", .totalseconds),
    ("dateMethodCallExpr", .date), ("timeMethodCallExpr", .time), ("roundMethodCallExpr", .round),
    ("floorMethodCallExpr", .floor), ("ceilingMethodCallExpr", .ceiling), ("distanceMethodCallExpr", .geoDistance),
    ("geoLengthMethodCallExpr", .geoLength), ("intersectsMethodCallExpr", .geoIntersects),
    ("totalOffsetMinutesMethodCallExpr", .totaloffsetminutes), ("minDateTimeMethodCallExpr", .mindatetime),
    ("maxDateTimeMethodCallExpr", .maxdatetime), ("nowMethodCallExpr", .now), ("endsWithMethodCallExpr", .endswith),
    ("startsWithMethodCallExpr", .startswith), ("containsMethodCallExpr", .contains),
    ("hasSubsetMethodCallExpr", .hassubset), ("hasSubsequenceMethodCallExpr", .hassubsequence),
  ]

  /// Reads a call of a canonical function; of the given functions only, if there are any.
  private static func call(_ allowed: [ODataCanonicalFunction]?, orIsDefined: Bool = false) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      let start = reader.index
      let operand = try reader.primary()
      switch operand.kind {
      case .call(let function, _) where allowed?.contains(function) ?? true: return .expression(operand)
      case .conditional where allowed == nil: return .expression(operand)
      case .isdefined where allowed == nil || orIsDefined: return .expression(operand)
      default:
        throw reader.error(
          .unexpected(expected: (allowed ?? ODataCanonicalFunction.allCases).map { $0.rawValue + "(" }), at: start)
      }
    }
  }

  /// Reads an operand that begins with a word.
  private static func operand(_ word: StaticString) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard reader.hasWord(word, at: reader.index, anyCase: reader.isRelaxed) else {
        throw reader.unexpected("\(word)")
      }
      return .expression(try reader.primary())
    }
  }

  /// Adds the rules of operators with their right sides.
  static func addOperators(to rules: inout Table) {
    rules.add(["andExpr"], infix("and"))
    rules.add(["orExpr"], infix("or"))
    rules.add(["eqExpr"], infix("eq"))
    rules.add(["neExpr"], infix("ne"))
    rules.add(["ltExpr"], infix("lt"))
    rules.add(["leExpr"], infix("le"))
    rules.add(["gtExpr"], infix("gt"))
    rules.add(["geExpr"], infix("ge"))
    rules.add(
      ["inExpr"],
      infix("in") { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.membership() })
    rules.add(["hasExpr"], infix("has"))
    rules.add(["addExpr"], infix("add"))
    rules.add(["subExpr"], infix("sub"))
    rules.add(["mulExpr"], infix("mul"))
    rules.add(["divExpr"], infix("div"))
    rules.add(["divbyExpr"], infix("divby"))
    rules.add(["modExpr"], infix("mod"))
  }

  private static func infix(
    _ word: StaticString,
    _ operand: @escaping @Sendable (inout SyntaxReader) throws(ODataSyntaxError) -> ODataExpression = {
      (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.expression()
    }
  ) -> Read {
    { (reader: inout SyntaxReader) throws(ODataSyntaxError) in
      guard reader.takeSpace() else { throw reader.unexpected("a space") }
      guard reader.take(word: word) else { throw reader.unexpected("\(word)") }
      guard reader.takeSpace() else { throw reader.unexpected("a space") }
      return .expression(try operand(&reader))
    }
  }
}
