import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("Offline store: errors", .timeLimit(.minutes(1)))
struct OfflineODataErrorTests {
  @Test("every name has a row of its own, in the category that its number says")
  func table() {
    let thousands: [OfflineODataError.Category] = [
      .invalidInput, .preconditionFailed, .notFound, .notSupported, .communicationError, .serverSideError,
      .clientInternalError,
    ]
    for name in OfflineODataErrorName.allCases {
      #expect(OfflineODataErrorName.table[name] != nil, "\(name) has no row")
      #expect(thousands[name.rawValue / 1000 - 1] == name.category, "\(name)")
      #expect(name.message.hasSuffix("."), "\(name)")
    }
    #expect(OfflineODataErrorName.table.count == OfflineODataErrorName.allCases.count)
    #expect(Set(OfflineODataErrorName.allCases.map(\.message)).count == OfflineODataErrorName.allCases.count)
  }

  @Test("the forms of catch and switch that applications use")
  func forms() throws {
    func fail() throws { throw OfflineODataError(.notPositiveTop) }
    do {
      try fail()
      Issue.record("it threw nothing")
    } catch OfflineODataError.invalidInput(let errorCode, let errorMessage) {
      switch OfflineODataErrorName(rawValue: errorCode) {
      case .notPositiveTop: #expect(errorMessage == "$top is not a whole number of 0 or more. Correct the number.")
      case .duplicateKeyProperty: Issue.record("another name")
      default: Issue.record("another name")
      }
    }
  }

  @Test("a message says what happened, the particulars, the cause and the cure")
  func message() {
    let cause = HTTPTransportError.cannotConnect(host: "example.org", reason: "refused")
    let below = ODataServiceError(
      .communication(cause), operation: "read", method: .get, url: "https://example.org/s/Orders?$filter=Secret eq 1")
    let error = OfflineODataError(below: below)
    guard case .communicationError(let code, let message) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(code == 5002)
    #expect(
      message
        == "Could not connect to the service: read (GET https://example.org/s/Orders): Cannot connect to example.org: "
        + "refused. Try again later.")
    #expect(error.debugDescription.hasPrefix("communicationError cannotConnect (5002): "))
  }

  @Test(
    "a status becomes the category that says what to do",
    arguments: [
      (400, OfflineODataErrorName.requestRejected), (401, .authenticationFailed), (404, .requestRejected),
      (408, .timeout), (410, .requestRejected), (425, .serviceUnavailable), (429, .serviceUnavailable),
      (500, .serviceFailed), (501, .serviceFailed), (502, .serviceUnavailable), (503, .serviceUnavailable),
      (504, .serviceUnavailable),
    ])
  func status(_ status: Int, _ name: OfflineODataErrorName) {
    let error = OfflineODataError(
      below: ODataServiceError(.http(status: status, payload: nil), operation: "read", url: "https://h/"))
    #expect(error.name == name)
  }

  @Test(
    "an error of the transport, or of a request that was not sent, becomes the name that says what to do",
    arguments: [
      (ODataServiceError.Category.invalidRequest("no key"), OfflineODataErrorName.invalidRequest, "was not sent"),
      (.communication(.invalidRequest("no host")), .invalidRequest, "Correct the request."),
      (.communication(.suspended), .storeSuspended, "Call resume()"),
      (.communication(.bodyConsumed), .internalFailure, "only once"),
      (.communication(.tooManyRedirects), .transportFailed, "redirects"),
      (.authentication(.unavailable(status: 429, retryAfter: "3600")), .serviceUnavailable, "3600"),
      (.authentication(.unreachable(.timeout(phase: "connect"))), .timeout, "The token endpoint cannot be reached"),
      (.authentication(.unreachable(.cancelled)), .cancelled, "cancelled"),
      (
        .authentication(.invalidGrant(description: "The refresh token has expired.")), .authenticationFailed,
        "The refresh token has expired."
      ),
    ])
  func requests(_ category: ODataServiceError.Category, _ name: OfflineODataErrorName, _ text: String) {
    let error = OfflineODataError(below: ODataServiceError(category, operation: "read", url: "https://h/"))
    #expect(error.name == name)
    #expect(error.errorMessage.contains(text), "\(error.errorMessage)")
  }

  @Test("an error in a URL is reported with its place")
  func urls() throws {
    let syntax = #expect(throws: ODataSyntaxError.self) { try ODataParser().url("Orders?$filter=A eq") }
    let error = OfflineODataError(below: try #require(syntax))
    #expect(error.name == .malformedURL)
    #expect(error.errorMessage.contains("character"))
  }

  @Test(
    "a stored value of another kind than its column's is damage; a function without a value is an error of the query",
    arguments: [("SELECT 'a'", OfflineODataErrorName.storeDamaged), ("SELECT larder_div(1, 0)", .invalidQuery)])
  func unexpectedValue(sql: String, name: OfflineODataErrorName) async throws {
    let folder = try TemporaryFolder()
    let database = try await Database.open(
      folder.file("store"), key: try RigKey.fromEnvironment(), schema: ReplicaSchema.schema,
      options: DatabaseOptions(extensions: ReplicaSQL.extensions))
    let error = await #expect(throws: StorageError.self) {
      try await database.write { (connection) throws(StorageError) in try connection.integers(sql) }
    }
    #expect(OfflineODataError(below: try #require(error)).name == name)
    try await database.close()
  }

  @Test("cancellation is no failure, and is reported as such")
  func cancelled() {
    #expect(OfflineODataError(below: CancellationError()).isCancelled)
    #expect(OfflineODataError(below: ODataServiceError(.cancelled, operation: "read")).isCancelled)
    #expect(!OfflineODataError(.timeout).isCancelled)
  }
}
