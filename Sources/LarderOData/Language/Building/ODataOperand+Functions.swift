// Functions of strings (URL Conventions 4.01 §5.1.1.5 to §5.1.1.7; V2 URI Conventions §4.5).
extension ODataOperand<String> {
  private func call<Result: ODataPrimitive>(
    _ function: ODataCanonicalFunction, _ arguments: ODataExpression...
  ) -> ODataOperand<Result> { ODataOperand<Result>(.call(function, [expression] + arguments)) }

  /// `contains`; in V2 `substringof`.
  public func contains(_ text: String) -> ODataOperand<Bool> { call(.contains, text.odataExpression) }
  /// `contains`; in V2 `substringof`.
  public func contains(_ text: ODataOperand<String>) -> ODataOperand<Bool> { call(.contains, text.expression) }
  /// `startswith`
  public func startsWith(_ text: String) -> ODataOperand<Bool> { call(.startswith, text.odataExpression) }
  /// `startswith`
  public func startsWith(_ text: ODataOperand<String>) -> ODataOperand<Bool> { call(.startswith, text.expression) }
  /// `endswith`
  public func endsWith(_ text: String) -> ODataOperand<Bool> { call(.endswith, text.odataExpression) }
  /// `endswith`
  public func endsWith(_ text: ODataOperand<String>) -> ODataOperand<Bool> { call(.endswith, text.expression) }
  /// `matchesPattern`: a regular expression of ECMAScript (4.01).
  public func matchesPattern(_ pattern: String) -> ODataOperand<Bool> { call(.matchesPattern, pattern.odataExpression) }
  /// `indexof`: the number of characters before the first occurrence, -1 if there is none.
  public func indexOf(_ text: String) -> ODataOperand<Int> { call(.indexof, text.odataExpression) }
  /// `indexof`: the number of characters before the first occurrence, -1 if there is none.
  public func indexOf(_ text: ODataOperand<String>) -> ODataOperand<Int> { call(.indexof, text.expression) }
  /// `length`
  public var length: ODataOperand<Int> { call(.length) }
  /// `substring`, with the number of characters to skip.
  public func substring(from start: Int) -> ODataOperand<String> { call(.substring, ODataOperand.number(start)) }
  /// `substring`, with the number of characters to skip and the length of the result.
  public func substring(from start: Int, length: Int) -> ODataOperand<String> {
    call(.substring, ODataOperand.number(start), ODataOperand.number(length))
  }
  /// `tolower`
  public func toLower() -> ODataOperand<String> { call(.tolower) }
  /// `toupper`
  public func toUpper() -> ODataOperand<String> { call(.toupper) }
  /// `trim`
  public func trim() -> ODataOperand<String> { call(.trim) }
  /// `concat`
  public func concat(_ text: String) -> ODataOperand<String> { call(.concat, text.odataExpression) }
  /// `concat`
  public func concat(_ text: ODataOperand<String>) -> ODataOperand<String> { call(.concat, text.expression) }
  /// `replace` (V2)
  public func replace(_ text: String, with other: String) -> ODataOperand<String> {
    call(.replace, text.odataExpression, other.odataExpression)
  }

  /// A position, which is an Edm.Int32.
  private static func number(_ number: Int) -> ODataExpression {
    Int32(exactly: number)?.odataExpression ?? number.odataExpression
  }
}

// Functions of dates and times (§5.1.1.8).
extension ODataOperand where Value: ODataDated {
  /// `year`
  public var year: ODataOperand<Int> { ODataOperand<Int>(.call(.year, [expression])) }
  /// `month`
  public var month: ODataOperand<Int> { ODataOperand<Int>(.call(.month, [expression])) }
  /// `day` of the month
  public var day: ODataOperand<Int> { ODataOperand<Int>(.call(.day, [expression])) }
}

extension ODataOperand where Value: ODataTimed {
  /// `hour`
  public var hour: ODataOperand<Int> { ODataOperand<Int>(.call(.hour, [expression])) }
  /// `minute`
  public var minute: ODataOperand<Int> { ODataOperand<Int>(.call(.minute, [expression])) }
  /// `second`
  public var second: ODataOperand<Int> { ODataOperand<Int>(.call(.second, [expression])) }
  /// `fractionalseconds` (V4)
  public var fractionalSeconds: ODataOperand<ODataDecimal> {
    ODataOperand<ODataDecimal>(.call(.fractionalseconds, [expression]))
  }
}

extension ODataOperand where Value: ODataDated & ODataTimed {
  /// `date` (V4)
  public var date: ODataOperand<ODataDate> { ODataOperand<ODataDate>(.call(.date, [expression])) }
  /// `time` (V4)
  public var time: ODataOperand<ODataTimeOfDay> { ODataOperand<ODataTimeOfDay>(.call(.time, [expression])) }
  /// `totaloffsetminutes` (V4)
  public var totalOffsetMinutes: ODataOperand<Int> { ODataOperand<Int>(.call(.totaloffsetminutes, [expression])) }
  /// `now()` (V4)
  public static var now: ODataOperand { ODataOperand(.call(.now, [])) }
  /// `mindatetime()` (V4)
  public static var earliest: ODataOperand { ODataOperand(.call(.mindatetime, [])) }
  /// `maxdatetime()` (V4)
  public static var latest: ODataOperand { ODataOperand(.call(.maxdatetime, [])) }
}

extension ODataOperand<ODataDuration> {
  /// `totalseconds` (V4)
  public var totalSeconds: ODataOperand<ODataDecimal> { ODataOperand<ODataDecimal>(.call(.totalseconds, [expression])) }
}

extension ODataOperand<ODataGeo> {
  /// `geo.distance` (V3, V4)
  public func distance(to other: ODataGeo) -> ODataOperand<Double> {
    ODataOperand<Double>(.call(.geoDistance, [expression, other.odataExpression]))
  }
  /// `geo.intersects` (V3, V4)
  public func intersects(_ other: ODataGeo) -> ODataOperand<Bool> {
    ODataOperand<Bool>(.call(.geoIntersects, [expression, other.odataExpression]))
  }
  /// `geo.length` (V3, V4)
  public var geoLength: ODataOperand<Double> { ODataOperand<Double>(.call(.geoLength, [expression])) }
}

extension ODataOperand where Value: ODataEnumeration {
  /// `has`: whether all these flags are set (§5.1.1.1.9).
  public func has(_ flags: Value...) -> ODataOperand<Bool> {
    let members = flags.map(\.odataMembers).joined(separator: ",")
    let literal = ODataEnumerationLiteral(typeName: Value.odataTypeName, members: members)
    return ODataOperand<Bool>(.binary(.has, expression, ODataExpression(.enumeration(literal))))
  }
}
