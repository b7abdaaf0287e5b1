import LarderOData
import LarderTestSupport
import Testing

/// Sends the same queries to a service and its copy; each difference without an excuse is an issue.
private func compare(
  _ name: String, _ service: ServiceTarget, root: String, _ features: QueryFeatures, _ server: Excuse.Server,
  count: Int,
  pageSize: Int? = nil
) async throws {
  let data = try await onDedicatedThread { try QueryData.read(service) }
  let store = try await StoreTarget.copy(of: data, at: root, pageSize: pageSize)
  var generator = QueryGenerator(data: data, features: features, random: PrintedSeed(for: name))
  var run = ComparisonRun(
    name, service: service, store: store, excuses: Excuse.of(server), count: count,
    floating: data.floating, model: data.model)
  await run.run(&generator)
  for finding in run.findings { Issue.record("\(name), LARDER_SEED=\(generator.random.seed): \(finding)") }
  #expect(run.comparedCount > run.sentCount * 7 / 10, "the service rejected too many queries")
  try await store.close()
}

/// A few hundred queries for each service; `LARDER_QUERIES=5000 LARDER_SEED=random` generates more, and others.
@Suite("Same query, same result: odatapy", .odataPy(), .timeLimit(.minutes(60)))
struct SameResultODataPyTests {
  @Test("V4.01")
  func shop() async throws {
    let service = try ODataPyService.ofSuite
    try await compare(
      "odatapy", ServiceTarget(service), root: service.root, .odataPy, .odataPy, count: 400)
  }

  @Test("V4.01, in pages of a few rows")
  func pages() async throws {
    let service = try ODataPyService.ofSuite
    try await compare(
      "odatapy by pages", ServiceTarget(service), root: service.root, .odataPy, .odataPy, count: 150, pageSize: 7)
  }
}

@Suite("Same query, same result: mock-sap", .mockSAP("--no-csrf"), .timeLimit(.minutes(60)))
struct SameResultSAPTests {
  @Test("V2", arguments: ["GWSAMPLE_BASIC", "API_SALES_ORDER_SRV", "API_BUSINESS_PARTNER_SRV"])
  func v2(_ name: String) async throws {
    let service = try MockSAP.ofSuite
    let roots = [service.gatewaySample, service.salesOrdersV2, service.businessPartnersV2]
    let root = try #require(roots.first { $0.hasSuffix(name) })
    try await compare(
      "mock-sap \(name)", ServiceTarget(service, root), root: root, .mockSAPV2, .mockSAPV2, count: 150)
  }

  @Test("V2, in pages of a few rows")
  func v2Pages() async throws {
    let service = try MockSAP.ofSuite
    let root = service.gatewaySample
    try await compare(
      "mock-sap by pages", ServiceTarget(service, root), root: root, .mockSAPV2, .mockSAPV2, count: 100, pageSize: 5)
  }

  @Test("V4", arguments: ["api_salesorder", "api_businesspartner", "api_product"])
  func v4(_ name: String) async throws {
    let service = try MockSAP.ofSuite
    let roots = [service.salesOrdersV4, service.businessPartnersV4, service.productsV4]
    let root = try #require(roots.first { $0.contains("/\(name)/") })
    try await compare(
      "mock-sap \(name)", ServiceTarget(service, root), root: root, .mockSAPV4, .mockSAPV4, count: 150)
  }
}
