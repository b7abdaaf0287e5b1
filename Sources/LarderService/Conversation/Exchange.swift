import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A request that is ready to be sent, with what the lower layers need to know about it.
struct OutgoingRequest: Sendable {
  /// The operation, for error messages: `read`, `metadata`, `batch` …
  var operation: String
  /// The intended method; tunnelling may send another.
  var method: HTTPMethod
  var url: URL
  /// Whether the URL is on the service's origin. If false, no credentials, cookies, tokens or fields from the options
  /// are sent.
  var isSameOrigin: Bool
  var fields: HTTPFields
  var body = HTTPBody.none
  var timeouts: HTTPTimeouts
  var repeatability: HTTPRetryPolicy.Repeatability
  /// The conditions of a store; their sender is set.
  var validators: HTTPValidators?
  /// Whether content that another origin sends after a redirect is a response to the request.
  var acceptsOtherOrigins = true
  /// Whether the caller reads the content of a success as a stream.
  var wantsStream = false
  /// The URL of a batch's first change.
  var firstChange: URL?

  /// Creates an error about this request. A communication error has the transport's error as its cause.
  func error(
    _ category: ODataServiceError.Category, cause: (any Error)? = nil, response: ODataSingleResponse? = nil
  ) -> ODataServiceError {
    ODataServiceError(
      category, operation: operation, method: method, url: url.absoluteString, cause: cause, response: response)
  }

  /// Converts a transport's error into an error about this request.
  func error(_ failure: any Error) -> ODataServiceError {
    switch failure {
    case HTTPTransportError.cancelled, is CancellationError: error(.cancelled)
    case let failure as HTTPTransportError: error(.communication(failure), cause: failure)
    case let failure as ODataServiceError: failure
    default: error(.communication(.other(String(describing: type(of: failure)))), cause: failure)
    }
  }
}

/// A response with any status.
struct IncomingResponse: Sendable {
  var status: Int
  var fields: HTTPFields
  /// The complete content; empty if it is streamed.
  var bytes: [UInt8]
  /// The content of a success, if the request wanted a stream.
  var stream: HTTPBodyStream?
  /// The number of times that the request was sent.
  var sends = 1
  /// Whether the service's own origin sent it. False after redirects to another.
  var isOfService = true
  /// The URL that sent it, after redirects.
  var sender = ResponseSender.requested

  var isSuccess: Bool { (200...299).contains(status) }
}
