import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

/// Proxies, gateways and the hosts of services that are switched off send 404 and 410, too (RFC 9110 §15.5.5, §15.5.11).
@Suite("404 and 410 in place of the service's own response", .timeLimit(.minutes(5)))
struct UploadAbsenceTests {
  /// A response with one of these statuses.
  struct Answer: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var status = 404
    var type: String?
    var body = ""
    /// Whether it is the service's own statement that an order does not exist.
    var isStatement = false

    static let all = [
      Answer(testDescription: "web page", type: "text/html", body: "<html><h1>404 - File not found</h1></html>"),
      Answer(testDescription: "web page, 410", status: 410, type: "text/html", body: "<html>gone</html>"),
      Answer(testDescription: "text", type: "text/plain", body: "404 page not found"),
      Answer(testDescription: "text without a type", body: "default backend - 404"),
      Answer(
        testDescription: "JSON of a gateway", type: "application/json", body: #"{"statusCode":404,"message":"x"}"#),
      Answer(testDescription: "no content"),
      Answer(testDescription: "no content, 410", status: 410),
      Answer.error("", "Resource not found for the segment 'Orders'."),
      Answer.error("/IWFND/MED/170", "No service found for namespace '', name 'SHOP', version '0001'"),
      Answer.error("404", "Not Found"), Answer.error("404", "no Orders"),
      Answer.error("404", "The order does not exist", isStatement: true),
      Answer.error("E1", "There is no Orders(1), no Orders(2)", isStatement: true),
    ]

    static func error(_ code: String, _ message: String, isStatement: Bool = false) -> Answer {
      Answer(
        testDescription: "an error: \(message)", type: "application/json",
        body: #"{"error":{"code":"\#(code)","message":"\#(message)"}}"#, isStatement: isStatement)
    }

    var fields: HTTPFields { type.map { [.contentType: $0] } ?? [:] }

    /// The response as a part of a batch, in a change set or not.
    func part(inChangeSet: Bool) -> String {
      var message =
        "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 \(status) X\r\n"
      if let type { message += "Content-Type: \(type)\r\n" }
      message += "Content-Length: \(body.utf8.count)\r\n\r\n\(body)\r\n"
      return inChangeSet
        ? "Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\(message)--c--\r\n" : message
    }
  }

  /// The service of orders, with answers of something else in front of it.
  private final class Front: HTTPTransport {
    let service: UploadService
    /// The answer to each request that the text of a request line matches.
    let answer = Mutex<(answer: Answer, text: String)?>(nil)
    let lines = Mutex<[String]>([])

    init(_ service: UploadService) { self.service = service }

    var identity: String { "" }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      let line = "\(request.method) \(request.url.absoluteString.components(separatedBy: "/s/").last ?? "")"
      lines.withLock { $0.append(line) }
      if let (answer, text) = answer.withLock({ $0 }), text.isEmpty || line.contains(text) {
        return HTTPResponse(
          status: answer.status, fields: answer.fields, url: request.url,
          body: HTTPBodyStream(Array(answer.body.utf8)))
      }
      return try await service.send(request)
    }
  }

  private struct Rig {
    let service: UploadService
    let front: Front
    let folder: TemporaryFolder
    let store: OfflineODataProvider

    init(isV2: Bool) async throws {
      service = UploadService(.init(isV2: isV2))
      service.change { state in
        for key in 1...3 { state.sets["Orders"]?[key] = .init(values: ["ID": "\(key)", "Name": "\"n\(key)\""]) }
      }
      front = Front(service)
      folder = try TemporaryFolder()
      store = try UploadRig.provider(folder, front)
      try await store.add(OfflineODataDefiningQuery("orders", "Orders"))
      try await store.open()
    }

    func put(_ answer: Answer?, to text: String = "") {
      front.answer.withLock { $0 = answer.map { ($0, text) } }
      front.lines.withLock { $0 = [] }
    }

    var lines: [String] { front.lines.withLock { $0 } }

    func pending() async throws -> Int { try await store.pendingUploadCount() }

    func upload(batch: Bool) async throws -> OfflineODataUploadReport {
      try await store.upload(OfflineODataUploadOptions(changesPerBatch: batch ? 100 : 0, lanes: 1))
    }
  }

  @Test(
    "A deletion at a service that is switched off stays pending, unless an error of OData says that the entity is gone",
    arguments: Answer.all, [false, true])
  func switchedOff(answer: Answer, isV2: Bool) async throws {
    for batch in [false, true] {
      let rig = try await Rig(isV2: isV2)
      try await rig.store.delete("Orders(1)")
      rig.put(answer)
      if answer.isStatement {
        #expect(try await rig.upload(batch: batch).sent == 1)
        continue
      }
      let error = try await #require(throws: OfflineODataError.self) { try await rig.upload(batch: batch) }
      #expect(error.name == .serviceUnavailable && error.exchange?.status == answer.status, "\(error)")
      #expect(rig.lines.filter { $0.hasPrefix("GET") } == ["GET Orders?$top=1", "GET "], "\(rig.lines)")
      #expect(try await rig.pending() == 1)
      rig.put(nil)
      #expect(try await rig.upload(batch: batch).sent == 1)
      #expect(rig.service.entities("Orders").keys.sorted() == [2, 3])
    }
  }

  @Test(
    "A deletion that such a response answers is done if the set is still answered, after one look-up",
    arguments: Answer.all, [false, true])
  func gone(answer: Answer, isV2: Bool) async throws {
    let rig = try await Rig(isV2: isV2)
    for key in [1, 2] { try await rig.store.delete("Orders(\(key))") }
    rig.put(answer, to: "DELETE")
    #expect(try await rig.upload(batch: false).sent == 2)
    #expect(rig.lines.filter { $0.hasPrefix("GET") } == (answer.isStatement ? [] : ["GET Orders?$top=1"]))
  }

  @Test(
    "In a part of a batch, every response is the service's own, without a look-up", arguments: Answer.all,
    [false, true])
  func parts(answer: Answer, isV2: Bool) async throws {
    let rig = try await Rig(isV2: isV2)
    try await rig.store.delete("Orders(1)")
    rig.service.change { state in
      state.sets["Orders"]?[1] = nil
      state.behavior.shapesParts = { _ in [answer.part(inChangeSet: isV2)] }
    }
    rig.put(nil)
    #expect(try await rig.upload(batch: true).sent == 1)
    #expect(!rig.lines.contains { $0.hasPrefix("GET") })
  }

  @Test(
    "One 404 for a change set completes only those of its deletions whose entities are gone", arguments: [false, true])
  func changeSet(isV2: Bool) async throws {
    let rig = try await Rig(isV2: isV2)
    _ = try await rig.store.execute(
      batch: ODataBatchRequest([
        .changeSet([
          .update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("x"))])),
          .delete("Orders(2)"),
        ])
      ]))
    rig.service.change { $0.sets["Orders"]?[1] = nil }
    let report = try await rig.upload(batch: true)
    #expect(report.failed == 2 && report.sent == 0, "\(report)")
    #expect(rig.service.entities("Orders").keys.sorted() == [2, 3])
  }

  @Test(
    "A response to the batch itself says something about batches only if the service answers", arguments: Answer.all)
  func batches(answer: Answer) async throws {
    let rig = try await Rig(isV2: false)
    try await rig.store.delete("Orders(1)")
    rig.put(answer, to: "$batch")
    #expect(try await rig.upload(batch: true).sent == 1)
    #expect(rig.service.entities("Orders").keys.sorted() == [2, 3])
  }

  @Test(
    "Updates and creations stay pending at a service that is switched off, and are rejected by its own statement",
    arguments: Answer.all, [false, true])
  func others(answer: Answer, isV2: Bool) async throws {
    let entity = ODataEntity(properties: [ODataProperty("Name", .string("x"))])
    for isCreation in [false, true] {
      let rig = try await Rig(isV2: isV2)
      if isCreation {
        _ = try await rig.store.create(entity, in: "Orders")
      } else {
        try await rig.store.update("Orders(1)", to: entity)
      }
      rig.put(answer)
      // An error that names the set may be about the set.
      let isStatement = answer.isStatement && !(isCreation && answer.body.contains("Orders"))
      let report = try? await rig.upload(batch: false)
      #expect(report?.failed == (isStatement ? 1 : nil) && report?.pending == (isStatement ? 0 : nil))
      #expect(try await rig.pending() == (isStatement ? 0 : 1))
      guard !isStatement else { continue }
      rig.put(nil)
      #expect(try await rig.upload(batch: false).sent == 1)
    }
  }

  @Test("A look-up that something else answers does not decide about an uncertain deletion", arguments: Answer.all)
  func lookUps(answer: Answer) async throws {
    let rig = try await Rig(isV2: false)
    try await rig.store.delete("Orders(1)")
    rig.service.fail(.lost) { $0.hasPrefix("DELETE") }
    await #expect(throws: OfflineODataError.self) { try await rig.upload(batch: false) }
    // The deletion took effect, and another client has created the order again.
    rig.service.change { $0.sets["Orders"]?[1] = .init(values: ["ID": "1", "Name": "\"n1\""]) }
    rig.put(answer)
    if answer.isStatement {
      #expect(try await rig.upload(batch: false).sent == 1)
    } else {
      await #expect(throws: OfflineODataError.self) { try await rig.upload(batch: false) }
      #expect(try await rig.pending() == 1)
    }
  }

  @Test("Metadata that something else answers are unavailable; those of a service that answers do not exist")
  func metadata() async throws {
    let rig = try await Rig(isV2: false)
    let page = try #require(Answer.all.first)
    rig.put(page)
    let off = try await #require(throws: OfflineODataError.self) { try await rig.store.download() }
    #expect(off.name == .serviceUnavailable, "\(off)")
    rig.put(page, to: "$metadata")
    let missing = try await #require(throws: OfflineODataError.self) { try await rig.store.download() }
    #expect(missing.name == .requestRejected, "\(missing)")
    #expect(try await rig.store.readCount("Orders") == 3)
  }

  @Test("Target and details of an error reach the error archive", arguments: [false, true])
  func details(isV2: Bool) async throws {
    let rig = try await Rig(isV2: isV2)
    try await rig.store.update("Orders(1)", to: ODataEntity(properties: [ODataProperty("Name", .string("x"))]))
    var answer = Answer.error("400", "Several errors.")
    answer.status = 400
    answer.body = answer.body.replacing(
      "\"}}", with: #"","target":"N","details":[{"code":"RANGE","message":"Too large","target":"stock"}]}}"#)
    rig.put(answer, to: "Orders(1)")
    #expect(try await rig.upload(batch: false).failed == 1)
    let row = try await rig.store.readEntity("ErrorArchive(1)")
    #expect(row?["Message"] == .string("Several errors. (N; RANGE: stock: Too large)"))
  }
}
