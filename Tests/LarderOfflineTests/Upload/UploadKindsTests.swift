import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Changes of every kind, and the faults of networks", .timeLimit(.minutes(1)))
struct UploadKindsTests {
  /// A service that takes everything, remembers what it was sent, and wants a token that runs out.
  final class Taker: HTTPTransport {
    struct State {
      var heard: [String] = []
      var token = 1
      /// Changes that are taken under one token.
      var uses = Int.max
      var used = 0
      var wantsToken = false
      var rejectsMethods = false
    }

    let identity = "taker"
    let state = Mutex(State())
    var heard: [String] { state.withLock { $0.heard } }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      let path = (request.url.absoluteString.components(separatedBy: "/s/").last ?? "").removingPercentEncoding ?? ""
      var bytes: [UInt8] = []
      switch request.body {
      case .none: break
      case .bytes(let content): bytes = content
      case .stream(_, let open): do { bytes = try await open().collect() } catch { throw .connectionLost(reason: "") }
      }
      if path == "$metadata" { return response(request, 200, ["Content-Type": "application/xml"], ChangeModels.shop) }
      let isChange = request.method != .get && request.method != .head
      let rejection = state.withLock { state -> HTTPFields? in
        guard state.wantsToken else { return nil }
        if !isChange { return request.fields[.csrfToken] == nil ? nil : [.csrfToken: "token \(state.token)"] }
        guard request.fields[.csrfToken] == "token \(state.token)", state.used < state.uses else {
          if state.used >= state.uses { (state.token, state.used) = (state.token + 1, 0) }
          return [.csrfToken: "Required"]
        }
        state.used += 1
        return nil
      }
      if isChange, let rejection { return response(request, 403, rejection, "") }
      guard isChange else { return read(request, path, rejection ?? [:]) }
      let meant = request.fields["X-HTTP-Method"]
      if state.withLock({ $0.rejectsMethods }), request.method != .post { return response(request, 405, [:], "") }
      let text = String(validating: bytes, as: UTF8.self) ?? "\(bytes.count) bytes"
      let type = request.fields[.contentType].map { $0.hasPrefix("application/json") ? "" : " \($0)" } ?? ""
      let line = "\(request.method)\(meant.map { "=\($0)" } ?? "") \(path)\(type) \(text)"
      state.withLock { $0.heard.append(line.trimmingCharacters(in: .whitespaces)) }
      guard request.method == .post, meant == nil, !path.contains("$ref"), !path.contains("Close"), path != "Reset"
      else {
        return response(request, 204, [:], "")
      }
      let location = "http://h/s/\(path)(\(path == "Pictures" ? "'new'" : "77"))"
      let body = path == "Pictures" ? #"{"Name":"new"}"# : #"{"ID":77,"Name":"made"}"#
      return response(request, 201, ["Content-Type": "application/json", "Location": location], body)
    }

    private func read(_ request: HTTPRequest, _ path: String, _ fields: HTTPFields) -> HTTPResponse {
      let values =
        switch path.prefix(while: { $0 != "?" && $0 != "(" }) {
        case "Customers": #"{"ID":1,"Name":"Ada","Level":3}"#
        case "Orders":
          #"{"ID":"\#(ChangeMakingTests.order)","Total":5,"CustomerID":1,"Items":[{"No":1,"Text":"one"}],"Tags":[{"Name":"red"}]}"#
        case "Tags": #"{"Name":"red"},{"Name":"blue"}"#
        case "Pictures": #"{"Name":"blue"}"#
        default: ""
        }
      return response(
        request, 200, fields.merged(["Content-Type": "application/json", "OData-Version": "4.0"]),
        "{\"value\":[\(values)]}")
    }

    private func response(_ request: HTTPRequest, _ status: Int, _ fields: HTTPFields, _ body: String) -> HTTPResponse {
      HTTPResponse(status: status, fields: fields, url: request.url, body: HTTPBodyStream(Array(body.utf8)))
    }
  }

  private func open(
    _ taker: Taker, _ folder: TemporaryFolder, _ change: (inout ODataConversationOptions) -> Void = { _ in }
  ) async throws -> OfflineODataProvider {
    var parameters = OfflineODataParameters(path: folder.path, encryptionKey: try RigKey.fromEnvironment())
    parameters.conversation.retry = .never
    change(&parameters.conversation)
    let root = try #require(URL(string: "http://h/s/"))
    let store = try OfflineODataProvider(serviceRoot: root, transport: taker, parameters: parameters)
    try await store.add(OfflineODataDefiningQuery("customers", "Customers"))
    try await store.add(OfflineODataDefiningQuery("orders", "Orders?$expand=Items,Tags"))
    try await store.add(OfflineODataDefiningQuery("tags", "Tags"))
    try await store.add(OfflineODataDefiningQuery("pictures", "Pictures"))
    try await store.open()
    return store
  }

  @Test("Links, properties, raw values, media, streams and actions go as the standard has them, each once")
  func kinds() async throws {
    let (taker, folder) = (Taker(), try TemporaryFolder())
    let store = try await open(taker, folder)
    let order = "Orders(\(ChangeMakingTests.order))"
    try await store.createLink("\(order)/Tags/$ref", to: "Tags('blue')")
    try await store.updateLink("\(order)/First/$ref", to: "Tags('red')")
    try await store.deleteLink("\(order)/Tags('red')/$ref")
    let properties = ODataRequestBody.properties([ODataProperty("Level", .int32(4))])
    _ = try await store.execute(single: ODataSingleRequest(.update(.replace), "Customers(1)/Level", body: properties))
    let name = ODataRequestBody.bytes(Array("Eve".utf8), contentType: "text/plain")
    _ = try await store.execute(single: ODataSingleRequest(.update(.replace), "Customers(1)/Name/$value", body: name))
    try await store.delete("Customers(1)/Credit")
    try await store.createMedia(.bytes([1, 2, 3], contentType: "image/x"), in: "Pictures")
    try await store.updateMedia("Pictures('blue')/$value", to: .bytes([4], contentType: "image/y"))
    try await store.updateMedia("Tags('blue')/Icon", to: .bytes([5, 6], contentType: "image/z"))
    try await store.delete("Tags('red')/Icon")
    try await store.invokeAction("\(order)/N.Close", parameters: [ODataProperty("Reason", .string("r"))])
    try await store.invokeAction("Reset")
    try await store.create(ODataEntity(properties: [ODataProperty("No", .int32(2))]), in: "\(order)/Items")
    #expect(taker.heard.isEmpty)
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: 0, lanes: 1))
    #expect(report.sent == 13 && report.failed == 0 && report.pending == 0, "\(report)")
    let heard = taker.heard.map { $0.replacingOccurrences(of: "http://h/s/", with: "") }
    #expect(
      heard.sorted()
        == [
          #"DELETE Customers(1)/Credit"#, #"DELETE Tags('red')/Icon"#,
          "DELETE \(order)/Tags/$ref?$id=Tags('red')", "POST Reset",
          "POST Pictures image/x \u{1}\u{2}\u{3}", #"POST \#(order)/Items {"No":2}"#,
          #"POST \#(order)/N.Close {"Reason":"r"}"#, #"POST \#(order)/Tags/$ref {"@odata.id":"Tags('blue')"}"#,
          #"PUT Customers(1)/Level {"value":4}"#, "PUT Customers(1)/Name/$value text/plain Eve",
          "PUT Pictures('blue')/$value image/y \u{4}", "PUT Tags('blue')/Icon image/z \u{5}\u{6}",
          #"PUT \#(order)/First/$ref {"@odata.id":"Tags('red')"}"#,
        ].sorted(), "\(heard)")
    #expect(try await store.hasPendingChanges() == false)
    #expect(try await store.readMedia("Pictures('new')/$value") == [1, 2, 3])
    #expect(try await store.upload() == OfflineODataUploadReport())
  }

  @Test("A token that runs out in the middle is fetched anew, and nothing is sent twice", arguments: [1, 3])
  func tokens(uses: Int) async throws {
    let (taker, folder) = (Taker(), try TemporaryFolder())
    taker.state.withLock { ($0.wantsToken, $0.uses) = (true, uses) }
    let store = try await open(taker, folder)
    for number in 1...8 {
      let change = ODataEntity(properties: [ODataProperty("Level", .int32(Int32(number)))])
      try await store.update("Customers(1)", to: change)
    }
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.sent == 8 && report.failed == 0, "\(report)")
    #expect(taker.heard == (1...8).map { #"PATCH Customers(1) {"Level":\#($0)}"# })
  }

  @Test("Networks that let only GET and POST pass", arguments: [ODataMethodTunnelling.always, .automatic])
  func tunnelling(mode: ODataMethodTunnelling) async throws {
    let (taker, folder) = (Taker(), try TemporaryFolder())
    taker.state.withLock { $0.rejectsMethods = true }
    let store = try await open(taker, folder) { $0.tunnelling = mode }
    try await store.update("Customers(1)", to: ODataEntity(properties: [ODataProperty("Level", .int32(1))]))
    try await store.delete("Tags('red')")
    let report = try await store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.sent == 2 && report.failed == 0, "\(report)")
    #expect(taker.heard.sorted() == ["POST=DELETE Tags('red')", #"POST=PATCH Customers(1) {"Level":1}"#])
  }
}

extension HTTPFields {
  fileprivate func merged(_ others: HTTPFields) -> HTTPFields {
    var fields = self
    for field in others { fields[field.name] = field.value }
    return fields
  }
}
