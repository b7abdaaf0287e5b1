package import HTTPCore

/// What an answer to HEAD tells about a stored response to GET (RFC 9111 §4.3.5).
package enum HeadAnswer: Sendable, Hashable {
  /// The stored response is still the server's: its fields are brought up to date.
  case update
  /// The server has another by now: the stored one must be validated before it is used.
  case invalidate
  /// It says nothing about it.
  case none

  /// Compares an answer to HEAD with a stored response that fits the request.
  ///
  /// 200 counts, and 404 and 410, which say that there is nothing any more; any other status says nothing.
  ///
  /// - Parameter fields: the answer's fields.
  package static func of(
    _ answer: StoredRules, fields: HTTPFields, stored: StoredRules, metadata: CacheMetadata
  ) -> HeadAnswer {
    switch answer.status {
    case 200: break
    case 404, 410: return stored.status == answer.status ? .none : .invalidate
    default: return .none
    }
    guard stored.status == 200 || stored.isPartial else { return .invalidate }
    if let tag = answer.etag, stored.etag != tag { return .invalidate }
    if let changed = answer.lastModified, stored.lastModified != changed { return .invalidate }
    if let length = fields[.contentLength], let known = knownLength(metadata), length != known { return .invalidate }
    return .update
  }

  /// What `Content-Length` says of the whole representation; that of content whose coding the transport has undone is
  /// not known.
  private static func knownLength(_ metadata: CacheMetadata) -> String? {
    if case .parts(_, let length) = metadata.content { return length.map(String.init) }
    return metadata.fields[.contentLength]
  }
}
