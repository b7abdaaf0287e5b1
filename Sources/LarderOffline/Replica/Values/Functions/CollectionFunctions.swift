import LarderOData
import LarderStorage

extension ReplicaSQL {
  /// Functions of collections that are stored as JSON.
  static let collections: [SQLFunction] = [
    SQLFunction("larder_json_concat", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard let left = try items(arguments, 0), let right = try items(arguments, 1) else { return }
      write(left + right, result)
    },
    SQLFunction("larder_json_substring", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard let items = try items(arguments, 0), !arguments.isNull(1) else { return }
      write(part(of: items, arguments.int64(1), nil), result)
    },
    SQLFunction("larder_json_substring", argumentCount: 3) { (arguments, result) throws(SQLFunctionError) in
      guard let items = try items(arguments, 0), !arguments.isNull(1), !arguments.isNull(2) else { return }
      guard arguments.int64(2) >= 0 else { throw SQLFunctionError("substring: the length is negative") }
      write(part(of: items, arguments.int64(1), arguments.int64(2)), result)
    },
    compared("larder_json_contains") { .boolean(index(of: $1, in: $0) != nil) },
    compared("larder_json_startswith") { .boolean($0.starts(with: $1)) },
    compared("larder_json_endswith") { .boolean($0.reversed().starts(with: $1.reversed())) },
    compared("larder_json_indexof") { .number(String(index(of: $1, in: $0) ?? -1)) },
    compared("larder_hassubset") { .boolean(hasSubset($0, $1)) },
    compared("larder_hassubsequence") { .boolean(hasSubsequence($0, $1)) },
    SQLFunction("larder_json_equal", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard let left = try node(arguments, 0), let right = try node(arguments, 1) else { return }
      result.boolean(key(left) == key(right))
    },
  ]

  private static func compared(
    _ name: String, _ body: @escaping @Sendable ([[UInt8]], [[UInt8]]) -> JSONNode
  ) -> SQLFunction {
    SQLFunction(name, argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard let left = try items(arguments, 0), let right = try items(arguments, 1) else { return }
      switch body(left.map(key), right.map(key)) {
      case .boolean(let flag): result.boolean(flag)
      case .number(let digits): result.integer(Int64(digits) ?? -1)
      default: break
      }
    }
  }

  // MARK: JSON

  private static func node(_ arguments: borrowing SQLArguments, _ index: Int) throws(SQLFunctionError) -> JSONNode? {
    guard !arguments.isNull(index) else { return nil }
    do { return try JSONNode(unsafe Array(arguments.utf8(index))) } catch {
      throw SQLFunctionError("a collection is not valid JSON: \(error)")
    }
  }

  /// The items of a collection; nil for NULL and for values that are not collections.
  private static func items(
    _ arguments: borrowing SQLArguments, _ index: Int
  ) throws(SQLFunctionError) -> [JSONNode]? { try node(arguments, index)?.items }

  private static func write(_ items: some Collection<JSONNode>, _ result: borrowing SQLResult) {
    var writer = JSONWriter()
    writer.node(.array(Array(items)))
    result.text(writer.bytes)
  }

  /// Bytes that are equal for equal values: numbers by value, members in the order of their names, without null
  /// members.
  private static func key(_ node: JSONNode) -> [UInt8] {
    var writer = JSONWriter()
    writer.node(normalized(node))
    return writer.bytes
  }

  private static func normalized(_ node: JSONNode) -> JSONNode {
    switch node {
    case .number(let digits):
      let number = ODataDecimal(digits)?.sortKey.map { String($0) }.joined(separator: ".")
      return .number(number ?? digits)
    case .array(let items): return .array(items.map(normalized))
    case .object(let members):
      return .object(
        members.filter { $0.value != .null }.sorted {
          Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8))
        }
        .map { JSONNode.Member($0.name, normalized($0.value)) })
    default: return node
    }
  }

  // MARK: Items

  private static func part(of items: [JSONNode], _ start: Int64, _ count: Int64?) -> ArraySlice<JSONNode> {
    let first = start >= 0 ? start : max(0, start.addingReportingOverflow(Int64(items.count)).partialValue)
    let rest = items.dropFirst(Int(clamping: first))
    guard let count else { return rest }
    return rest.prefix(Int(clamping: count))
  }

  /// The index at which items occur in others, one after the other; 0 if there are none to find.
  private static func index(of part: [[UInt8]], in items: [[UInt8]]) -> Int? {
    guard part.count <= items.count else { return nil }
    return (0...items.count - part.count).first { items[$0...].starts(with: part) }
  }

  private static func hasSubset(_ items: [[UInt8]], _ part: [[UInt8]]) -> Bool {
    var counts: [[UInt8]: Int] = [:]
    for item in items { counts[item, default: 0] += 1 }
    for item in part {
      guard let count = counts[item], count > 0 else { return false }
      counts[item] = count - 1
    }
    return true
  }

  private static func hasSubsequence(_ items: [[UInt8]], _ part: [[UInt8]]) -> Bool {
    var rest = part[...]
    for item in items where item == rest.first { rest.removeFirst() }
    return rest.isEmpty
  }
}
