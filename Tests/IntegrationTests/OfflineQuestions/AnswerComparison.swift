import LarderOData

/// One place where two answers differ.
struct AnswerDifference: Sendable, Hashable, CustomStringConvertible {
  enum Kind: Sendable, Hashable {
    /// The service gives a value, the store another.
    case value
    /// Only one of them has the member.
    case onlyInService, onlyInStore
    /// Only one of them has the row.
    case rowOnlyInService, rowOnlyInStore
    /// The same rows, in another order than the question asks for.
    case order
    /// One answers, the other has nothing or refuses.
    case refusal
  }
  let kind: Kind
  /// Member names from the answer's root, joined by `/`.
  let path: String
  let service: String
  let store: String

  var description: String { "\(kind) at '\(path)': service \(service), store \(store)" }
}

/// Compares answers value by value.
struct AnswerComparison {
  /// The collections whose order matters, by path of navigation properties.
  let ordered: Set<String>
  /// How far numbers may be apart, relative: where the standard leaves the type of a result to the service.
  var tolerance = 0.0
  /// The names of properties of binary floating-point types: those have many spellings of one value.
  var floating = QuestionData.Floating()
  /// The property that was asked for alone: its value has no name in the answer.
  var property = ""
  private(set) var differences: [AnswerDifference] = []

  init(ordered: Set<String>, tolerance: Double = 0) {
    self.ordered = ordered
    self.tolerance = tolerance
  }

  static func differences(
    service: QuestionAnswer, store: QuestionAnswer, ordered: Set<String>, tolerance: Double = 0,
    floating: QuestionData.Floating = QuestionData.Floating(), property: String = ""
  ) -> [AnswerDifference] {
    guard case .content(let left) = service, case .content(let right) = store else {
      guard service != store else { return [] }
      return [AnswerDifference(kind: .refusal, path: "", service: service.text(200), store: store.text(200))]
    }
    var comparison = AnswerComparison(ordered: ordered, tolerance: tolerance)
    comparison.floating = floating
    comparison.property = property
    if let one = try? JSONNode(left), let other = try? JSONNode(right) {
      comparison.compare(AnswerShape.plain(one), AnswerShape.plain(other), "", "")
    } else {
      comparison.scalar(.string(text(left)), .string(text(right)), "")
    }
    return comparison.differences
  }

  private static func text(_ bytes: [UInt8]) -> String {
    var text = Substring(String(decoding: bytes, as: UTF8.self))
    while text.first == "\u{FEFF}" || text.first?.isWhitespace == true { text = text.dropFirst() }
    while text.last?.isWhitespace == true { text = text.dropLast() }
    return String(text)
  }

  private mutating func note(_ kind: AnswerDifference.Kind, _ path: String, _ service: JSONNode?, _ store: JSONNode?) {
    differences.append(
      AnswerDifference(
        kind: kind, path: path, service: service.map(AnswerText.short) ?? "-", store: store.map(AnswerText.short) ?? "-"
      ))
  }

  /// `place` is the path of navigation properties alone, as questions name it.
  private mutating func compare(_ left: JSONNode, _ right: JSONNode, _ path: String, _ place: String) {
    switch (left, right) {
    case (.object, .object): objects(left, right, path, place)
    case (.array(let one), .array(let other)):
      if one.contains(where: { $0.members != nil }) || other.contains(where: { $0.members != nil }) {
        rows(one, other, path, place)
      } else if one.count != other.count {
        note(.value, path, left, right)
      } else {
        for (place, pair) in zip(one, other).enumerated() { scalar(pair.0, pair.1, "\(path)[\(place)]") }
      }
    default: scalar(left, right, path)
    }
  }

  private mutating func objects(_ left: JSONNode, _ right: JSONNode, _ path: String, _ place: String) {
    for member in left.members ?? [] {
      let inner = path.isEmpty ? member.name : "\(path)/\(member.name)"
      guard let other = right[member.name] else {
        note(.onlyInService, inner, member.value, nil)
        continue
      }
      let isRoot = path.isEmpty && member.name == "value"
      compare(member.value, other, inner, isRoot ? "" : place.isEmpty ? member.name : "\(place)/\(member.name)")
    }
    for member in right.members ?? [] where left[member.name] == nil {
      note(.onlyInStore, path.isEmpty ? member.name : "\(path)/\(member.name)", nil, member.value)
    }
  }

  /// Rows find each other by what they say; in order where the question asks for one.
  private mutating func rows(_ left: [JSONNode], _ right: [JSONNode], _ path: String, _ place: String) {
    // Numbers that may be a little apart must not keep rows from finding each other.
    let one = left.map { AnswerText.canonical($0, isRounded: tolerance > 0) }
    let other = right.map { AnswerText.canonical($0, isRounded: tolerance > 0) }
    if one == other {
      for (number, pair) in zip(left, right).enumerated() { compare(pair.0, pair.1, "\(path)[\(number)]", place) }
      return
    }
    var places = Dictionary(grouping: other.indices.reversed()) { other[$0] }
    var loose: [Int] = []
    var taken: Set<Int> = []
    for number in left.indices {
      if let match = places[one[number]]?.popLast() {
        taken.insert(match)
        compare(left[number], right[match], "\(path)[\(number)]", place)
      } else {
        loose.append(number)
      }
    }
    let rest = right.indices.filter { !taken.contains($0) }
    if loose.isEmpty, rest.isEmpty {
      if ordered.contains(place) { note(.order, path, .array(left), .array(right)) }
    } else if left.count == right.count, loose.count == rest.count {
      // As many rows on both sides: what differs is in them.
      for (number, match) in zip(loose, rest) { compare(left[number], right[match], "\(path)[\(number)]", place) }
    } else {
      for number in loose { note(.rowOnlyInService, "\(path)[\(number)]", left[number], nil) }
      for number in rest { note(.rowOnlyInStore, "\(path)[\(number)]", nil, right[number]) }
    }
  }

  private mutating func scalar(_ left: JSONNode, _ right: JSONNode, _ path: String) {
    guard left != right, AnswerText.scalar(left) != AnswerText.scalar(right) else { return }
    let name = path.split(separator: "/").last?.prefix { $0 != "[" } ?? ""
    if floating.isSame(left.text, right.text, name.isEmpty || name == "value" ? property : String(name)) { return }
    if tolerance > 0, let one = left.text.flatMap(Double.init), let other = right.text.flatMap(Double.init),
      abs(one - other) <= tolerance * max(abs(one), abs(other), 1e-9)
    {
      return
    }
    note(.value, path, left, right)
  }
}
