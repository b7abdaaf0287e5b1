import LarderHTTP

extension HTTPResponse {
  /// Adds the time when it came, in milliseconds since 1970, where the server has sent no `Date` (RFC 9110 §6.6.1).
  mutating func addDate(_ now: Int64) {
    if !fields.contains(.date) { fields[.date] = HTTPDate.text(now / 1000) }
  }

  /// Throws where an answer cannot be meant for the request it came to, or nobody can tell where it ends: it is neither
  /// stored nor passed on.
  ///
  /// - Parameter isOwn: the request is the caller's own; else the cache makes something of a 304 in any case.
  func check(answering request: HTTPRequest, isOwn: Bool = true) throws(HTTPTransportError) {
    // RFC 9110 §15.4.5: only a condition has this answer, and without one nobody has what it stands for.
    if status == 304, isOwn, !request.fields.contains(.ifNoneMatch), !request.fields.contains(.ifModifiedSince) {
      body.cancel()
      throw .protocolViolation("304 (Not Modified) came to a request without a condition")
    }
    // RFC 9112 §6.3: these end with their heads, whatever those say, and Transfer-Encoding overrides the length.
    if request.method == .head || status == 204 || status == 304 || fields.contains("Transfer-Encoding") { return }
    do throws(HTTPTransportError) {
      _ = try fields.announcedLength()
    } catch {
      body.cancel()
      throw error
    }
  }
}
