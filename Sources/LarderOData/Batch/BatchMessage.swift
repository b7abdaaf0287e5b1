package import LarderHTTP

/// The head of one HTTP message inside a multipart batch: of a request or of a response.
package struct BatchMessage: Sendable, Hashable {
  /// The start line of a message.
  package enum Start: Sendable, Hashable {
    /// `GET Products HTTP/1.1`
    case request(HTTPMethod, url: String)
    /// `HTTP/1.1 200 OK`
    case response(status: Int)
  }

  /// The start line.
  package var start: Start
  /// The Content-ID, from the MIME part's header or from the message's own.
  package var id: String?
  /// The message's header fields.
  package var fields: HTTPFields

  /// Parses a start line; nil if it is neither kind.
  static func start(_ line: ArraySlice<UInt8>) -> Start? {
    let words = line.split(separator: 0x20, omittingEmptySubsequences: true)
    guard let first = words.first else { return nil }
    if first.starts(with: "HTTP/".utf8) {
      guard words.count >= 2, words[1].count == 3, let status = Int(String(decoding: words[1], as: UTF8.self)),
        (100...999).contains(status)
      else { return nil }
      return .response(status: status)
    }
    // Some clients leave spaces in the URL unencoded, or omit the version.
    var url = words.dropFirst()
    if url.last?.starts(with: "HTTP/".utf8) == true { url.removeLast() }
    let method = String(decoding: first, as: UTF8.self)
    guard !url.isEmpty, HTTPFieldName(method).isValid else { return nil }
    return .request(
      HTTPMethod(rawValue: method), url: url.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "%20"))
  }

  /// Whether no content can follow (RFC 9110 §6.4.1).
  var hasNoContent: Bool {
    if case .response(let status) = start { status == 204 || status == 304 } else { false }
  }

  /// The declared length of the content; 0 if there can be none.
  var contentLength: Int? {
    if hasNoContent { return 0 }
    guard let text = fields.values(of: .contentLength).first, let length = Int(text), length >= 0 else { return nil }
    return length
  }
}
