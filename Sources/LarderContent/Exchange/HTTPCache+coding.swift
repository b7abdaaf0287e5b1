import LarderHTTP

// Content codings (RFC 9110 §8.4.1). A transport that decodes content does so for requests without `Accept-Encoding`.
// These expect stored content without a coding too: a proxy may have stored it for a client that asked for one.
extension HTTPCache {
  /// True if a request expects stored content decoded that has a coding.
  func expectsDecoded(_ rules: StoredRules, _ request: HTTPFields) -> Bool {
    rules.isCoded && decodingTransport != nil && !request.contains("Accept-Encoding")
  }

  /// The coding of stored content that a request expects decoded, and that cannot be decoded: it is unknown, or only a
  /// part of the coded content is there. Otherwise nil.
  func unknownCoding(of entry: CacheEntry, _ request: HTTPFields) -> String? {
    guard expectsDecoded(entry.rules, request), let coding = entry.metadata.fields.contentCoding else { return nil }
    let isKnown = decodingTransport?.decoder(for: entry.metadata.fields) != nil
    return isKnown && !entry.rules.isPartial ? nil : coding
  }

  /// A response with its content decoded; nil if the coding is unknown.
  func decoded(_ response: HTTPResponse) -> HTTPResponse? {
    guard let decode = decodingTransport?.decoder(for: response.fields) else { return nil }
    var response = response
    response.body = decode(response.body)
    response.fields[.contentEncoding] = nil
    // The length was that of the coded content.
    response.fields[.contentLength] = nil
    return response
  }

  /// Throws if the transport should have decoded content that it does not know the coding of: the reader would take the
  /// coded bytes for the resource.
  func checkCoding(_ response: HTTPResponse, for request: HTTPRequest) throws(HTTPTransportError) {
    guard decodingTransport != nil, request.method == .get, (200...299).contains(response.status),
      response.status != 204, response.body.length != 0, !request.fields.contains("Accept-Encoding"),
      let coding = response.fields.contentCoding
    else { return }
    response.body.cancel()
    throw .notSupported("content in the coding '\(coding)', which was not requested")
  }
}
