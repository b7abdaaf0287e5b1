import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store: the HTTP exchange of an error", .timeLimit(.minutes(1)))
struct ErrorExchangeTests {
  @Test(
    "A download that the service rejects names the method, the URL and the status",
    arguments: [
      (401, OfflineODataErrorName.authenticationFailed), (404, .requestRejected), (500, .serviceFailed),
      (503, .serviceUnavailable),
    ])
  func download(status: Int, name: OfflineODataErrorName) async throws {
    let rig = try await UploadRig()
    rig.service.fail(.status(status), times: 99) { $0.contains("GET Orders") }
    let error = try await #require(throws: OfflineODataError.self) { try await rig.store.download(["orders"]) }
    #expect(error.name == name)
    let exchange = try #require(error.exchange, "\(error)")
    #expect(exchange.method == "GET" && exchange.status == status)
    #expect(exchange.url?.hasPrefix("http://h/s/Orders") == true, "\(error)")
  }

  @Test("Metadata that do not exist are named, with the status")
  func metadata() async throws {
    let rig = try await UploadRig()
    rig.service.fail(.status(404)) { $0.contains("$metadata") }
    let error = try await #require(throws: OfflineODataError.self) { try await rig.store.download() }
    #expect(error.exchange == ErrorExchange(method: "GET", url: "http://h/s/$metadata", status: 404), "\(error)")
  }

  @Test("A request that does not reach the service has no status")
  func unreachable() async throws {
    let rig = try await UploadRig()
    rig.service.fail(.unreachable, times: 99) { $0.contains("GET Orders") }
    let error = try await #require(throws: OfflineODataError.self) { try await rig.store.download(["orders"]) }
    #expect(error.name == .cannotConnect && error.isOffline)
    #expect(error.exchange == ErrorExchange(method: "GET", url: "http://h/s/Orders", status: nil), "\(error)")
  }

  @Test("A web page in place of rows is named with its URL and its status")
  func webPage() async throws {
    let rig = try await UploadRig()
    rig.service.fail(.page(200), times: 99) { $0.contains("GET Orders") }
    let error = try await #require(throws: OfflineODataError.self) { try await rig.store.download(["orders"]) }
    let exchange = try #require(error.exchange, "\(error)")
    #expect(exchange.method == "GET" && exchange.status == 200)
    #expect(exchange.url?.hasPrefix("http://h/s/Orders") == true, "\(error)")
  }

  @Test("A page that breaks off is named with its URL")
  func brokenPage() async throws {
    let folder = try TemporaryFolder()
    let transport = BrokenPages(UploadService())
    let store = try UploadRig.provider(folder, transport)
    try await store.add(OfflineODataDefiningQuery("orders", "Orders"))
    try await store.open()
    transport.isArmed.withLock { $0 = true }
    let error = try await #require(throws: OfflineODataError.self) { try await store.download(whole: true) }
    #expect(error.name == .connectionLost)
    #expect(error.exchange == ErrorExchange(method: "GET", url: "http://h/s/Orders", status: nil), "\(error)")
  }

  /// The service of orders; when armed, the content of each page of orders breaks off after its first byte.
  private final class BrokenPages: HTTPTransport {
    let isArmed = Locked(false)
    private let service: UploadService

    init(_ service: UploadService) { self.service = service }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      let response = try await service.send(request)
      guard isArmed.withLock({ $0 }), request.url.absoluteString.contains("/s/Orders") else { return response }
      let bytes = Locked<[UInt8]?>(Array("{".utf8))
      let body = HTTPBodyStream(next: { () async throws(HTTPTransportError) -> [UInt8]? in
        guard let first = bytes.withLock({ $0.take() }) else { throw HTTPTransportError.connectionLost(reason: "cut") }
        return first
      })
      return HTTPResponse(status: 200, fields: [.contentType: "application/json"], url: request.url, body: body)
    }
  }

  @Test("An upload that stops names the request that stopped it", arguments: [503, nil])
  func upload(status: Int?) async throws {
    let rig = try await UploadRig()
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("a")])
    rig.service.fail(status.map { .status($0) } ?? .unreachable) { $0.contains("$batch") }
    let error = try await #require(throws: OfflineODataError.self) { try await rig.store.upload() }
    #expect(error.exchange == ErrorExchange(method: "POST", url: "http://h/s/$batch", status: status), "\(error)")
  }

  @Test("The exchange has no credentials, and no values of a filter")
  func secrets() {
    let error = OfflineODataError(
      below: ODataServiceError(
        .http(status: 400, payload: nil), operation: "read", method: .get,
        url: "https://u:p@h/s/Orders?$filter=Name%20eq%20'Ann'&$top=3&token=secret"))
    #expect(
      error.exchange
        == ErrorExchange(method: "GET", url: "https://h/s/Orders?$filter=…&$top=3&token=…", status: 400), "\(error)")
  }

  @Test("The exchange is the request of the store, not one that the service's text names")
  func serviceText() {
    let payload = ODataErrorPayload(code: "E", message: "read (GET http://other/): HTTP 404: not there")
    let error = OfflineODataError(
      below: ODataServiceError(
        .http(status: 500, payload: payload), operation: "create", method: .post, url: "http://h/s/Orders('a')"))
    #expect(error.exchange == ErrorExchange(method: "POST", url: "http://h/s/Orders('a')", status: 500), "\(error)")
  }

  @Test("An error without a request has no exchange", arguments: OfflineODataErrorName.allCases)
  func none(name: OfflineODataErrorName) { #expect(OfflineODataError(name).exchange == nil) }

  @Test("A text of the caller's that looks like a request is no exchange", arguments: OfflineODataErrorName.allCases)
  func callerText(name: OfflineODataErrorName) {
    let error = OfflineODataError(name, "'read (GET http://other/): HTTP 404: not there'")
    let isOfRequest =
      [.communicationError, .serverSideError].contains(error.category) || name == .unsupportedByService
    #expect((error.exchange != nil) == isOfRequest, "\(error)")
  }

  @Test("A name of a defining query that looks like a request is no exchange")
  func definingQuery() async throws {
    let rig = try await UploadRig()
    let error = try await #require(throws: OfflineODataError.self) {
      try await rig.store.download(["read (GET http://other/): HTTP 404: not there"])
    }
    #expect(error.name == .definingQueryNotFound && error.exchange == nil, "\(error)")
  }

  @Test("What the service does not support is named with its request")
  func unsupported() {
    let error = OfflineODataError(
      below: ODataServiceError(.notSupported("batches"), operation: "batch", method: .post, url: "http://h/s/$batch"))
    #expect(error.name == .unsupportedByService)
    #expect(error.exchange == ErrorExchange(method: "POST", url: "http://h/s/$batch", status: nil), "\(error)")
  }

  @Test("A query whose literal looks like a request fails without an exchange")
  func literal() async throws {
    let rig = try await UploadRig()
    let error = try await #require(throws: OfflineODataError.self) {
      _ = try await rig.store.readCount("Orders?$filter=Nme eq 'read (GET http://other/): HTTP 404: x'")
    }
    #expect(error.category == .invalidInput && error.exchange == nil, "\(error)")
  }
}
