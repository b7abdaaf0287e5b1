import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A request that is ready to be sent, and what the layers below need to know of it.
struct OutgoingRequest: Sendable {
  /// For errors: `read`, `metadata`, `batch` …
  var operation: String
  /// What is meant; tunnelling may send another.
  var method: HTTPMethod
  var url: URL
  /// False: no credentials, cookies, tokens or options' fields go there.
  var isSameOrigin: Bool
  var fields: HTTPFields
  var body = HTTPBody.none
  var timeouts: HTTPTimeouts
  var repeatability: RetryPolicy.Repeatability
  /// The content of a success is left to the caller to pull.
  var wantsStream = false

  /// An error about this request. The cause below a communication error is that error.
  func error(
    _ category: ODataServiceError.Category, cause: (any Error)? = nil, response: ODataSingleResponse? = nil
  ) -> ODataServiceError {
    ODataServiceError(
      category, operation: operation, method: method, url: url.absoluteString, cause: cause, response: response)
  }

  /// A transport's error about this request.
  func error(_ failure: any Error) -> ODataServiceError {
    switch failure {
    case HTTPTransportError.cancelled, is CancellationError: error(.cancelled)
    case let failure as HTTPTransportError: error(.communication(failure), cause: failure)
    case let failure as ODataServiceError: failure
    default: error(.communication(.other(String(describing: type(of: failure)))), cause: failure)
    }
  }
}

/// An answer of any status.
struct IncomingResponse: Sendable {
  var status: Int
  var fields: HTTPFields
  /// The whole content; empty where it is streamed.
  var bytes: [UInt8]
  /// The content of a success, where the request wanted to pull it.
  var stream: HTTPBodyStream?

  var isSuccess: Bool { (200...299).contains(status) }
}
