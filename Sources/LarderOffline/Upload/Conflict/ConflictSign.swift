/// What a rejection of a request with an ETag (`If-Match`) means if a look-up shows that its entity has another ETag.
/// Not every service rejects an old ETag with 412 (RFC 9110 §13.1.1). This type does no I/O.
enum ConflictSign: Hashable, Sendable {
  /// Another client has changed the entity.
  case certain
  /// Another client has changed the entity, but the service may have rejected the request for another reason. So it is
  /// sent again only once, and it is never discarded in favor of the server's version.
  case possible

  /// The meaning of a status; nil if it says nothing of the ETag.
  static func of(status: Int?) -> ConflictSign? {
    switch status {
    // 412 and 428 are about conditions, 409 is about the state of the resource (RFC 9110 §15.5.10, RFC 6585 §3).
    case 409, 412, 428: .certain
    // Most requests are rejected in this way because of what they contain.
    case 400, 403, 422: .possible
    default: nil
    }
  }
}

extension ArchivedFailure {
  /// Whether nothing but the version of the entity can be the reason.
  var isCertainConflict: Bool { ConflictSign.of(status: httpStatus) != .possible }
}
