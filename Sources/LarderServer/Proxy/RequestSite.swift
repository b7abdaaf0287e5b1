import LarderHTTP

/// The site of the page that sent a request, as the browser declares it.
enum RequestSite {
  private static let site: HTTPFieldName = "Sec-Fetch-Site"
  private static let origin: HTTPFieldName = "Origin"

  /// True if a page of another site sent the request and it may change something.
  ///
  /// `Sec-Fetch-Site` (Fetch Metadata §2.4) decides if it is `cross-site`, `same-origin` or `none`. If it is
  /// `same-site`, unknown or missing, `Origin` decides (Fetch §3.2): browsers send it with every method but GET and
  /// HEAD, and send no Fetch Metadata to an address that they do not trust. A host other than the requested one is
  /// another site; another port of the same host is not. Without both fields, the client is not a browser.
  ///
  /// Whether a GET changes something cannot be detected from outside, so it is accepted (RFC 9110 §9.2.1).
  static func isForeignChange(_ request: HTTPServerRequest) -> Bool {
    guard !request.method.isSafe else { return false }
    let sites = request.fields.values(of: site).map { $0.lowercased() }
    if sites.contains("cross-site") { return true }
    if sites == ["same-origin"] || sites == ["none"] { return false }
    let requestHost = request.fields[ForwardedFields.host].map { Upstream.host(ofAuthority: $0.lowercased()[...]) }
    return request.fields.values(of: origin).contains { origin in
      guard let (splitOrigin, rest) = Upstream.splitOrigin(origin), rest.isEmpty else { return true }
      return Upstream.host(ofAuthority: splitOrigin.drop { $0 != "/" }.dropFirst(2)) != requestHost
    }
  }
}
