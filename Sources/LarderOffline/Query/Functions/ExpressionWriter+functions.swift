import LarderOData
import LarderStorage

// Canonical functions (URL Conventions 4.01 §5.1.1.5 to §5.1.1.11).
extension ExpressionWriter {
  /// The condition of a function that returns a Boolean; nil for other functions.
  func truth(
    of function: ODataCanonicalFunction, _ arguments: [ODataBoundExpression], _ expression: ODataBoundExpression
  ) throws -> Condition? {
    switch function {
    case .contains, .startswith, .endswith:
      guard arguments.count == 2 else { return nil }
      if arguments[0].type.isCollection { return try collections(function, arguments) }
      let (text, part) = (try operand(arguments[0]), try operand(arguments[1]))
      return Condition(text: strings(function, text, part), isNullable: text.isNullable || part.isNullable)
    case .hassubset, .hassubsequence: return try collections(function, arguments)
    case .matchesPattern:
      let values = try arguments.map { try operand($0) }
      return Condition(
        text: try fallible("larder_matches", values.map(\.text), of: expression),
        isNullable: values.contains(where: \.isNullable))
    case .geoIntersects:
      let space = geoSpace(arguments)
      let values = try arguments.map { try operand($0).text }
      return Condition(
        text: .atom("larder_geo_intersects(\(SQLText.joined(values, ", ")), \(value: .text(space)))"), isNullable: true)
    default: return nil
    }
  }

  private func collections(
    _ function: ODataCanonicalFunction, _ arguments: [ODataBoundExpression]
  ) throws -> Condition {
    let name: SQLText =
      switch function {
      case .contains: "larder_json_contains"
      case .startswith: "larder_json_startswith"
      case .endswith: "larder_json_endswith"
      case .hassubset: "larder_hassubset"
      default: "larder_hassubsequence"
      }
    let values = try arguments.map { try json($0) }
    return Condition(text: .atom("\(name)(\(SQLText.joined(values, ", ")))"), isNullable: true)
  }

  private func strings(_ function: ODataCanonicalFunction, _ text: SQLOperand, _ part: SQLOperand) -> SQLText {
    switch function {
    case .contains: return "instr(\(text.text), \(part.text)) > 0"
    case .endswith: return .atom("larder_endswith(\(text.text), \(part.text))")
    default:
      // Strings that begin with a constant are a range in byte order, for which SQLite can use an index.
      guard case .string(let prefix)? = part.literal, text.storage == .string else {
        return .atom("larder_startswith(\(text.text), \(part.text))")
      }
      guard !prefix.isEmpty else { return .atom("(\(operand: text.text) >= '')") }
      let lower: SQLText = "\(operand: text.text) >= \(value: .text(prefix))"
      guard let end = ExpressionWriter.upperBound(prefix) else { return .atom("(\(lower))") }
      return .atom("(\(lower) AND \(operand: text.text) < \(value: .text(end)))")
    }
  }

  /// The least string that is greater than all strings with a prefix; nil if there is none.
  static func upperBound(_ prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      scalars.append(scalar)
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      return String(text)
    }
    return nil
  }

  // MARK: Values

  /// The value of a function; nil for functions that return a Boolean.
  func call(
    _ function: ODataCanonicalFunction, _ arguments: [ODataBoundExpression], _ expression: ODataBoundExpression
  ) throws -> SQLOperand? {
    let type = expression.type
    switch function {
    case .contains, .startswith, .endswith, .hassubset, .hassubsequence, .matchesPattern, .geoIntersects: return nil
    case .concat, .length, .substring, .indexof: return try sequence(function, arguments, expression)
    case .now: return timestamp(statement.context.now, type)
    case .mindatetime: return timestamp(ReplicaSQL.minimumTimestamp, type)
    case .maxdatetime: return timestamp(ReplicaSQL.maximumTimestamp, type)
    case .geoDistance, .geoLength:
      let name: SQLText = function == .geoDistance ? "larder_geo_distance" : "larder_geo_length"
      let values = try arguments.map { try operand($0).text }
      return SQLOperand(
        text: .atom("\(name)(\(SQLText.joined(values, ", ")), \(value: .text(geoSpace(arguments))))"), storage: .real,
        type: type)
    default: break
    }
    guard let name = ExpressionWriter.names[function] else {
      throw OfflineODataError.unsupported("the function \(function.rawValue)")
    }
    let values = try arguments.map { try operand($0) }
    var result = SQLOperand(
      text: .atom("\(name)(\(SQLText.joined(values.map(\.text), ", ")))"), storage: type.storage, type: type,
      isNullable: values.contains(where: \.isNullable))
    if function == .round || function == .floor || function == .ceiling {
      // The result has the storage of the argument.
      result.storage = values[0].storage
      result.canBeNaN = values[0].canBeNaN
    }
    return result
  }

  private static let names: [ODataCanonicalFunction: SQLText] = [
    .tolower: "larder_tolower", .toupper: "larder_toupper", .trim: "larder_trim", .replace: "replace",
    .year: "larder_year", .month: "larder_month", .day: "larder_day", .hour: "larder_hour", .minute: "larder_minute",
    .second: "larder_second", .fractionalseconds: "larder_fractionalseconds", .date: "larder_date",
    .time: "larder_time", .totaloffsetminutes: "larder_totaloffsetminutes", .totalseconds: "larder_totalseconds",
    .round: "larder_round", .floor: "larder_floor", .ceiling: "larder_ceiling",
  ]

  private func timestamp(_ text: String, _ type: ODataBoundType) -> SQLOperand {
    SQLOperand(text: SQLText(.text(text)), storage: .dateTimeOffset, type: type, isNullable: false)
  }

  private func geoSpace(_ arguments: [ODataBoundExpression]) -> String {
    let isPlane = arguments.contains { $0.type.item.primitive?.rawValue.hasPrefix("Geometry") == true }
    return isPlane ? "geometry" : "geography"
  }

  private func sequence(
    _ function: ODataCanonicalFunction, _ arguments: [ODataBoundExpression], _ expression: ODataBoundExpression
  ) throws -> SQLOperand {
    var result = SQLOperand(text: "", storage: expression.type.storage, type: expression.type)
    if arguments[0].type.isCollection {
      result.text = try collection(function, arguments, expression)
      return result
    }
    let values = try arguments.map { try operand($0) }
    result.isNullable = values.contains(where: \.isNullable)
    let list = SQLText.joined(values.map(\.text), ", ")
    switch function {
    case .concat: result.text = ExpressionWriter.chain(values.map(\.text.operand), " || ")
    case .length: result.text = .atom("larder_length(\(list))")
    case .substring where values.count > 2:
      result.text = try fallible("larder_substring", values.map(\.text), of: expression)
    case .substring: result.text = .atom("larder_substring(\(list))")
    default: result.text = "instr(\(list)) - 1"
    }
    return result
  }

  private func collection(
    _ function: ODataCanonicalFunction, _ arguments: [ODataBoundExpression], _ expression: ODataBoundExpression
  ) throws -> SQLText {
    let first = try json(arguments[0])
    switch function {
    case .length: return .atom("json_array_length(\(first))")
    case .substring:
      let rest = try arguments.dropFirst().map { try operand($0).text }
      if rest.count > 1 { return try fallible("larder_json_substring", [first] + rest, of: expression) }
      return .atom("larder_json_substring(\(first), \(SQLText.joined(rest, ", ")))")
    default:
      let name: SQLText = function == .concat ? "larder_json_concat" : "larder_json_indexof"
      return .atom("\(name)(\(first), \(try json(arguments[1])))")
    }
  }
}
