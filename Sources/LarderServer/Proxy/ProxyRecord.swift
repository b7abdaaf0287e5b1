public import LarderHTTP

/// What a proxy did for one request, for its log.
public struct ProxyRecord: Sendable {
  /// The client's address.
  public let client: String
  /// What was asked.
  public let method: HTTPMethod
  /// The target as it was sent.
  public let target: String
  /// The status that was answered; 0 where the connection was closed without an answer.
  public let status: Int
  /// Bytes of content that were sent.
  public let contentBytes: Int
  /// False where the client left or the content broke off.
  public let isComplete: Bool
  /// From the head of the request to the last byte of the response.
  public let duration: Duration
  /// What the cache did, in one word of RFC 9211: `hit`, or why the request went on (`uri-miss`, `stale`, …); `-` where
  /// the cache had no part in it.
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

  /// A request that the server refused by itself.
  public init(_ refusal: HTTPServerRejection) {
    client = refusal.client
    method = HTTPMethod(rawValue: refusal.method.isEmpty ? "-" : refusal.method)
    target = refusal.target
    status = refusal.status
    contentBytes = 0
    isComplete = refusal.isComplete
    duration = .zero
    cacheStatus = "-"
  }

  /// The word of the last member of a `Cache-Status`, which is the nearest cache's.
  static func word(cacheStatus: String?) -> String {
    guard let own = cacheStatus?.split(separator: ",").last else { return "-" }
    for part in own.split(separator: ";").dropFirst() {
      let part = part.drop { $0 == " " }.prefix { $0 != " " }
      if part == "hit" { return "hit" }
      if part.hasPrefix("fwd=") { return String(part.dropFirst(4)) }
    }
    return "-"
  }
}
