package import LarderHTTP

/// What an answer to HEAD tells about a stored response to GET (RFC 9111 §4.3.5).
package enum HeadResponse: Sendable, Hashable {
  /// The stored response is still the server's: its fields are brought up to date.
  case update
  /// The server has another by now: the stored one must be validated before it is used.
  case invalidate
  /// The server says that it is gone or elsewhere: the answer hides the stored success.
  case hide
  /// It says nothing about it.
  case none

  /// Compares an answer to HEAD with a stored response that fits the request.
  ///
  /// 200 counts, and a 404, 410 or redirect that might be stored if it were an answer to GET; any other says nothing.
  ///
  /// - Parameter fields: the answer's fields.
  package static func of(
    _ answer: StoredRules, fields: HTTPFields, stored: StoredRules, metadata: CacheMetadata
  ) -> HeadResponse {
    switch answer.status {
    case 200: break
    case _ where stored.isSuccess: return hides(answer) ? .hide : .none
    case 404, 410: return stored.status == answer.status ? .none : .invalidate
    default: return .none
    }
    guard stored.status == 200 || stored.isPartial else { return .invalidate }
    if let tag = answer.etag, stored.etag != tag { return .invalidate }
    if let changed = answer.lastModified, stored.lastModified != changed { return .invalidate }
    if let length = fields[.contentLength], let known = knownLength(metadata), length != known { return .invalidate }
    return .update
  }

  private static func hides(_ answer: StoredRules) -> Bool {
    Succession(status: answer.status) == .hides
      && StorageVerdict.of(RequestRules(method: .get, fields: [:]), response: answer) == .store
  }

  /// What `Content-Length` says of the whole representation; that of content whose coding the transport has undone is
  /// not known.
  private static func knownLength(_ metadata: CacheMetadata) -> String? {
    if case .parts(_, let length) = metadata.content { return length.map(String.init) }
    return metadata.fields[.contentLength]
  }
}
