import Foundation
import LarderOData
import LarderTestSupport

/// Sends the same queries to a service and an offline store, and compares the results.
struct ComparisonRun {
  let name: String
  let service: any QueryTarget
  let store: any QueryTarget
  let excuses: [Excuse]
  let floating: QueryData.Floating
  let model: EdmModel
  /// The number of queries: `LARDER_QUERIES`, or else the given number.
  let count: Int
  /// How many queries were sent, up to the last finding.
  private(set) var sentCount = 0
  private(set) var comparedCount = 0
  private(set) var rejectedCount = 0
  private(set) var rejections: [String: Int] = [:]
  private(set) var excused: [String: Int] = [:]
  private(set) var findings: [Finding] = []

  /// A query with different results, reduced as far as possible.
  struct Finding: CustomStringConvertible {
    let number: Int
    let original: String
    let query: String
    let service: QueryResult
    let store: QueryResult
    let differences: [ResultDifference]
    /// How the server may have interpreted the query, and the differences that remain then.
    var interpretation = ""

    var description: String {
      """
      query \(number): \(query)
        found as: \(original)
        service: \(service.text(1200))
        store:   \(store.text(1200))
        \(differences.prefix(6).map(\.description).joined(separator: "\n  "))
        \(interpretation)
      """
    }
  }

  init(
    _ name: String, service: any QueryTarget, store: any QueryTarget, excuses: [Excuse], count: Int,
    floating: QueryData.Floating = QueryData.Floating(), model: EdmModel = EdmModel(version: .v4, schemas: [])
  ) {
    self.floating = floating
    self.model = model
    self.name = name
    self.service = service
    self.store = store
    self.excuses = excuses
    let requestedCount = ProcessInfo.processInfo.environment["LARDER_QUERIES"].flatMap { Int($0) }
    self.count = requestedCount ?? count
  }

  /// Sends all queries; stops early after `findingLimit` findings.
  mutating func run(_ generator: inout QueryGenerator, findingLimit: Int = 12) async {
    var reportedForms: Set<String> = []
    for number in 1...max(1, count) {
      let query = generator.next()
      guard !query.path.isEmpty else { continue }
      sentCount += 1
      guard let differences = await differences(query, counting: true) else { continue }
      let smallest = await smallest(query, differences)
      // One finding for each form of query, because the cause is probably the same.
      guard reportedForms.insert(ComparisonRun.form(smallest.0.root.text)).inserted else { continue }
      findings.append(
        Finding(
          number: number, original: query.path, query: smallest.0.path,
          service: await service.result(of: smallest.0.path), store: await store.result(of: smallest.0.path),
          differences: smallest.1, interpretation: await interpretation(of: smallest.0)))
      if findings.count >= findingLimit { break }
    }
    print(summary)
  }

  var summary: String {
    var text = "\(name): \(comparedCount) of \(sentCount) queries compared, \(rejectedCount) rejected by the service"
    for (id, times) in excused.sorted(by: { $0.key < $1.key }) { text += "\n  excused \(times) times: \(id)" }
    for (why, times) in rejections.sorted(by: { $0.value > $1.value }).prefix(8) {
      text += "\n  the service rejected \(times) times: \(why)"
    }
    return text + (findings.isEmpty ? "" : "\n  \(findings.count) findings")
  }

  /// The differences without an excuse; nil if there are none, or if the service rejects the query.
  private mutating func differences(_ query: GeneratedQuery, counting: Bool) async -> [ResultDifference]? {
    let text = query.root.text
    let serviceResult = await service.result(of: query.path)
    if case .rejected(let why) = serviceResult {
      if counting {
        rejectedCount += 1
        rejections[String(why.prefix(110)), default: 0] += 1
      }
      return nil
    }
    if counting { comparedCount += 1 }
    let (corrected, corrections) = corrected(serviceResult, text)
    let plain = unexcused(corrected, await store.result(of: query.path), query, text)
    if plain.differences.isEmpty {
      if counting { count(plain.excuses + corrections) }
      return nil
    }
    // The query as the server interprets it with all its faults: its result must be the server's.
    var interpretation = QueryInterpretation()
    for case .query(let change) in excuses.map(\.effect) { change(&interpretation) }
    let interpretedPath = query.path(interpretation)
    guard interpretedPath != query.path else { return plain.differences }
    let other = unexcused(corrected, await store.result(of: interpretedPath), query, text)
    guard other.differences.isEmpty else { return plain.differences }
    if counting { count(other.excuses + corrections + interpretations(query)) }
    return nil
  }

  private func interpretation(of query: GeneratedQuery) async -> String {
    var interpretation = QueryInterpretation()
    for case .query(let change) in excuses.map(\.effect) { change(&interpretation) }
    let path = query.path(interpretation)
    guard path != query.path else { return "" }
    let (corrected, _) = corrected(await service.result(of: query.path), query.root.text)
    let other = unexcused(corrected, await store.result(of: path), query, query.root.text)
    return "interpreted as \(path): " + other.differences.prefix(3).map(\.description).joined(separator: "\n  ")
  }

  private mutating func count(_ excuses: [String]) { for id in Set(excuses) { excused[id, default: 0] += 1 } }

  /// The server's result in the correct spelling, and the excuses that were needed for it.
  private func corrected(_ result: QueryResult, _ text: String) -> (QueryResult, [String]) {
    var result = result
    var used: [String] = []
    for excuse in excuses {
      guard case .result(let spell) = excuse.effect else { continue }
      let right = spell(text, result, model)
      if right != result { used.append(excuse.id) }
      result = right
    }
    return (result, used)
  }

  /// The excuses that change the interpretation of a query on their own.
  private func interpretations(_ query: GeneratedQuery) -> [String] {
    excuses.compactMap { excuse in
      guard case .query(let change) = excuse.effect else { return nil }
      var interpretation = QueryInterpretation()
      change(&interpretation)
      // Beside the one without faults: that may say the same in other words too, as with `not`.
      return query.path(interpretation) == query.path(QueryInterpretation()) ? nil : excuse.id
    }
  }

  private func unexcused(
    _ serviceResult: QueryResult, _ storeResult: QueryResult, _ query: GeneratedQuery, _ text: String
  ) -> (differences: [ResultDifference], excuses: [String]) {
    let all = ResultComparison.differences(
      service: serviceResult, store: storeResult, ordered: query.root.ordered(), tolerance: tolerance(text),
      floating: floating,
      property: text.prefix { $0 != "?" }.split(separator: "/").last { $0 != "$value" }.map(String.init) ?? "")
    var used: [String] = []
    let unexcused = all.filter { difference in
      let excuse = excuses.first { excuse in
        if case .difference(let covers) = excuse.effect { covers(text, difference) } else { false }
      }
      if let excuse { used.append(excuse.id) }
      return excuse == nil
    }
    return (unexcused, used)
  }

  /// The standard leaves the type of an average and of a quotient to the service (Data Aggregation 3.1.3.4).
  func tolerance(_ text: String) -> Double {
    if text.contains("$compute=") || text.contains("$apply="), text.contains("Single") { return 1e-6 }
    // The order in which doubles are added is not specified.
    if floating.doubles.contains(where: { text.contains("\($0) with sum ") }) { return 1e-9 }
    return [" with average ", " div ", " divby "].contains { text.contains($0) } ? 1e-9 : 0
  }

  private mutating func smallest(_ query: GeneratedQuery, _ firstDifferences: [ResultDifference]) async
    -> (GeneratedQuery, [ResultDifference])
  {
    var best = (query, firstDifferences)
    var tries = 300
    var hasImproved = true
    while hasImproved {
      hasImproved = false
      for root in best.0.root.smaller().sorted(by: { $0.text.utf8.count < $1.text.utf8.count }) {
        guard tries > 0 else { return best }
        tries -= 1
        let candidate = GeneratedQuery(root: root)
        guard let differences = await differences(candidate, counting: false) else { continue }
        best = (candidate, differences)
        hasImproved = true
        break
      }
    }
    return best
  }

  /// The text without its literals and numbers.
  static func form(_ text: String) -> String {
    var form = ""
    var isQuoted = false
    for character in text {
      if character == "'" {
        isQuoted.toggle()
        form += isQuoted ? "'" : ""
      } else if !isQuoted, !character.isNumber {
        form.append(character)
      }
    }
    return form
  }
}
