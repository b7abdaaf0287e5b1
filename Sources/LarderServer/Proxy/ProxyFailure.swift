import LarderContent
import LarderHTTP

/// The failure that is returned to a client when upstream sent no response.
struct ProxyFailure {
  let status: Int
  let text: String
  /// Why the request was forwarded; nil if it was not.
  var forward: ForwardReason?

  init(_ status: Int, _ text: String) {
    self.status = status
    self.text = text
  }

  /// Converts the error of an exchange with upstream.
  init(_ error: HTTPTransportError) {
    switch error {
    case .timeout: self.init(504, "Gateway Timeout: \(error)")
    case .invalidRequest(let reason): self.init(400, "Bad Request: \(reason)")
    case .bodyTooLarge(let limit): self.init(413, "Content Too Large: more than \(limit) bytes")
    case .notSupported: self.init(501, "Not Implemented: \(error)")
    case .cancelled: self.init(503, "Service Unavailable: the proxy is shutting down")
    case .suspended: self.init(503, "Service Unavailable: the cache is suspended")
    default: self.init(502, "Bad Gateway: \(error)")
    }
  }

  /// The response to the client, with a `Cache-Status` although it comes from no server. RFC 9211 §2 advises against
  /// that, but the field shows whether, and why, the request was forwarded, which helps to find a fault.
  func response(cache: String) -> HTTPServerResponse {
    var response = HTTPServerResponse(status: status, text: text + "\n")
    ProxyFailure.status(cache: cache, forward: forward).append(to: &response.fields)
    if status == 405 { response.fields["Allow"] = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" }
    return response
  }

  /// The `Cache-Status` of such a response.
  static func status(cache: String, forward: ForwardReason?) -> CacheStatus {
    var status = CacheStatus(cache)
    status.forward = forward
    status.detail = "proxy-error"
    return status
  }
}
