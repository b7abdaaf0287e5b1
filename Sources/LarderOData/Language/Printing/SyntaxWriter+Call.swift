@_spi(Stores) import LarderCore

// Functions, and operators that are spelt as functions.
extension SyntaxWriter {
  mutating func call(_ expression: ODataExpression) throws(ODataPrintingError) {
    switch expression.kind {
    case .call(let function, let arguments):
      try check(function, arguments.count)
      raw(function.rawValue)
      try list(arguments)
    case .conditional(let branches): try conditional(branches)
    case .cast(let operand, let type):
      raw("cast(")
      try typeArguments(operand, type)
    case .isof(let operand, let type):
      raw("isof(")
      try typeArguments(operand, type)
    default: break
    }
  }

  private mutating func list(_ arguments: [ODataExpression]) throws(ODataPrintingError) {
    raw("(")
    for index in arguments.indices {
      if index > 0 { raw(",") }
      try operand(arguments[index], atLeast: 1)
    }
    raw(")")
  }

  private func check(_ function: ODataCanonicalFunction, _ count: Int) throws(ODataPrintingError) {
    guard function.belongs(to: dialect) || !printer.isStrict else {
      throw error(.notInDialect(function.rawValue, version, cure: SyntaxWriter.cure(function)))
    }
    let arity = function.arity(dialect)
    guard arity.contains(count) else {
      throw error(.wrongArgumentCount(function.rawValue, expected: arity, found: count))
    }
  }

  private static func cure(_ function: ODataCanonicalFunction) -> String? {
    switch function {
    case .contains: "use substringof with its arguments swapped"
    case .substringof: "use contains with its arguments swapped"
    default: nil
    }
  }

  private mutating func typeArguments(
    _ operand: ODataExpression?, _ type: ODataTypeName
  ) throws(ODataPrintingError) {
    if let operand {
      try expression(operand)
      raw(",")
    }
    // V2 writes the type as a string (OData V2 URI Conventions §4.5).
    if dialect == .v2 { raw("'") }
    try typeName(type)
    if dialect == .v2 { raw("'") }
    raw(")")
  }

  private mutating func conditional(_ branches: [ODataConditionalBranch]) throws(ODataPrintingError) {
    try demandV4("case")
    try demand("case", least: 1, found: branches.count)
    raw("case(")
    for index in branches.indices {
      if index > 0 { raw(",") }
      try expression(branches[index].condition)
      raw(":")
      let start = bytes.count
      try expression(branches[index].value)
      separateDigits(around: start)
    }
    raw(")")
  }

  /// Separates a `:` from two digits before and after it, which would be read as a time of day.
  private mutating func separateDigits(around start: Int) {
    func isDigit(_ place: Int) -> Bool { place >= 0 && place < bytes.count && bytes[place] &- 0x30 < 10 }
    guard isDigit(start), isDigit(start + 1), isDigit(start - 2), isDigit(start - 3) else { return }
    // With a third digit it is a number, unless that belongs to `%20`.
    let isEncoded = start >= 6 && bytes[start - 6] == UInt8(ascii: "%")
    if isDigit(start - 4), !isEncoded { return }
    bytes.insert(contentsOf: printer.isPercentEncoded ? Array("%20".utf8) : [0x20], at: start)
  }
}

// JSON in URLs (§5.1.1.14).
extension SyntaxWriter {
  mutating func json(_ expression: ODataExpression) throws(ODataPrintingError) {
    try demandV4("an array or object")
    switch expression.kind {
    case .array(let items):
      escaped(UInt8(ascii: "["))
      for index in items.indices {
        if index > 0 { raw(",") }
        try jsonValue(items[index])
      }
      escaped(UInt8(ascii: "]"))
    case .object(let members):
      escaped(UInt8(ascii: "{"))
      for index in members.indices {
        if index > 0 { raw(",") }
        try jsonString(members[index].name)
        raw(":")
        try jsonValue(members[index].value)
      }
      escaped(UInt8(ascii: "}"))
    default: break
    }
  }

  private mutating func jsonValue(_ value: ODataExpression) throws(ODataPrintingError) {
    if case .literal(.string(let text)) = value.kind { return try jsonString(text) }
    try operand(value, atLeast: 1)
  }

  /// Writes `"…"`; quotes, backslashes and control characters are escaped as in JSON, the rest as everywhere.
  private mutating func jsonString(_ text: String) throws(ODataPrintingError) {
    escaped(UInt8(ascii: "\""))
    var plain = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      guard scalar == "\"" || scalar == "\\" || scalar.value < 0x20 || scalar.value == 0x7F else {
        plain.append(scalar)
        continue
      }
      try encoded(String(plain))
      plain.removeAll()
      escaped(UInt8(ascii: "\\"))
      if scalar.value < 0x20 || scalar.value == 0x7F {
        raw("u00")
        bytes.append(Hexadecimal.upper(UInt8(scalar.value) >> 4))
        bytes.append(Hexadecimal.upper(UInt8(scalar.value) & 0x0F))
      } else {
        escaped(UInt8(scalar.value))
      }
    }
    try encoded(String(plain))
    escaped(UInt8(ascii: "\""))
  }
}
