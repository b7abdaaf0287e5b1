import HTTPCore

/// Brings a request's field into the form in which values with one meaning are equal (RFC 9111 §4.1).
///
/// Lines of one name are joined and white space around list elements goes. `Accept`, `Accept-Charset`,
/// `Accept-Encoding` and `Accept-Language` are lists whose order means nothing (RFC 9110 §12.5), so their elements are
/// sorted; all but the first are also case-insensitive. Fields known to be no lists keep all but the space around them.
enum SelectingField {
  /// The normalised value of a field; nil where the request lacks it.
  static func value(of name: String, in request: HTTPFields) -> String? {
    var joined: String?
    for field in request where field.name.canonicalName == name {
      joined = joined.map { $0 + "," + field.value } ?? field.value
    }
    guard let joined else { return nil }
    switch name {
    case "accept-encoding", "accept-language", "accept-charset":
      return preferences(HTTPFieldName(joined).canonicalName).sorted().joined(separator: ",")
    case "accept":
      return preferences(joined).sorted().joined(separator: ",")
    case "user-agent", "cookie", "authorization", "proxy-authorization", "referer", "from", "origin", "host", "date":
      return String(FieldText.trimmed(Substring(joined).utf8)) ?? joined
    default:
      return FieldText.elements(joined).joined(separator: ",")
    }
  }

  /// The elements of a list of preferences, without any white space outside quotes.
  private static func preferences(_ value: String) -> [String] {
    FieldText.elements(value).map { element in
      guard element.utf8.contains(where: FieldText.isBlank) else { return String(element) }
      var isQuoted = false
      let kept = element.utf8.filter { byte in
        if byte == 0x22 { isQuoted.toggle() }
        return isQuoted || !FieldText.isBlank(byte)
      }
      return String(decoding: kept, as: UTF8.self)
    }
  }
}
