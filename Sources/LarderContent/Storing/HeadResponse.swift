package import LarderHTTP

/// What a response to HEAD implies for a stored response to GET (RFC 9111 §4.3.5).
package enum HeadResponse: Sendable, Hashable {
  /// The stored response is still the server's: update its fields.
  case update
  /// The server has another representation by now: the stored response must be validated before it is used.
  case invalidate
  /// The server reports that the resource is gone or elsewhere: the response hides the stored success.
  case hide
  /// The response implies nothing.
  case none

  /// Compares a response to HEAD with a stored response that matches the request.
  ///
  /// A 200 is used, and a 404, 410 or redirect that could be stored as a response to GET. Any other status implies
  /// nothing.
  ///
  /// - Parameter fields: the fields of the response to HEAD.
  package static func of(
    _ headRules: StoredRules, fields: HTTPFields, stored: StoredRules, metadata: CacheMetadata
  ) -> HeadResponse {
    switch headRules.status {
    case 200: break
    case _ where stored.isSuccess: return hides(headRules) ? .hide : .none
    case 404, 410: return stored.status == headRules.status ? .none : .invalidate
    default: return .none
    }
    guard stored.status == 200 || stored.isPartial else { return .invalidate }
    if let tag = headRules.etag, stored.etag != tag { return .invalidate }
    if let changed = headRules.lastModified, stored.lastModified != changed { return .invalidate }
    if let length = fields[.contentLength], let storedLength = wholeLength(metadata), length != storedLength {
      return .invalidate
    }
    return .update
  }

  private static func hides(_ headRules: StoredRules) -> Bool {
    Succession(status: headRules.status) == .hides
      && StorageVerdict.of(RequestRules(method: .get, fields: [:]), response: headRules) == .store
  }

  /// The `Content-Length` of the whole representation. It is unknown if the transport has decoded the content.
  private static func wholeLength(_ metadata: CacheMetadata) -> String? {
    if case .parts(_, let length) = metadata.content { return length.map(String.init) }
    return metadata.fields[.contentLength]
  }
}
