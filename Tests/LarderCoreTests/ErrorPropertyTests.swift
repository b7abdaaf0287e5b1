import Foundation
import LarderContent
import LarderCore
import LarderHTTP
import LarderService
import LarderStorage
import Testing

@testable import LarderObjects
@testable import LarderOffline

/// The properties that an application reads from the error of any store.
@Suite("Properties of errors", .timeLimit(.minutes(1)))
struct ErrorPropertyTests {
  /// One failure, as each store reports it.
  private static func reported(_ error: HTTPTransportError, as name: OfflineODataErrorName) -> [any LarderError] {
    [
      error, ContentError(.transport(error), url: url), ODataServiceError(.communication(error), operation: "read"),
      OfflineODataError(name), ObjectStoreError(.stream, .absent(error)),
    ]
  }

  private static let url = URL(filePath: "/")

  @Test("A lost connection is offline and transient for every store")
  func offline() {
    for error in Self.reported(.connectionLost(reason: ""), as: .connectionLost) {
      #expect(error.isOffline && error.isTransient && !error.isCancelled, "\(type(of: error))")
      #expect(error.errorCategory == .offline)
    }
  }

  @Test("A timeout is transient and not offline")
  func timeout() {
    for error in Self.reported(.timeout(phase: "idle"), as: .timeout) {
      #expect(error.isTransient && !error.isOffline && error.errorCategory == .timeout, "\(type(of: error))")
    }
  }

  @Test("A cancelled call is cancelled for every store, and by CancellationError")
  func cancelled() throws {
    for error in Self.reported(.cancelled, as: .cancelled) + [CancellationError()] {
      #expect(error.isCancelled && !error.isTransient && !error.isOffline, "\(type(of: error))")
    }
    let error: any Error = CancellationError()
    let known = try #require(error as? any LarderError)
    #expect(known.errorName == "cancelled" && known.localizedDescription == "The call was cancelled.")
    let interrupted = ODataServiceError(.cancelled, operation: "read")
    #expect(interrupted.isCancelled)
  }

  @Test(
    "The status of a response gives the category and the name",
    arguments: [
      (401, ErrorIdentity.Category.authentication), (404, .notFound), (409, .conflict), (412, .conflict),
      (500, .server), (503, .server), (504, .timeout),
    ])
  func statuses(_ status: Int, _ category: ErrorIdentity.Category) {
    let content = ContentError(.status(status), url: Self.url, httpStatus: status)
    let service = ODataServiceError(
      .http(status: status, payload: nil), operation: "read", method: .get, url: "http://u:p@h/S/Orders?token=x")
    for error in [content, service] as [any LarderError] {
      #expect(error.errorCategory == category && error.errorCode == status && error.errorName == "http\(status)")
      #expect(error.exchange?.status == status)
    }
    #expect(content.isTransient == (status >= 503))
    #expect(service.exchange?.method == "GET")
    #expect(service.exchange?.url?.contains("u:p@") == false)
  }

  @Test("Each error has a unique name within its type", arguments: ErrorSamples.kinds)
  func names(_ kind: ErrorSamples.Kind) {
    var names: [String: Int] = [:]
    for error in kind.samples {
      #expect(!error.errorName.isEmpty && names[error.errorName, default: error.errorCode] == error.errorCode)
      names[error.errorName] = error.errorCode
    }
  }
}
