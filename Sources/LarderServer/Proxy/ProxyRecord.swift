public import LarderHTTP

/// What a proxy did for one request, for its log.
public struct ProxyRecord: Sendable {
  /// The client's address.
  public let client: String
  /// The method of the request.
  public let method: HTTPMethod
  /// The target as it was sent.
  public let target: String
  /// The status that was sent; 0 if the connection was closed without a response.
  public let status: Int
  /// Bytes of content that were sent.
  public let contentBytes: Int
  /// False if the client left or the content was interrupted.
  public let isComplete: Bool
  /// The time from the head of the request to the last byte of the response.
  public let duration: Duration
  /// The cache's result, in one word of RFC 9211: `hit`, or why the request was forwarded (`uri-miss`, `stale`, …); `-`
  /// if the cache was not used.
  public let cacheStatus: String

  init(
    _ request: HTTPServerRequest, status: Int, contentBytes: Int, isComplete: Bool, duration: Duration,
    cacheStatus: String
  ) {
    client = request.client
    method = request.method
    target = request.target
    self.status = status
    self.contentBytes = contentBytes
    self.isComplete = isComplete
    self.duration = duration
    self.cacheStatus = cacheStatus
  }

  /// Creates the record of a request that the server rejected without calling the proxy.
  public init(_ rejection: HTTPServerRejection) {
    client = rejection.client
    method = HTTPMethod(rawValue: rejection.method.isEmpty ? "-" : rejection.method)
    target = rejection.target
    status = rejection.status
    contentBytes = 0
    isComplete = rejection.isComplete
    duration = .zero
    cacheStatus = "-"
  }

  /// The word of the last member of a `Cache-Status`, which is the nearest cache's.
  static func cacheResult(cacheStatus: String?) -> String {
    guard let lastEntry = cacheStatus?.split(separator: ",").last else { return "-" }
    for part in lastEntry.split(separator: ";").dropFirst() {
      let part = part.drop { $0 == " " }.prefix { $0 != " " }
      if part == "hit" { return "hit" }
      if part.hasPrefix("fwd=") { return String(part.dropFirst(4)) }
    }
    return "-"
  }
}
