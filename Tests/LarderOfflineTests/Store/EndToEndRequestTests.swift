import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store from outside: the root, what is accepted, searches", .timeLimit(.minutes(1)))
struct EndToEndRequestTests {
  private func copied(isV2: Bool = false) async throws -> (store: OfflineODataProvider, root: String, rig: StoreRig) {
    let server = try EndToEndStaff(isV2: isV2, isPaged: true).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try rig.provider()
    try await store.add(OfflineODataDefiningQuery("staff", "Staff"))
    try await store.add(OfflineODataDefiningQuery("departments", "Departments"))
    try await store.open()
    return (store, rig.root, rig)
  }

  @Test(
    "The root returns the service document (JSON Format 4.01 §5, V2 JSON Format §3)",
    arguments: [
      (
        false, "",
        #"{"@odata.context":"$metadata","value":[{"name":"Departments","kind":"EntitySet","url":"Departments"},"#
          + #"{"name":"Staff","kind":"EntitySet","url":"Staff"}]}"#
      ),
      (
        false, "?$format=application/json;odata.metadata=none",
        #"{"value":[{"name":"Departments","kind":"EntitySet","url":"Departments"},"#
          + #"{"name":"Staff","kind":"EntitySet","url":"Staff"}]}"#
      ),
      (true, "", #"{"d":{"EntitySets":["Departments","Staff"]}}"#),
      (true, "?$format=json", #"{"d":{"EntitySets":["Departments","Staff"]}}"#),
    ])
  func root(_ isV2: Bool, _ path: String, _ expected: String) async throws {
    let (store, root, rig) = try await copied(isV2: isV2)
    #expect(try await store.text(path).replacingOccurrences(of: root, with: "") == expected)
    let response = try await store.execute(single: .read(path))
    #expect(response.httpStatus == 200)
    #expect(response.fields[.contentType]?.hasPrefix("application/json") == true)
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test(
    "A request without JSON in Accept is rejected, $format has precedence, raw values are texts (Protocol 4.01 §8.2.1)"
  )
  func accept() async throws {
    let (store, _, rig) = try await copied()
    func read(_ path: String, _ accept: String) async throws -> ODataSingleResponse {
      var request = ODataSingleRequest.read(path)
      request.fields[.accept] = accept
      return try await store.execute(single: request)
    }
    for accept in ["application/xml", "application/atom+xml, text/html;q=0.5", "application/json;q=0"] {
      let error = await #expect(throws: OfflineODataError.self) { try await read("Staff", accept) }
      #expect(error?.name == .unsupportedQuery && error?.errorMessage.contains("Accept: ") == true)
      await #expect(throws: OfflineODataError.self) { try await read("", accept) }
      #expect(try await read("Staff/$count", accept).httpStatus == 200)
      #expect(try await read("Staff?$format=json", accept).httpStatus == 200)
    }
    for accept in ["application/json", "*/*", "application/*;q=0.1", "text/html, application/json;odata.metadata=full"]
    {
      let type = try await read("Staff", accept).fields[.contentType]
      #expect(type?.contains(accept.contains("full") ? "metadata=full" : "metadata=minimal") == true, "\(accept)")
    }
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test("search= of a service before V4 searches for all its words; a live search makes its index")
  func searches() async throws {
    let (v2, _, rig) = try await copied(isV2: true)
    #expect(try await v2.readCount("Staff?search=ada") == 1)
    #expect(try await v2.readCount("Staff?search=ada%20eve") == 0)
    #expect(try await v2.readCount("Staff?search=") == 5)
    try await v2.close()
    let (store, _, other) = try await copied()
    struct Person: Decodable, Sendable, Equatable {
      var id: Int
      enum CodingKeys: String, CodingKey { case id = "ID" }
    }
    var results = try store.live([Person].self, "Staff?$search=ada&$select=ID").makeAsyncIterator()
    #expect(try await results.next() == [Person(id: 1)])
    let plan = try await store.explain("Staff?$search=ada")
    #expect(plan.statements.first?.sql.contains("MATCH") == true)
    let table = try #require(store.openStore().replica.plan.table("Staff")).number
    let index = try await store.openStore().replica.read { snapshot in snapshot.state.search[table] }
    #expect(index != nil)
    // Of a V4 service it is an option of the application's own.
    #expect(try await store.readCount("Staff?search=ada") == 5)
    try await store.close()
    withExtendedLifetime((rig, other)) {}
  }

  @Test("A query that uses the current time is planned again each time, however it is spelled")
  func time() async throws {
    let (copy, root, rig) = try await copied()
    try await copy.close()
    let milliseconds = Tally("milliseconds")
    var parameters = OfflineODataParameters(
      storeName: "store", path: rig.folder.path, encryptionKey: try RigKey.fromEnvironment())
    parameters.conversation.environment = .at { Int64(milliseconds.value) }
    let store = try OfflineODataProvider(
      serviceRoot: try #require(URL(string: root)), transport: NoService(), parameters: parameters)
    try await store.open()
    for query in ["Staff?$filter=Hired lt now()", "Staff?$filter=Hired lt n%6Fw()"] {
      let first = try await store.explain(query).statements.first?.parameters
      #expect(try await store.explain(query).statements.first?.parameters == first, "\(query)")
      milliseconds.add()
      #expect(try await store.explain(query).statements.first?.parameters != first, "\(query)")
    }
    try await store.close()
  }
}
