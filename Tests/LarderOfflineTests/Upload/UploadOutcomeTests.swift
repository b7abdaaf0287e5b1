import LarderHTTP
import LarderOData
import LarderService
import Testing

@testable import LarderOffline

@Suite("What a response means for a request of the queue", .timeLimit(.minutes(1)))
struct UploadOutcomeTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var status: Int
    var isRemoval = false
    var hasChallenge = false
    var location: String?
    var outcome: UploadOutcome
    var testDescription: String {
      "\(status)\(isRemoval ? " of DELETE" : "")\(hasChallenge ? " with a challenge" : "") \(location ?? "")"
    }
  }

  static let table: [Row] = [
    Row(status: 200, outcome: .done), Row(status: 201, outcome: .done), Row(status: 204, outcome: .done),
    Row(status: 204, isRemoval: true, outcome: .done),
    Row(status: 404, isRemoval: true, outcome: .doneBefore), Row(status: 410, isRemoval: true, outcome: .doneBefore),
    Row(status: 404, outcome: .rejected), Row(status: 410, outcome: .rejected),
    Row(status: 412, outcome: .conflict), Row(status: 412, isRemoval: true, outcome: .conflict),
    Row(status: 401, outcome: .stop(mayHaveTakenEffect: false)),
    Row(status: 407, outcome: .stop(mayHaveTakenEffect: false)),
    Row(status: 403, hasChallenge: true, outcome: .stop(mayHaveTakenEffect: false)),
    Row(status: 403, outcome: .rejected),
    Row(status: 408, outcome: .stop(mayHaveTakenEffect: false)),
    Row(status: 429, outcome: .stop(mayHaveTakenEffect: false)),
    Row(status: 502, outcome: .stop(mayHaveTakenEffect: true)),
    Row(status: 503, outcome: .stop(mayHaveTakenEffect: true)),
    Row(status: 504, outcome: .stop(mayHaveTakenEffect: true)),
    Row(status: 400, outcome: .rejected), Row(status: 405, outcome: .rejected), Row(status: 409, outcome: .rejected),
    Row(status: 413, outcome: .rejected), Row(status: 415, outcome: .rejected), Row(status: 422, outcome: .rejected),
    Row(status: 424, outcome: .rejected), Row(status: 428, outcome: .needsCondition),
    Row(status: 500, outcome: .failed), Row(status: 507, outcome: .failed), Row(status: 520, outcome: .failed),
    Row(status: 524, outcome: .failed), Row(status: 599, outcome: .failed),
    Row(status: 501, outcome: .rejected), Row(status: 505, outcome: .rejected), Row(status: 304, outcome: .rejected),
    Row(status: 300, outcome: .stop(mayHaveTakenEffect: false)),
    Row(status: 303, location: "/s/results/17", outcome: .stop(mayHaveTakenEffect: true)),
    Row(status: 303, location: "http://other/x", outcome: .stop(mayHaveTakenEffect: true)),
    Row(status: 302, location: "/s/Orders(1)", outcome: .stop(mayHaveTakenEffect: true)),
    Row(status: 301, location: "http://H:80/s/Orders(1)", outcome: .stop(mayHaveTakenEffect: true)),
    Row(status: 302, outcome: .stop(mayHaveTakenEffect: true)),
    Row(status: 302, location: "http://other/login", outcome: .stop(mayHaveTakenEffect: false)),
    Row(status: 302, location: "//other/login", outcome: .stop(mayHaveTakenEffect: false)),
    Row(status: 301, location: "https://h/s/Orders", outcome: .stop(mayHaveTakenEffect: false)),
    Row(status: 301, location: "http://h:81/s/Orders", outcome: .stop(mayHaveTakenEffect: false)),
    Row(status: 302, location: "app://login", outcome: .stop(mayHaveTakenEffect: false)),
    Row(status: 307, location: "/s/Orders/", outcome: .stop(mayHaveTakenEffect: false)),
    Row(status: 308, location: "/s/Orders/", outcome: .stop(mayHaveTakenEffect: false)),
    Row(status: 511, outcome: .stop(mayHaveTakenEffect: false)),
  ]

  @Test("Each status has its meaning", arguments: table)
  func statuses(row: Row) {
    guard row.status >= 300 else {
      return #expect(UploadOutcome.of(status: row.status, isRemoval: false, hasChallenge: false) == row.outcome)
    }
    var fields: HTTPFields = row.hasChallenge ? [.wwwAuthenticate: "Basic"] : [:]
    fields[.location] = row.location
    let response = ODataSingleResponse(httpStatus: row.status, fields: fields, url: "http://h/s/Orders")
    let error = ODataServiceError(
      row.status == 401 ? .authentication(.rejected(challenge: nil)) : .http(status: row.status, payload: nil),
      operation: "update", response: response)
    #expect(UploadOutcome.of(error, isRemoval: row.isRemoval) == row.outcome)
  }

  @Test(
    "A failure without a response stops the upload; what cannot have been sent is known not to have taken effect",
    arguments: [
      (HTTPTransportError.hostNotFound(host: "h"), false), (.cannotConnect(host: "h", reason: ""), false),
      (.tls(host: "h", reason: ""), false), (.timeout(phase: "total"), true), (.connectionLost(reason: ""), true),
      (.protocolViolation(""), true), (.bodyTooLarge(limit: 1), true), (.other(""), true),
    ])
  func transport(error: HTTPTransportError, mayHaveTakenEffect: Bool) {
    let error = ODataServiceError(.communication(error), operation: "create")
    #expect(UploadOutcome.of(error, isRemoval: false) == .stop(mayHaveTakenEffect: mayHaveTakenEffect))
    #expect(BatchRejection.of(error) == nil)
  }

  @Test(
    "Other failures",
    arguments: [
      (ODataServiceError.Category.cancelled, UploadOutcome.stop(mayHaveTakenEffect: true)),
      (.malformedResponse(""), .unclear), (.notProcessed, .notSent), (.invalidRequest(""), .rejected),
      (.notSupported(""), .rejected), (.csrf(""), .stop(mayHaveTakenEffect: false)),
      (.authentication(.invalidGrant()), .stop(mayHaveTakenEffect: false)),
    ])
  func others(category: ODataServiceError.Category, outcome: UploadOutcome) {
    #expect(UploadOutcome.of(ODataServiceError(category, operation: "create"), isRemoval: false) == outcome)
  }

  @Test(
    "A batch that fails as a whole: not accepted at all, not as it is, or unknown",
    arguments: [
      (404, BatchRejection.unsupported), (405, .unsupported), (406, .unreadable), (415, .unsupported),
      (501, .unsupported), (400, .rejected), (403, .rejected), (413, .rejected), (422, .rejected), (500, .unclear),
      (507, .unclear), (401, nil), (429, nil), (503, nil),
    ] as [(Int, BatchRejection?)])
  func batches(status: Int, rejection: BatchRejection?) {
    let error = ODataServiceError(.http(status: status, payload: nil), operation: "batch")
    #expect(BatchRejection.of(error) == rejection)
    #expect(BatchRejection.of(ODataServiceError(.malformedResponse(""), operation: "batch")) == .unreadable)
  }
}
