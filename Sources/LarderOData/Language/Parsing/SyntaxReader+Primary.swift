// Operands: literals, paths, calls, parentheses.
extension SyntaxReader {
  /// The kinds of beginnings of an operand.
  private enum Start {
    case parenthesis
    case arrayOrObject
    case literal
    case path
    case call(Callee, nameEnds: Int)
  }

  /// The functions and operators that are called without a namespace.
  private enum Callee {
    case function(ODataCanonicalFunction)
    case conditional
    case cast
    case isof
    case isdefined
  }

  mutating func primary() throws(ODataSyntaxError) -> ODataExpression {
    let position = position
    switch try startOfOperand() {
    case .parenthesis: return try parenthesized()
    case .arrayOrObject: return try arrayOrObject()
    case .literal: return try primitiveLiteral()
    case .path: return ODataExpression(.path(try memberPath()), at: position)
    case .call(let callee, let last): return try call(callee, nameEnds: last, at: position)
    }
  }

  private mutating func call(
    _ callee: Callee, nameEnds last: Int, at position: SourcePosition
  ) throws(ODataSyntaxError) -> ODataExpression {
    switch callee {
    case .function(let function): return try canonicalCall(function, nameEnds: last, at: position)
    case .conditional: return try conditional(at: position)
    case .cast: return try cast(at: position)
    case .isof: return try isof(at: position)
    case .isdefined: return try isdefined(at: position)
    }
  }

  private mutating func startOfOperand() throws(ODataSyntaxError) -> Start {
    switch peek {
    case UInt8(ascii: "("): return .parenthesis
    case UInt8(ascii: "["), UInt8(ascii: "{"): return .arrayOrObject
    case UInt8(ascii: " "), UInt8(ascii: "\t"):
      // White space is allowed only before brackets and braces.
      let start = index
      skipSpace()
      if peek == UInt8(ascii: "[") || peek == UInt8(ascii: "{") { return .arrayOrObject }
      let last = index
      index = start
      noteFailedLookahead(to: last)
      throw expectedOperand
    case UInt8(ascii: "@"), UInt8(ascii: "$"): return .path
    case UInt8(ascii: "'"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"): return .literal
    default: break
    }
    let last = endOfIdentifier(at: index)
    guard last > index else { throw expectedOperand }
    if isLiteral(upTo: last) { return .literal }
    guard last < end, bytes[last] == UInt8(ascii: "(") || bytes[last] == UInt8(ascii: ".") else { return .path }
    return try startOfCall(nameEnds: last) ?? .path
  }

  private var expectedOperand: ODataSyntaxError { unexpected("a literal", "a path", "a function", "'('") }

  private mutating func parenthesized() throws(ODataSyntaxError) -> ODataExpression {
    index += 1
    skipSpace()
    let inner = try expression()
    skipSpace()
    guard take(UInt8(ascii: ")")) else { throw unexpected("an operator", "')'") }
    return inner
  }
}

// Calls of functions without a namespace.
extension SyntaxReader {
  /// Recognizes a canonical function or an operator that is spelt as a function; nil if the name is none of these.
  private func startOfCall(nameEnds last: Int) throws(ODataSyntaxError) -> Start? {
    if bytes[last] == UInt8(ascii: ".") {
      guard hasWord("geo.", at: index, anyCase: isRelaxed), case let next = endOfIdentifier(at: last + 1), next < end,
        bytes[next] == UInt8(ascii: "("), let function = canonicalFunction(index..<next)
      else { return nil }
      return .call(.function(function), nameEnds: next)
    }
    func `is`(_ word: StaticString) -> Bool {
      last - index == word.utf8CodeUnitCount && hasWord(word, at: index, anyCase: isRelaxed)
    }
    // Named arguments are those of a service's function, even if it has the name of a canonical one.
    if isNamedArgument(at: last + 1) { return nil }
    switch bytes[index] | 0x20 {
    case UInt8(ascii: "a") where `is`("any") || `is`("all") || `is`("aggregate"):
      throw error(.unexpected(expected: ["a collection and '/' before it"]), at: last)
    case UInt8(ascii: "c") where `is`("case"): return .call(.conditional, nameEnds: last)
    case UInt8(ascii: "c") where `is`("cast"): return .call(.cast, nameEnds: last)
    case UInt8(ascii: "i") where `is`("isof"): return .call(.isof, nameEnds: last)
    case UInt8(ascii: "i") where `is`("isdefined"): return .call(.isdefined, nameEnds: last)
    default:
      guard let function = canonicalFunction(index..<last) else { return nil }
      return .call(.function(function), nameEnds: last)
    }
  }

  /// Whether `name=` follows at a position. Then the call is to a function of the service that has the name of a
  /// canonical function.
  func isNamedArgument(at place: Int) -> Bool {
    var place = place
    while place < end, bytes[place] == 0x20 || bytes[place] == 0x09 { place += 1 }
    let last = endOfIdentifier(at: place)
    return last > place && last < end && bytes[last] == UInt8(ascii: "=")
  }

  private func canonicalFunction(_ range: Range<Int>) -> ODataCanonicalFunction? {
    let name = string(range)
    if let function = CanonicalNames.exact[name] { return function }
    return isRelaxed ? CanonicalNames.folded[name.lowercased()] : nil
  }

  private mutating func canonicalCall(
    _ function: ODataCanonicalFunction, nameEnds last: Int, at position: SourcePosition
  ) throws(ODataSyntaxError) -> ODataExpression {
    index = last + 1
    skipSpace()
    let arity = function.arity(dialect)
    var arguments: [ODataExpression] = []
    // The position of the first argument too many, or of a parenthesis that comes too early.
    var errorPosition = index
    if !take(UInt8(ascii: ")")) {
      repeat {
        skipSpace()
        arguments.append(try expression())
        skipSpace()
        if arguments.count <= arity.upperBound { errorPosition = index }
      } while take(UInt8(ascii: ","))
      guard take(UInt8(ascii: ")")) else { throw unexpected("an operator", "','", "')'") }
    }
    guard arity.contains(arguments.count) else {
      throw error(
        .wrongArgumentCount(function.rawValue, expected: arity.inWords, found: arguments.count), at: errorPosition)
    }
    return ODataExpression(.call(function, arguments), at: position)
  }

  private mutating func isdefined(at position: SourcePosition) throws(ODataSyntaxError) -> ODataExpression {
    index += 10
    skipSpace()
    let path = try nested { (reader: inout SyntaxReader) throws(ODataSyntaxError) in try reader.memberPath() }
    skipSpace()
    try demand(UInt8(ascii: ")"))
    return ODataExpression(.isdefined(path), at: position)
  }

  private mutating func conditional(at position: SourcePosition) throws(ODataSyntaxError) -> ODataExpression {
    index += 5
    var branches: [ODataConditionalBranch] = []
    repeat {
      skipSpace()
      let condition = try condition()
      skipSpace()
      branches.append(ODataConditionalBranch(condition: condition, value: try expression()))
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: ")")) else { throw unexpected("an operator", "','", "')'") }
    return ODataExpression(.conditional(branches), at: position)
  }

  /// Reads a condition and the `:` after it.
  private mutating func condition() throws(ODataSyntaxError) -> ODataExpression {
    let start = index
    if conditionTimes == nil { conditionTimes = ConditionTimes() }
    let condition = try expression()
    skipSpace()
    return take(UInt8(ascii: ":")) ? condition : try conditionBeforeTime(from: start)
  }

  /// Reads a condition again if it was read too far, because its number, the `:` and the first digits of the value were
  /// read as a time of day: `10:20`.
  private mutating func conditionBeforeTime(from start: Int) throws(ODataSyntaxError) -> ODataExpression {
    let failure = unexpected("an operator", "':'")
    guard let times = conditionTimes, let place = times.last, place >= start, times.numbers.insert(place).inserted
    else {
      throw failure
    }
    index = start
    guard let condition = try? expression(), index == place + 2, take(UInt8(ascii: ":")) else { throw failure }
    return condition
  }

  private mutating func isof(at position: SourcePosition) throws(ODataSyntaxError) -> ODataExpression {
    let (operand, type) = try typeArguments()
    return ODataExpression(.isof(operand, type), at: position)
  }

  private mutating func cast(at position: SourcePosition) throws(ODataSyntaxError) -> ODataExpression {
    let (operand, type) = try typeArguments()
    let cast = ODataExpression(.cast(operand, type), at: position)
    guard peek == UInt8(ascii: "/") else { return cast }
    let segments = try steps(after: [])
    return ODataExpression(.path(ODataPath(root: .expression(cast), segments, at: position)), at: position)
  }

  /// Reads `(type)` or `(expression,type)` after a word of four letters.
  private mutating func typeArguments() throws(ODataSyntaxError) -> (ODataExpression?, ODataTypeName) {
    index += 5
    skipSpace()
    let start = index
    if let type = try? typeOperand() {
      let last = index
      skipSpace()
      if take(UInt8(ascii: ")")) { return (nil, type) }
      noteFailedLookahead(from: last, to: index)
    }
    index = start
    let operand = try expression()
    skipSpace()
    guard take(UInt8(ascii: ",")) else { throw unexpected("an operator", "','") }
    skipSpace()
    let type = try typeOperand()
    skipSpace()
    try demand(UInt8(ascii: ")"))
    return (operand, type)
  }

  /// Reads a type's name, also in quotes as V2 and V3 wrote it.
  private mutating func typeOperand() throws(ODataSyntaxError) -> ODataTypeName {
    guard take(UInt8(ascii: "'")) else { return try typeName() }
    let type = try typeName()
    try demand(UInt8(ascii: "'"))
    return type
  }
}

/// The positions of texts that can be a time of day or a number: `10:20` in `case(Amount gt 10:20,…)`.
final class ConditionTimes {
  /// The position of the last one that was read as a time.
  var last: Int?
  /// The positions of those that are numbers.
  var numbers: Set<Int> = []
}

/// The canonical functions by name.
private enum CanonicalNames {
  static let exact = Dictionary(uniqueKeysWithValues: ODataCanonicalFunction.allCases.map { ($0.rawValue, $0) })
  static let folded = Dictionary(
    uniqueKeysWithValues: ODataCanonicalFunction.allCases.map { ($0.rawValue.lowercased(), $0) })
}

extension ClosedRange<Int> {
  /// A number of arguments, for messages.
  fileprivate var inWords: String {
    func counted(_ count: Int) -> String { count == 1 ? "1 argument" : "\(count) arguments" }
    if lowerBound == upperBound { return lowerBound == 0 ? "no arguments" : counted(lowerBound) }
    return upperBound == .max ? "at least \(counted(lowerBound))" : "\(lowerBound) to \(counted(upperBound))"
  }
}
