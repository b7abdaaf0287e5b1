import LarderTestSupport
import Testing

/// Sends the requests of excuses and sees the faults there.
private func prove(_ server: Excuse.Server, _ services: [ServiceTarget]) async throws {
  for excuse in Excuse.of(server) {
    let responses = try await onDedicatedThread { try services.map { try $0.get(excuse.proof.path) } }
    #expect(
      responses.contains(where: excuse.proof.shows),
      "\(excuse.id) is no longer a fault: \(responses.map { String($0.text.prefix(300)) })")
  }
}

@Suite("Same query, same result: the faults of odatapy", .odataPy(), .timeLimit(.minutes(5)))
struct ExcuseODataPyTests {
  @Test("Each fault exists")
  func faults() async throws { try await prove(.odataPy, [ServiceTarget(try ODataPyService.ofSuite)]) }

  @Test("Each has a unique name and refers to a paragraph")
  func names() {
    #expect(Set(Excuse.all.map(\.id)).count == Excuse.all.count)
    for excuse in Excuse.all { #expect(excuse.paragraph.contains("§") || excuse.paragraph.contains("V2")) }
  }
}

@Suite("Same query, same result: the faults of mock-sap", .mockSAP("--no-csrf"), .timeLimit(.minutes(5)))
struct ExcuseMockSAPTests {
  @Test("Each fault exists")
  func faults() async throws {
    let service = try MockSAP.ofSuite
    let v4 = [service.productsV4, service.salesOrdersV4, service.businessPartnersV4]
    try await prove(.mockSAPV4, v4.map { ServiceTarget(service, $0) })
    let v2 = [service.gatewaySample, service.salesOrdersV2]
    try await prove(.mockSAPV2, v2.map { ServiceTarget(service, $0) })
  }
}
