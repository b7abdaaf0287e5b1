import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: faults in the metadata", .timeLimit(.minutes(5)))
struct MetadataFaultTests {
  private static let text = "<Property Name=\"Text\" Type=\"Edm.String\"/>"

  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let properties: String
    let row: String
    let response: String

    init(_ what: String, _ properties: String, row: String, _ response: String) {
      (testDescription, self.properties, self.row, self.response) = (what, properties, row, response)
    }
  }

  static let changes = [
    Change(
      "a property more", text + "<Property Name=\"More\" Type=\"Edm.Int32\"/>", row: "\"Text\":\"b\",\"More\":7",
      "\"Text\":\"b\",\"More\":7"),
    Change("a property less", "", row: "\"Gone\":1", ""),
    Change(
      "a text that is a number now", "<Property Name=\"Text\" Type=\"Edm.Int32\"/>", row: "\"Text\":5", "\"Text\":5"),
    Change(
      "a text that is a collection now", "<Property Name=\"Text\" Type=\"Collection(Edm.String)\"/>",
      row: "\"Text\":[\"x\"]", "\"Text\":[\"x\"]"),
    Change(
      "a text that is a complex value now",
      "<Property Name=\"Text\" Type=\"N.Words\"/></EntityType><ComplexType Name=\"Words\">"
        + "<Property Name=\"En\" Type=\"Edm.String\"/></ComplexType><EntityType Name=\"Other\">",
      row: "\"Text\":{\"En\":\"x\"}", "\"Text\":{\"En\":\"x\"}"),
    Change("another name", "<Property Name=\"Words\" Type=\"Edm.String\"/>", row: "\"Words\":\"w\"", "\"Words\":\"w\""),
  ]

  @Test(
    "the model changes between two pages: the old rows stay until all of the new model's are there", arguments: changes)
  func changesBetweenPages(change: Change) async throws {
    let rig = try await FaultRig()
    let isInterrupted = Mutex(false)
    let response: @Sendable (ScriptedServer.Request) -> ScriptedServer.Response = { request in
      if request.query?.contains("skip") == true {
        // The service has the new model from here on.
        rig.service.metadata = MetadataFaultTests.evolved(change.properties)
        return isInterrupted.withLock { isInterrupted in
          defer { isInterrupted = true }
          return isInterrupted ? FaultyService.json("{\"value\":[{\"ID\":2,\(change.row)}]}") : .response(503)
        }
      }
      let row = rig.service.metadata == FaultyService.metadata() ? "\"Text\":\"a\"" : change.row
      return FaultyService.json("{\"value\":[{\"ID\":1,\(row)}],\"@odata.nextLink\":\"Rows?skip=1\"}")
    }
    #expect(await rig.download(response)?.name == .serviceUnavailable)
    #expect(try await rig.texts() == [String](repeating: "v1", count: 5))
    // Staged by the old model, it is of no use; the file is sound whatever is done with it.
    let error = await rig.download(response)
    #expect(error == nil, "\(error.debugDescription)")
    let rows = try await rig.store.text("Rows?$orderby=ID")
    let wanted = change.response.isEmpty ? "" : ",\(change.response)"
    #expect(rows.contains("{\"ID\":1\(wanted)},{\"ID\":2\(wanted)}"), "\(rows)")
    try await rig.store.store?.replica.database.checkIntegrity()
    try await rig.end()
  }

  @Test("rows of another model than the metadata's, in one download, and the next one corrects it")
  func changesUnderDownload() async throws {
    let rig = try await FaultRig()
    let number = MetadataFaultTests.evolved("<Property Name=\"Text\" Type=\"Edm.Int32\"/>")
    let error = await rig.download { request in
      guard request.query?.contains("skip") == true else {
        return FaultyService.json("{\"value\":[{\"ID\":1,\"Text\":\"a\"}],\"@odata.nextLink\":\"Rows?skip=1\"}")
      }
      rig.service.metadata = number
      return FaultyService.json("{\"value\":[{\"ID\":2,\"Text\":{\"a\":1}}]}")
    }
    #expect(error?.name == .malformedResponse, "\(error.debugDescription)")
    #expect(try await rig.texts() == [String](repeating: "v1", count: 5))
    let next = await rig.download { _ in FaultyService.json("{\"value\":[{\"ID\":1,\"Text\":8}]}") }
    #expect(next == nil, "\(next.debugDescription)")
    #expect(try await rig.store.text("Rows").contains("\"Text\":8"))
    try await rig.end()
  }

  private static func evolved(_ properties: String) -> String { FaultyService.metadata(properties) }

  @Test("the key changes, the set is removed, the type gets a stream: typed, and the old data is readable or reported")
  func keyAndSet() async throws {
    let rig = try await FaultRig()
    let good = FaultyService.metadata()
    rig.service.metadata = good.replacing("Name=\"ID\" Type=\"Edm.Int32\"", with: "Name=\"ID\" Type=\"Edm.String\"")
    let texts = await rig.download { _ in FaultyService.json("{\"value\":[{\"ID\":\"1\",\"Text\":\"t\"}]}") }
    #expect(texts == nil, "\(texts.debugDescription)")
    #expect(try await rig.store.text("Rows('1')/Text/$value") == "t")
    rig.service.metadata = good.replacing("EntitySet Name=\"Rows\"", with: "EntitySet Name=\"Lines\"")
    let gone = await rig.download { _ in .response(404) }
    #expect([.invalidDefiningQuery, .unfittingURL].contains(gone?.name), "\(gone.debugDescription)")
    rig.service.metadata = good
    #expect(await rig.download { _ in FaultyService.json(FaultyService.good(1)) } == nil)
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test("no metadata at all, or of another kind: typed, and the store keeps working with the model that it has")
  func broken() async throws {
    let rig = try await FaultRig()
    let good = rig.service.metadata
    for faulty in [
      "", "<html/>", good.replacing("</edmx:Edmx>", with: ""), "{\"$Version\":\"4.0\"}", "\u{FEFF}" + good,
    ] {
      rig.service.metadata = faulty
      let error = await rig.download { _ in FaultyService.json(FaultyService.good(1)) }
      #expect(
        faulty.hasPrefix("\u{FEFF}") ? error == nil : error?.name != nil,
        "\(faulty.prefix(40)): \(error.debugDescription)")
      #expect(try await rig.texts() == [String](repeating: "v1", count: 5))
    }
    rig.service.metadata = good
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test("ten thousand properties of one type, and complex values in complex values")
  func wide() async throws {
    let many = (0..<10_000).map { "<Property Name=\"P\($0)\" Type=\"Edm.Int32\"/>" }.joined()
    let chain = (0..<60).map { level in
      "</EntityType><ComplexType Name=\"C\(level)\"><Property Name=\"V\" Type=\"Edm.Int32\"/>"
        + "<Property Name=\"C\" Type=\"N.C\(level + 1)\"/></ComplexType><EntityType Name=\"E\(level)\">"
    }
    let last = "</EntityType><ComplexType Name=\"C60\"><Property Name=\"V\" Type=\"Edm.Int32\"/></ComplexType>"
    let rig = try await FaultRig()
    rig.service.metadata = FaultyService.metadata(
      many + "<Property Name=\"C\" Type=\"N.C0\"/>" + chain.joined() + last + "<EntityType Name=\"X\">")
    let values = (0..<10_000).map { "\"P\($0)\":\($0)" }.joined(separator: ",")
    var deep = "{\"V\":60}"
    for level in (0..<60).reversed() { deep = "{\"V\":\(level),\"C\":\(deep)}" }
    let response = FaultyService.json("{\"value\":[{\"ID\":1,\(values),\"C\":\(deep)},{\"ID\":2}]}")
    let error = await rig.download { _ in response }
    #expect(error == nil, "\(error.debugDescription)")
    let one = try await rig.store.text("Rows(1)")
    #expect(one.contains("\"P9999\":9999") && one.contains("\"P0\":0,"))
    for path in ["P9999", "P1", "C/V", "C/C/C/C/V", "C/C/C/C/C/C/V"] {
      let number = path.hasPrefix("P") ? String(path.dropFirst()) : String(path.split(separator: "/").count - 2)
      #expect(try await rig.store.text("Rows(1)/\(path)/$value") == number, "\(path)")
      #expect(try await rig.store.text("Rows/$count?$filter=\(path) eq \(number)").hasSuffix("1"), "\(path)")
    }
    try await rig.end()
  }

  @Test("a large document is read in proportion; one beyond the limit is rejected by name")
  func large() async throws {
    let megabytes = ProcessInfo.processInfo.environment["LARDER_METADATA_MEGABYTES"].flatMap { Int($0) } ?? 3
    let type = { (number: Int) in
      "<EntityType Name=\"T\(number)\"><Key><PropertyRef Name=\"ID\"/></Key>"
        + (0..<20).map {
          "<Property Name=\"\($0 == 0 ? "ID" : "Property\($0)")\" Type=\"Edm.String\" MaxLength=\"40\"/>"
        }
        .joined() + "<NavigationProperty Name=\"Next\" Type=\"N.T\(number / 2)\"/></EntityType>"
    }
    let count = megabytes * 750
    let metadata = FaultyService.metadata(MetadataFaultTests.text)
      .replacing("<EntityContainer", with: (0..<count).map(type).joined() + "<EntityContainer")
      .replacing(
        "</EntityContainer>",
        with: (0..<count).map { "<EntitySet Name=\"S\($0)\" EntityType=\"N.T\($0)\"/>" }.joined() + "</EntityContainer>"
      )
    let rig = try await FaultRig()
    rig.service.metadata = metadata
    let begin = ContinuousClock.now
    let before = try residentMemory().now
    let error = await rig.download { _ in FaultyService.json(FaultyService.good(2)) }
    print(
      "metadata of \(metadata.utf8.count >> 20) MB: \(ContinuousClock.now - begin), \((try residentMemory().highest - before) >> 20) MB"
    )
    #expect(error == nil, "\(error.debugDescription)")
    #expect(try await rig.texts() == [String](repeating: "v2", count: 5))
    let again = ContinuousClock.now
    try await rig.store.close()
    try await rig.store.open()
    #expect(try await rig.texts().count == 5)
    print("opened again in \(ContinuousClock.now - again)")
    var parameters = rig.store.parameters
    parameters.encryptionKey = try RigKey.fromEnvironment()
    parameters.conversation.payloadByteLimit = 1 << 20
    try await rig.store.close()
    rig.service.metadata = metadata.replacing("MaxLength=\"40\"", with: "MaxLength=\"41\"")
    let small = try OfflineODataProvider(
      serviceRoot: rig.server.url("/s/"), transport: rig.rig.transport, parameters: parameters)
    try await small.open()
    let rejected = await #expect(throws: OfflineODataError.self) { try await small.download() }
    #expect([.malformedMetadata, .malformedResponse].contains(rejected?.name), "\(rejected.debugDescription)")
    #expect(rejected?.errorMessage.contains("1048576") == true, "\(rejected.debugDescription)")
    try await small.close()
    rig.server.stop()
  }
}
