import Foundation
import LarderHTTP
import LarderOData
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

@Suite("Online, a response's payload has the types of the service's model", .timeLimit(.minutes(2)))
struct TypedPayloadTests {
  /// A service of one entity of each kind of number and time, in one version.
  struct Service: HTTPTransport {
    let isV2: Bool
    /// Responds 304 to conditions if set, and gives an ETag.
    var isConditional = false

    var metadata: String {
      let types =
        isV2
        ? [("Price", "Decimal"), ("Count", "Int64"), ("At", "DateTime"), ("Sent", "DateTimeOffset"), ("Took", "Time")]
        : [("Price", "Decimal"), ("Count", "Int64"), ("At", "DateTimeOffset"), ("Sent", "Date"), ("Took", "Duration")]
      let properties = types.map { "<Property Name=\"\($0.0)\" Type=\"Edm.\($0.1)\"/>" }.joined()
      let (edmx, edm) =
        isV2
        ? ("http://schemas.microsoft.com/ado/2007/06/edmx", "http://schemas.microsoft.com/ado/2008/09/edm")
        : ("http://docs.oasis-open.org/odata/ns/edmx", "http://docs.oasis-open.org/odata/ns/edm")
      let services =
        isV2
        ? "m:DataServiceVersion=\"2.0\" xmlns:m=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\"" : ""
      return """
        <edmx:Edmx Version="\(isV2 ? "1.0" : "4.0")" xmlns:edmx="\(edmx)"><edmx:DataServices \(services)>\
        <Schema Namespace="S" xmlns="\(edm)"><EntityType Name="P"><Key><PropertyRef Name="ID"/></Key>\
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>\(properties)</EntityType><EntityContainer Name="C">\
        <EntitySet Name="Products" EntityType="S.P"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
    }

    var row: String {
      isV2
        ? #""ID":1,"Price":"12.50","Count":"9007199254740993","At":"/Date(1768435200000)/","#
          + #""Sent":"/Date(1768435200000+0000)/","Took":"PT1H""#
        : #""ID":1,"Price":12.50,"Count":9007199254740993,"At":"2026-01-15T00:00:00Z","Sent":"2026-01-15","Took":"PT1H""#
    }

    func body(_ path: String) -> String {
      switch (path, isV2) {
      case ("Products(1)", true): "{\"d\":{\"__metadata\":{\"type\":\"S.P\"},\(row)}}"
      case ("Products(1)", false): "{\(row)}"
      case ("Products", true): "{\"d\":{\"results\":[{\(row)}]}}"
      case ("Products", false): "{\"@odata.context\":\"$metadata#Products\",\"value\":[{\(row)}]}"
      case ("Price", true): "{\"d\":{\"Price\":\"12.50\"}}"
      default: "{\"value\":12.50}"
      }
    }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      let name = request.url.lastPathComponent
      var fields: HTTPFields = ["Content-Type": name == "$metadata" ? "application/xml" : "application/json"]
      if isV2 { fields[.dataServiceVersion] = "2.0" } else { fields[.odataVersion] = "4.0" }
      var (status, text) = (200, name == "$metadata" ? metadata : body(name))
      if name == "Products(404)" {
        (status, text) = (404, "{\"error\":{\"code\":\"gone\",\"message\":\"It is gone\"}}")
      }
      if name == "$batch" {
        fields[.contentType] = "multipart/mixed; boundary=b"
        text =
          "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 200 OK\r\n"
          + "Content-Type: application/json\r\n\(isV2 ? "DataServiceVersion: 2.0" : "OData-Version: 4.0")\r\n\r\n"
          + body("Products(1)") + "\r\n--b--\r\n"
      }
      if isConditional, name != "$metadata", name != "$batch" {
        fields[.etag] = "\"1\""
        if request.fields[.ifNoneMatch] == "\"1\"" { (status, text) = (304, "") }
      }
      return HTTPResponse(
        status: status, fields: fields, url: request.url, body: HTTPBodyStream(Array(text.utf8)))
    }
  }

  private func store(_ service: Service, _ folder: TemporaryFolder, cache: Bool = true) throws -> OnlineODataStore {
    let root = try #require(URL(string: "http://\(UUID().uuidString.lowercased()).test/service/"))
    let options = OnlineStoreOptions(useCache: cache, path: folder.path)
    return try OnlineODataStore(serviceRoot: root, transport: service, options: options)
  }

  /// The values of the entity in a response, read without an argument.
  private func values(_ response: ODataSingleResponse?) throws -> [ODataValue?] {
    let entity = try response?.payload().entities?.first
    return ["Price", "Count", "At", "Sent", "Took"].map { entity?[$0] }
  }

  private func expected(isV2: Bool) throws -> [ODataValue?] {
    let date = try #require(ODataDate("2026-01-15"))
    let day = try #require(ODataDateTimeOffset("2026-01-15T00:00:00Z"))
    let hour = ODataValue.duration(try #require(ODataDuration("PT1H")))
    return [
      .decimal(try #require(ODataDecimal("12.50"))), .int64(9_007_199_254_740_993),
      isV2 ? .dateTime(ODataDateTime(date: date)) : .dateTimeOffset(day),
      isV2 ? .dateTimeOffset(day) : .date(date), hour,
    ]
  }

  @Test("an entity, a collection, a part of a batch, from the service and from the cache", arguments: [true, false])
  func entities(_ isV2: Bool) async throws {
    let folder = try TemporaryFolder()
    let store = try store(Service(isV2: isV2), folder)
    try await store.open()
    let expected = try expected(isV2: isV2)
    for path in ["Products(1)", "Products"] {
      _ = try await store.read(path)
      let (cached, last) = try await store.read(path)
      #expect(try values(cached) == expected, "\(path) cached")
      #expect(try values(last) == expected, "\(path)")
    }
    let batch = try await store.execute(batch: ODataBatchRequest([.read("Products(1)")]))
    #expect(try values(batch.slots.first??.response) == expected)
    let again = store.schedule(.batch(ODataBatchRequest([.read("Products(1)")])))
    for await event in again.events {
      guard case .requestCacheResponse(let snapshot) = event else { continue }
      #expect(try values(snapshot.response?.batch?.slots.first??.response) == expected)
    }
    try store.setPassive(true)
    #expect(try values(try await store.execute(single: .read("Products(1)"))) == expected)
    try await store.close()
    // Opened from the cache alone.
    try await store.open()
    #expect(try values(try await store.execute(single: .read("Products"))) == expected)
    try await store.close()
  }

  @Test(
    "a property, a 304, a blocking read, a change, and the response of the conversation below",
    arguments: [true, false])
  func others(_ isV2: Bool) async throws {
    let folder = try TemporaryFolder()
    let store = try store(Service(isV2: isV2, isConditional: true), folder)
    try await store.open()
    let expected = try expected(isV2: isV2)
    let price = try await store.execute(single: .read("Products(1)/Price", useCache: false))
    guard case .property(let property) = try price.payload() else { throw ODataServiceError(.notCached, operation: "") }
    #expect(property.value == expected[0])
    _ = try await store.read("Products(1)")
    let confirmed = try await store.execute(single: .read("Products(1)"))
    #expect(confirmed.isNotModified)
    #expect(try values(confirmed) == expected)
    let blocked = await withCheckedContinuation { done in
      Thread.detachNewThread { done.resume(returning: Result { try store.executeBlocking(.read("Products(1)")) }) }
    }
    #expect(try values(try blocked.get().single) == expected)
    #expect(try values(try await store.conversation.send(.read("Products(1)"))) == expected)
    let patch = ODataSingleRequest.update(
      "Products(1)", to: ODataEntity(properties: [ODataProperty("Count", .int64(1))]))
    #expect(try values(try await store.execute(single: patch)) == expected)
    try await store.close()
  }

  @Test("an error stays an error", arguments: [true, false])
  func rejected(_ isV2: Bool) async throws {
    let folder = try TemporaryFolder()
    let store = try store(Service(isV2: isV2), folder)
    try await store.open()
    let error = await #expect(throws: ODataServiceError.self) {
      try await store.execute(single: .read("Products(404)"))
    }
    guard case .http(status: 404, payload: let payload)? = error?.category else {
      throw ODataServiceError(.notCached, operation: "")
    }
    #expect(payload?.code == "gone")
    guard case .error(let read)? = try error?.response?.payload() else {
      throw ODataServiceError(.notCached, operation: "")
    }
    #expect(read.code == "gone")
    try await store.close()
  }

  @Test("another model may be given, and where none is known values are as JSON says")
  func given() async throws {
    let folder = try TemporaryFolder()
    let service = Service(isV2: true)
    let root = try #require(URL(string: "http://\(UUID().uuidString.lowercased()).test/service/"))
    var options = OnlineStoreOptions(useCache: true, path: folder.path)
    options.loadsMetadata = false
    let unread = try OnlineODataStore(serviceRoot: root, transport: service, options: options)
    try await unread.open()
    let response = try await unread.execute(single: .read("Products(1)"))
    #expect(try values(response)[0] == .string("12.50"))
    let typed = try store(service, folder, cache: false)
    try await typed.open()
    let entity = try response.payload(model: typed.model).entities?.first
    #expect(entity?["Price"] == .decimal(try #require(ODataDecimal("12.50"))))
    // One that is given wins over the service's.
    let read = try await typed.execute(single: .read("Products(1)"))
    let other = EdmModel(version: .v2, schemas: [])
    #expect(try read.payload(model: other).entities?.first?["Price"] == .string("12.50"))
    try await typed.close()
    try await unread.close()
  }
}
