import LarderOData

/// One difference between two results.
struct ResultDifference: Sendable, Hashable, CustomStringConvertible {
  enum Kind: Sendable, Hashable {
    /// The service gives a value, the store another.
    case value
    /// Only one of them has the member.
    case onlyInService, onlyInStore
    /// Only one of them has the row.
    case rowOnlyInService, rowOnlyInStore
    /// Both have these rows, but one has them in an order that the query does not specify.
    case order
    /// One returns a result; the other returns nothing or rejects the query.
    case rejection
  }
  let kind: Kind
  /// Member names from the result's root, joined by `/`.
  let path: String
  let service: String
  let store: String

  var description: String { "\(kind) at '\(path)': service \(service), store \(store)" }
}

/// Compares results value by value.
struct ResultComparison {
  /// The collections whose order matters, by path of navigation properties.
  let ordered: Set<String>
  /// How far numbers may be apart, relative: where the standard leaves the type of a result to the service.
  var tolerance = 0.0
  /// The names of properties of binary floating-point types: those have many spellings of one value.
  var floating = QueryData.Floating()
  /// The property that was requested alone: its value has no name in the result.
  var property = ""
  private(set) var differences: [ResultDifference] = []

  init(ordered: Set<String>, tolerance: Double = 0) {
    self.ordered = ordered
    self.tolerance = tolerance
  }

  static func differences(
    service: QueryResult, store: QueryResult, ordered: Set<String>, tolerance: Double = 0,
    floating: QueryData.Floating = QueryData.Floating(), property: String = ""
  ) -> [ResultDifference] {
    guard case .content(let serviceNode) = service, case .content(let storeNode) = store else {
      guard service != store else { return [] }
      return [ResultDifference(kind: .rejection, path: "", service: service.text(200), store: store.text(200))]
    }
    var comparison = ResultComparison(ordered: ordered, tolerance: tolerance)
    comparison.floating = floating
    comparison.property = property
    if let one = try? JSONNode(serviceNode), let other = try? JSONNode(storeNode) {
      comparison.compare(ResultShape.plain(one), ResultShape.plain(other), "", "")
    } else {
      comparison.scalar(.string(text(serviceNode)), .string(text(storeNode)), "")
    }
    return comparison.differences
  }

  private static func text(_ bytes: [UInt8]) -> String {
    var text = Substring(String(decoding: bytes, as: UTF8.self))
    while text.first == "\u{FEFF}" || text.first?.isWhitespace == true { text = text.dropFirst() }
    while text.last?.isWhitespace == true { text = text.dropLast() }
    return String(text)
  }

  private mutating func note(_ kind: ResultDifference.Kind, _ path: String, _ service: JSONNode?, _ store: JSONNode?) {
    differences.append(
      ResultDifference(
        kind: kind, path: path, service: service.map(ResultText.short) ?? "-", store: store.map(ResultText.short) ?? "-"
      ))
  }

  /// `orderPath` consists of navigation properties only, as in queries.
  private mutating func compare(_ serviceNode: JSONNode, _ storeNode: JSONNode, _ path: String, _ orderPath: String) {
    switch (serviceNode, storeNode) {
    case (.object, .object): objects(serviceNode, storeNode, path, orderPath)
    case (.array(let one), .array(let other)):
      if one.contains(where: { $0.members != nil }) || other.contains(where: { $0.members != nil }) {
        rows(one, other, path, orderPath)
      } else if one.count != other.count {
        note(.value, path, serviceNode, storeNode)
      } else {
        for (index, pair) in zip(one, other).enumerated() { scalar(pair.0, pair.1, "\(path)[\(index)]") }
      }
    default: scalar(serviceNode, storeNode, path)
    }
  }

  private mutating func objects(_ serviceNode: JSONNode, _ storeNode: JSONNode, _ path: String, _ orderPath: String) {
    for member in serviceNode.members ?? [] {
      let inner = path.isEmpty ? member.name : "\(path)/\(member.name)"
      guard let other = storeNode[member.name] else {
        note(.onlyInService, inner, member.value, nil)
        continue
      }
      let isRoot = path.isEmpty && member.name == "value"
      compare(member.value, other, inner, isRoot ? "" : orderPath.isEmpty ? member.name : "\(orderPath)/\(member.name)")
    }
    for member in storeNode.members ?? [] where serviceNode[member.name] == nil {
      note(.onlyInStore, path.isEmpty ? member.name : "\(path)/\(member.name)", nil, member.value)
    }
  }

  /// Matches rows by their contents, and checks their order if the query defines one.
  private mutating func rows(_ serviceRows: [JSONNode], _ storeRows: [JSONNode], _ path: String, _ orderPath: String) {
    // Numbers that may be a little apart must not keep rows from finding each other.
    let one = serviceRows.map { ResultText.canonical($0, isRounded: tolerance > 0) }
    let other = storeRows.map { ResultText.canonical($0, isRounded: tolerance > 0) }
    if one == other {
      for (number, pair) in zip(serviceRows, storeRows).enumerated() {
        compare(pair.0, pair.1, "\(path)[\(number)]", orderPath)
      }
      return
    }
    var unmatched = Dictionary(grouping: other.indices.reversed()) { other[$0] }
    var unmatchedRows: [Int] = []
    var matched: Set<Int> = []
    for number in serviceRows.indices {
      if let match = unmatched[one[number]]?.popLast() {
        matched.insert(match)
        compare(serviceRows[number], storeRows[match], "\(path)[\(number)]", orderPath)
      } else {
        unmatchedRows.append(number)
      }
    }
    let rest = storeRows.indices.filter { !matched.contains($0) }
    if unmatchedRows.isEmpty, rest.isEmpty {
      if ordered.contains(orderPath) { note(.order, path, .array(serviceRows), .array(storeRows)) }
    } else if serviceRows.count == storeRows.count, unmatchedRows.count == rest.count {
      // The row counts are equal, so the differences are in the rows.
      for (number, match) in zip(unmatchedRows, rest) {
        compare(serviceRows[number], storeRows[match], "\(path)[\(number)]", orderPath)
      }
    } else {
      for number in unmatchedRows { note(.rowOnlyInService, "\(path)[\(number)]", serviceRows[number], nil) }
      for number in rest { note(.rowOnlyInStore, "\(path)[\(number)]", nil, storeRows[number]) }
    }
  }

  private mutating func scalar(_ serviceNode: JSONNode, _ storeNode: JSONNode, _ path: String) {
    guard serviceNode != storeNode, ResultText.scalar(serviceNode) != ResultText.scalar(storeNode) else { return }
    let name = path.split(separator: "/").last?.prefix { $0 != "[" } ?? ""
    if floating.isSame(serviceNode.text, storeNode.text, name.isEmpty || name == "value" ? property : String(name)) {
      return
    }
    if tolerance > 0, let one = serviceNode.text.flatMap(Double.init), let other = storeNode.text.flatMap(Double.init),
      abs(one - other) <= tolerance * max(abs(one), abs(other), 1e-9)
    {
      return
    }
    note(.value, path, serviceNode, storeNode)
  }
}
