import HTTPCore

/// A content coding that is undone here (RFC 9110 §8.4.1).
enum ContentCoding: Sendable, Equatable {
  case gzip
  /// The zlib format (RFC 1950), or, as some servers have it, bare deflate data (RFC 1951).
  case deflate

  /// What a request says it takes.
  static let accepted = "gzip, deflate"
  /// More codings on one answer are refused: each can multiply its content a thousand times.
  private static let limit = 5

  /// The codings that a `Content-Encoding` names, in the order in which they were applied; `nil` where one of them is
  /// not known here, so that none can be undone.
  static func codings(in fields: HTTPFields) throws(HTTPTransportError) -> [ContentCoding]? {
    var found: [ContentCoding] = []
    for value in fields.values(of: .contentEncoding) {
      for name in value.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
        switch name.lowercased() {
        case "gzip", "x-gzip": found.append(.gzip)
        case "deflate": found.append(.deflate)
        case "identity": continue
        default: return nil
        }
        if found.count > limit { throw .protocolViolation("its content has more than \(limit) codings") }
      }
    }
    return found
  }
}
