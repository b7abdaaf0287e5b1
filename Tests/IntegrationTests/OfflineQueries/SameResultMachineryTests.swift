import LarderOData
import LarderTestSupport
import Testing

extension ServiceTarget {
  init(_ service: ODataPyService) { self.init(port: service.port, root: "/shop") }

  init(_ service: MockSAP, _ root: String) {
    self.init(port: service.port, root: String(root.dropFirst(service.origin.count)))
  }
}

/// A service whose results are falsified.
private struct Spoiled: QueryTarget {
  let service: ServiceTarget
  let spoil: @Sendable (String, String) -> String

  func result(of path: String) async -> QueryResult {
    guard case .content(let bytes) = await service.result(of: path) else { return await service.result(of: path) }
    return .content(Array(spoil(path, String(decoding: bytes, as: UTF8.self)).utf8))
  }
}

@Suite("Same query, same result: the machinery", .odataPy(), .timeLimit(.minutes(5)))
struct SameResultMachineryTests {
  private func generator(_ seed: UInt64) async throws -> QueryGenerator {
    let service = ServiceTarget(try ODataPyService.ofSuite)
    let data = try await onDedicatedThread { try QueryData.read(service) }
    return QueryGenerator(data: data, features: .odataPy, random: PrintedSeed(seed: seed))
  }

  @Test("A seed determines the queries")
  func deterministic() async throws {
    var one = try await generator(1)
    var same = try await generator(1)
    var other = try await generator(2)
    let first = (0..<200).map { _ in one.next().path }
    #expect(first == (0..<200).map { _ in same.next().path })
    #expect(first != (0..<200).map { _ in other.next().path })
    #expect(Set(first).count > 180)
    for part in [
      "$filter=", "$orderby=", "$expand=", "$select=", "$apply=", "$compute=", "/any(", "/$count", "%20in%20",
    ] {
      #expect(first.contains { $0.contains(part) }, "no query contains \(part)")
    }
  }

  @Test("A service returns equal results for equal queries, and supports most of the generated queries")
  func sameService() async throws {
    var generator = try await generator(3)
    let service = ServiceTarget(try ODataPyService.ofSuite)
    var run = ComparisonRun("odatapy beside itself", service: service, store: service, excuses: [], count: 150)
    await run.run(&generator)
    #expect(run.findings.isEmpty, "\(run.findings.map(\.description).joined(separator: "\n"))")
    #expect(run.comparedCount > run.count * 7 / 10)
  }

  @Test("A wrong value is found, and the query is reduced")
  func wrongValue() async throws {
    var generator = try await generator(4)
    let service = ServiceTarget(try ODataPyService.ofSuite)
    let spoiled = Spoiled(service: service) { path, text in
      path.contains("contains(") ? text.replacing("\"value\":[", with: "\"value\":[{\"ID\":-1},") : text
    }
    var run = ComparisonRun("a liar", service: service, store: spoiled, excuses: [], count: 300)
    await run.run(&generator, findingLimit: 1)
    let finding = try #require(run.findings.first)
    #expect(finding.query.contains("contains("))
    #expect(finding.query.utf8.count <= finding.original.utf8.count)
    #expect(!finding.query.contains("%20and%20"))
    #expect(!finding.differences.isEmpty)
  }

  @Test(
    "Different spellings of the same result are equal",
    arguments: [
      (#"{"value":[{"a":1},{"a":2}]}"#, #"{"@odata.context":"x","value":[{"a":2.0},{"a":1e0}]}"#),
      (
        #"{"d":{"results":[{"__metadata":{"uri":"x"},"A":"1","B":{"__deferred":{"uri":"y"}}}]}}"#, #"{"d":[{"A":"1"}]}"#
      ),
      (#"{"value":"2024-01-01T00:00:00.500Z"}"#, #"{"value":"2024-01-01T00:00:00.5+00:00"}"#),
      (#"{"value":"P1DT0H"}"#, #"{"value":"PT24H"}"#),
      (#"{"value":123456789012345678901234.5}"#, #"{"value":1.234567890123456789012345e23}"#),
    ])
  func alike(_ one: String, _ other: String) {
    #expect(differences(one, other).isEmpty)
  }

  @Test(
    "Different results are different",
    arguments: [
      (#"{"value":[{"a":1},{"a":2}]}"#, #"{"value":[{"a":1}]}"#),
      (#"{"value":9007199254740993}"#, #"{"value":9007199254740992}"#),
      (#"{"value":[{"a":null}]}"#, #"{"value":[{"a":""}]}"#),
      (#"{"value":[{"a":null}]}"#, #"{"value":[{}]}"#),
      (#"{"@odata.count":3,"value":[]}"#, #"{"@odata.count":2,"value":[]}"#),
      (#"{"value":["a","b"]}"#, #"{"value":["b","a"]}"#),
      (##"{"value":[{"@odata.type":"#N.A","a":1}]}"##, ##"{"value":[{"@odata.type":"#N.B","a":1}]}"##),
      (#"{"value":"2024-01-01T00:00:00Z"}"#, #"{"value":"2024-01-01T00:00:00+01:00"}"#),
      ("17", "18"),
    ])
  func different(_ one: String, _ other: String) {
    #expect(!differences(one, other).isEmpty)
  }

  @Test("The order of rows matters if the query defines it, at each level")
  func order() {
    let one = #"{"value":[{"a":1,"n":[{"b":1},{"b":2}]},{"a":2}]}"#
    let other = #"{"value":[{"a":2},{"a":1,"n":[{"b":1},{"b":2}]}]}"#
    let inner = #"{"value":[{"a":1,"n":[{"b":2},{"b":1}]},{"a":2}]}"#
    #expect(differences(one, other).isEmpty)
    #expect(differences(one, other, ordered: [""]).map(\.kind) == [.order])
    #expect(differences(one, inner, ordered: [""]).isEmpty)
    #expect(differences(one, inner, ordered: ["n"]).map(\.kind) == [.order])
  }

  private func differences(_ one: String, _ other: String, ordered: Set<String> = []) -> [ResultDifference] {
    ResultComparison.differences(
      service: .content(Array(one.utf8)), store: .content(Array(other.utf8)), ordered: ordered)
  }
}

@Suite("Same query, same result: the features of mock-sap", .mockSAP("--no-csrf"), .timeLimit(.minutes(5)))
struct SameResultMockSAPTests {
  @Test("V2 and V4 support most of the queries that are generated for them")
  func understands() async throws {
    let service = try MockSAP.ofSuite
    for (root, features) in [
      (service.salesOrdersV2, QueryFeatures.mockSAPV2), (service.gatewaySample, .mockSAPV2),
      (service.productsV4, .mockSAPV4),
    ] {
      let target = ServiceTarget(service, root)
      let data = try await onDedicatedThread { try QueryData.read(target) }
      var generator = QueryGenerator(data: data, features: features, random: PrintedSeed(seed: 5))
      var run = ComparisonRun("\(root) beside itself", service: target, store: target, excuses: [], count: 80)
      await run.run(&generator)
      #expect(run.findings.isEmpty)
      #expect(run.comparedCount > run.count * 7 / 10)
    }
  }
}
