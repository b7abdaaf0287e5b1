import LarderHTTP

/// A content coding (RFC 9110 §8.4.1) or transfer coding (RFC 9112 §7.2) that is decoded here.
enum ContentCoding: Sendable, Equatable {
  case gzip
  /// The zlib format (RFC 1950), or, as some servers have it, bare deflate data (RFC 1951).
  case deflate

  /// The value of `Accept-Encoding`.
  static let accepted = "gzip, deflate"
  /// The most codings of one response: each can multiply its content a thousand times.
  private static let limit = 5

  /// The codings that a `Content-Encoding` names, in the order in which they were applied; `nil` if one of them is
  /// unknown, so that none can be decoded.
  static func codings(in fields: HTTPFields) throws(HTTPTransportError) -> [ContentCoding]? {
    let names = try names(in: fields, .contentEncoding)
    let codings = names.compactMap(ContentCoding.init(name:))
    return codings.count == names.count ? codings : nil
  }

  /// The codings that a `Transfer-Encoding` names before `chunked`, in the order in which they were applied.
  ///
  /// They belong to this connection, so they are decoded for every reader. Throws if `chunked` is not the last, because
  /// the content's end is then unknown (RFC 9112 §6.3), and if a coding is unknown: no request asks for any (RFC 9110
  /// §10.1.4).
  static func transferCodings(in fields: HTTPFields) throws(HTTPTransportError) -> [ContentCoding] {
    var names = try names(in: fields, "Transfer-Encoding")
    guard let last = names.popLast() else { return [] }
    guard last == "chunked" else { throw .protocolViolation("its last transfer coding is not chunked") }
    let codings = names.compactMap(ContentCoding.init(name:))
    guard codings.count == names.count else {
      throw .protocolViolation("it has a transfer coding other than gzip, deflate and chunked")
    }
    return codings
  }

  /// The names in a list of codings, except `identity`.
  private static func names(in fields: HTTPFields, _ field: HTTPFieldName) throws(HTTPTransportError) -> [String] {
    var names: [String] = []
    for value in fields.values(of: field) {
      names += value.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }).map { $0.lowercased() }
    }
    names.removeAll { $0 == "identity" }
    if names.count > limit { throw .protocolViolation("its content has more than \(limit) codings") }
    return names
  }

  private init?(name: String) {
    switch name {
    case "gzip", "x-gzip": self = .gzip
    case "deflate": self = .deflate
    default: return nil
    }
  }
}
