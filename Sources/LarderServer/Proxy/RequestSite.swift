import LarderHTTP

/// Whose page in a browser a request comes from, as the browser says it.
enum RequestSite {
  private static let site: HTTPFieldName = "Sec-Fetch-Site"
  private static let origin: HTTPFieldName = "Origin"

  /// True for a request of another site's page that may change something.
  ///
  /// `Sec-Fetch-Site` (Fetch Metadata §2.4) decides where it is `cross-site`, `same-origin` or `none`. Where it is
  /// `same-site`, unknown or missing, `Origin` does (Fetch §3.2): browsers send it with every method but GET and HEAD, and
  /// send no Fetch Metadata to an address that they do not trust. A host other than the one that was asked is another site;
  /// another port of the same host is not. Without both it is no browser that asks.
  ///
  /// What a GET may change nobody can tell from outside: it passes (RFC 9110 §9.2.1).
  static func isForeignChange(_ request: HTTPServerRequest) -> Bool {
    guard !request.method.isSafe else { return false }
    let said = request.fields.values(of: site).map { $0.lowercased() }
    if said.contains("cross-site") { return true }
    if said == ["same-origin"] || said == ["none"] { return false }
    let own = request.fields[ForwardedFields.host].map { Upstream.host(ofAuthority: $0.lowercased()[...]) }
    return request.fields.values(of: origin).contains { origin in
      guard let (said, rest) = Upstream.splitOrigin(origin), rest.isEmpty else { return true }
      return Upstream.host(ofAuthority: said.drop { $0 != "/" }.dropFirst(2)) != own
    }
  }
}
