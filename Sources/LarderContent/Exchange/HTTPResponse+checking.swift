import LarderHTTP

extension HTTPResponse {
  /// Adds a `Date` with the time of arrival, in milliseconds since 1970, if the server has sent none (RFC 9110 §6.6.1).
  mutating func addDate(_ now: Int64) {
    if !fields.contains(.date) { fields[.date] = HTTPDate.text(now / 1000) }
  }

  /// Throws if a response cannot belong to its request, or if its end is not well defined: it is neither stored nor
  /// returned.
  ///
  /// - Parameter isClientRequest: the request is the client's own. Otherwise the cache handles every 304 itself.
  func check(for request: HTTPRequest, isClientRequest: Bool = true) throws(HTTPTransportError) {
    // RFC 9110 §15.4.5: a 304 responds to a condition only, and without one no client has the content that it refers
    // to.
    if status == 304, isClientRequest, !request.fields.contains(.ifNoneMatch),
      !request.fields.contains(.ifModifiedSince)
    {
      body.cancel()
      throw .protocolViolation("the server sent 304 (Not Modified) for a request without a condition")
    }
    // RFC 9112 §6.3: these end with their heads, whatever those contain, and Transfer-Encoding overrides the length.
    if request.method == .head || status == 204 || status == 304 || fields.contains("Transfer-Encoding") { return }
    do throws(HTTPTransportError) {
      _ = try fields.announcedLength()
    } catch {
      body.cancel()
      throw error
    }
  }
}
