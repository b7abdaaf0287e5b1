import Foundation
import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension SessionExchange.Head {
  /// Creates the head from Foundation's response, without the encoding that the session has decoded.
  ///
  /// Throws if the length of the content is ambiguous (RFC 9112 §6.3).
  init(_ response: HTTPURLResponse, to method: HTTPMethod) throws(HTTPTransportError) {
    var fields = HTTPFields(response)
    status = response.statusCode
    if fields.contains("Transfer-Encoding") { fields[.contentLength] = nil }
    if method == .head || status == 204 || status == 304 {
      length = 0
      // If the response has no content, a wrong length does not matter for its end.
      if (try? fields.announcedLength()) == nil { fields[.contentLength] = nil }
    } else if let coding = fields[.contentEncoding], coding.lowercased() != "identity" {
      fields[.contentEncoding] = nil
      fields[.contentLength] = nil
      length = nil
    } else {
      length = try fields.announcedLength()
      if let length { fields[.contentLength] = String(length) }
    }
    self.fields = fields
  }
}

extension HTTPFields {
  /// The fields, sorted by their names: Foundation does not keep the server's order.
  init(_ response: HTTPURLResponse) {
    var fields: [HTTPField] = []
    for (name, value) in response.allHeaderFields {
      guard let name = name as? String, let value = value as? String else { continue }
      let fieldName = HTTPFieldName(name)
      let values = fieldName == .setCookie ? HTTPFields.cookies(in: value) : [value]
      fields += values.map { HTTPField(name: fieldName, value: $0) }
    }
    self.init(
      fields.enumerated().sorted { ($0.element.name.rawName, $0.offset) < ($1.element.name.rawName, $1.offset) }
        .map(\.element))
  }

  /// Splits joined `Set-Cookie` values: a comma begins a new one only if `name=` follows it, which is not the case for
  /// the comma in a date or a value.
  static func cookies(in joined: String) -> [String] {
    var cookies: [String] = []
    for piece in joined.split(separator: ",", omittingEmptySubsequences: false) {
      let start = piece.drop { $0 == " " }.prefix { $0 != ";" }
      let name = start.firstIndex(of: "=").map { HTTPFieldName(String(start[..<$0])) }
      if let last = cookies.indices.last, name?.isValid != true {
        cookies[last] += ",\(piece)"
      } else {
        cookies.append(String(piece.drop { $0 == " " }))
      }
    }
    return cookies
  }
}
