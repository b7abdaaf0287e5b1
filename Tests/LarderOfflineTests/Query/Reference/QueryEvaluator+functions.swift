import LarderOData

// Canonical functions and casts (URL Conventions 4.01 §5.1.1.5 to §5.1.1.10).
extension QueryEvaluator {
  func truth(_ function: ODataCanonicalFunction, _ arguments: [ODataBoundExpression]) throws -> Bool? {
    let values = try arguments.map { try item($0) }
    if arguments[0].type.isCollection { return try collections(function, values) }
    guard values.count == 2, case .value(.string(let text)) = values[0], case .value(.string(let part)) = values[1]
    else { return nil }
    let (all, some) = (Array(text.unicodeScalars), Array(part.unicodeScalars))
    switch function {
    case .contains: return index(of: some, in: all) != nil
    case .startswith: return all.starts(with: some)
    case .endswith: return all.reversed().starts(with: some.reversed())
    default: throw Failure.unknown(function.rawValue)
    }
  }

  private func collections(_ function: ODataCanonicalFunction, _ values: [Item]) throws -> Bool? {
    guard case .many(let all) = values[0], case .many(let some) = values[1] else { return nil }
    switch function {
    case .contains: return try position(of: some, in: all) != nil
    case .startswith: return try some.count <= all.count && same(Array(all.prefix(some.count)), some)
    case .endswith: return try some.count <= all.count && same(Array(all.suffix(some.count)), some)
    case .hassubsequence:
      var rest = some[...]
      for item in all { if let next = rest.first, try equal(item, next) { rest = rest.dropFirst() } }
      return rest.isEmpty
    case .hassubset:
      // Each item as often as it occurs.
      var rest = all
      for item in some {
        guard let place = try rest.firstIndex(where: { try equal($0, item) }) else { return false }
        rest.remove(at: place)
      }
      return true
    default: throw Failure.unknown(function.rawValue)
    }
  }

  private func same(_ one: [Item], _ other: [Item]) throws -> Bool { try equal(.many(one), .many(other)) }

  private func position(of part: [Item], in all: [Item]) throws -> Int? {
    guard part.count <= all.count else { return nil }
    return try (0...(all.count - part.count)).first { try same(Array(all[$0..<$0 + part.count]), part) }
  }

  private func index(of part: [Unicode.Scalar], in all: [Unicode.Scalar]) -> Int? {
    guard part.count <= all.count else { return nil }
    return (0...(all.count - part.count)).first { all[$0...].starts(with: part) }
  }

  // MARK: Values

  func call(
    _ function: ODataCanonicalFunction, _ arguments: [ODataBoundExpression], _ type: ODataBoundType
  ) throws -> Item {
    let values = try arguments.map { try item($0) }
    if case .many(let items)? = values.first { return try collection(function, items, values) }
    var plain: [ODataValue] = []
    for value in values {
      guard case .value(let value) = value, value != .null else { return .null }
      plain.append(value)
    }
    return .value(try scalar(function, plain))
  }

  private func collection(_ function: ODataCanonicalFunction, _ items: [Item], _ values: [Item]) throws -> Item {
    switch function {
    case .length: return .value(.int64(Int64(items.count)))
    case .concat, .indexof:
      guard values.count == 2, case .many(let more) = values[1] else { return .null }
      if function == .concat { return .many(items + more) }
      return .value(.int64(Int64(try position(of: more, in: items) ?? -1)))
    case .substring:
      var numbers: [Int] = []
      for value in values.dropFirst() {
        guard case .value(let number) = value, let whole = QueryEvaluator.whole(number) else { return .null }
        numbers.append(Int(whole))
      }
      return .many(QueryEvaluator.part(of: items, numbers))
    default: throw Failure.unknown(function.rawValue)
    }
  }

  /// The items from an index on (negative counts from the end), up to a number.
  private static func part<Element>(of all: [Element], _ numbers: [Int]) -> [Element] {
    guard let start = numbers.first else { return all }
    let first = start < 0 ? max(0, all.count + start) : start
    let rest = all.dropFirst(first)
    return Array(numbers.count > 1 ? rest.prefix(max(0, numbers[1])) : rest)
  }

  private func scalar(_ function: ODataCanonicalFunction, _ values: [ODataValue]) throws -> ODataValue {
    switch function {
    case .concat, .length, .tolower, .toupper, .trim, .indexof, .substring: return try string(function, values)
    case .round, .floor, .ceiling: return try rounded(function, values[0])
    default: break
    }
    switch (function, values.first) {
    case (.mindatetime, _): return try timestamp("0001-01-01T00:00:00Z")
    case (.maxdatetime, _): return try timestamp("9999-12-31T23:59:59.999999999999Z")
    case (_, .date(let date)?): return try part(function, date, .midnight)
    case (_, .timeOfDay(let time)?): return try part(function, nil, time)
    case (.totaloffsetminutes, .dateTimeOffset(let timestamp)?): return .int32(Int32(timestamp.offsetMinutes))
    case (_, .dateTimeOffset(let timestamp)?): return try part(function, timestamp.date, timestamp.time)
    case (.totalseconds, .duration(let duration)?):
      return .decimal(ODataDecimal(QueryEvaluator.picoseconds(duration), exponent: -12))
    default: throw Failure.unknown(function.rawValue)
    }
  }

  private func timestamp(_ text: String) throws -> ODataValue {
    guard let timestamp = ODataDateTimeOffset(text) else { throw Failure.unknown(text) }
    return .dateTimeOffset(timestamp)
  }

  private func part(
    _ function: ODataCanonicalFunction, _ date: ODataDate?, _ time: ODataTimeOfDay
  ) throws -> ODataValue {
    switch function {
    case .hour: return .int32(Int32(time.hour))
    case .minute: return .int32(Int32(time.minute))
    case .second: return .int32(Int32(time.second))
    case .fractionalseconds: return .decimal(ODataDecimal(Int128(time.picosecond), exponent: -12))
    case .time: return .timeOfDay(time)
    default: break
    }
    guard let date else { throw Failure.unknown(function.rawValue) }
    switch function {
    case .year: return .int32(Int32(date.year))
    case .month: return .int32(Int32(date.month))
    case .day: return .int32(Int32(date.day))
    case .date: return .date(date)
    default: throw Failure.unknown(function.rawValue)
    }
  }

  private func string(_ function: ODataCanonicalFunction, _ values: [ODataValue]) throws -> ODataValue {
    guard case .string(let text) = values[0] else { return .null }
    switch function {
    case .concat:
      var all = ""
      for value in values { if case .string(let part) = value { all += part } }
      return .string(all)
    case .length: return .int32(Int32(text.unicodeScalars.count))
    case .tolower: return .string(text.lowercased())
    case .toupper: return .string(text.uppercased())
    case .trim:
      var scalars = Array(text.unicodeScalars)
      while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
      return .string(QueryEvaluator.text(Array(scalars.drop { $0.properties.isWhitespace })))
    case .indexof:
      guard values.count == 2, case .string(let part) = values[1] else { return .null }
      return .int32(Int32(index(of: Array(part.unicodeScalars), in: Array(text.unicodeScalars)) ?? -1))
    default:
      let numbers = values.dropFirst().compactMap { QueryEvaluator.whole($0).map { Int($0) } }
      return .string(QueryEvaluator.text(QueryEvaluator.part(of: Array(text.unicodeScalars), numbers)))
    }
  }

  private static func text(_ scalars: [Unicode.Scalar]) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }

  private func rounded(_ function: ODataCanonicalFunction, _ value: ODataValue) throws -> ODataValue {
    if let number = QueryEvaluator.decimal(value) {
      let rule: ODataRounding = function == .round ? .halfAwayFromZero : function == .floor ? .down : .up
      return .decimal(number.rounded(rule))
    }
    guard let number = QueryEvaluator.double(value) else { return .null }
    return .double(
      number.rounded(function == .round ? .toNearestOrAwayFromZero : function == .floor ? .down : .up))
  }

  // MARK: Casts

  static func cast(_ value: ODataValue, _ source: ODataBoundType, to type: ODataBoundType) -> ODataValue {
    guard value != .null, let target = type.item.primitive else { return .null }
    if case .enumeration(let text) = value {
      guard case .enumeration(let declared) = source.item, let number = Int64(text) else { return .null }
      if target == .string {
        return .string(declared.enumeration.members.first { $0.value == number }?.name ?? text)
      }
      return number <= 127 ? .int64(number) : .null
    }
    if value.type == target { return value }
    if target == .string { return (try? value.text()).map { .string($0) } ?? .null }
    if case .string(let text) = value { return (try? ODataValue(text: text, type: target)) ?? .null }
    switch target {
    case .double: return double(value).map { .double($0) } ?? .null
    case .decimal:
      if let number = decimal(value) { return .decimal(number) }
      return double(value).map { .decimal(ODataDecimal($0)) } ?? .null
    case .int32, .int64, .int16, .byte:
      let number = decimal(value) ?? double(value).map { ODataDecimal($0) }
      guard let number, let whole = Int64(exactly: number.rounded(.halfAwayFromZero)) else { return .null }
      let range: ClosedRange<Int64> =
        switch target {
        case .byte: 0...255
        case .int16: -32768...32767
        case .int32: Int64(Int32.min)...Int64(Int32.max)
        default: .min ... .max
        }
      return range.contains(whole) ? .int64(whole) : .null
    default: return .null
    }
  }
}

extension ODataCanonicalFunction {
  /// Whether it is true, false or null.
  var isPredicate: Bool {
    switch self {
    case .contains, .startswith, .endswith, .hassubset, .hassubsequence, .matchesPattern, .geoIntersects: true
    default: false
    }
  }
}
