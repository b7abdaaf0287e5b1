import LarderHTTP

/// Web pages, which are never a response of a service.
package enum WebPage {
  /// Whether a media type is that of a web page.
  package static func isType(_ type: String) -> Bool {
    let type = type.lowercased()
    return type.hasPrefix("text/html") || type.hasPrefix("application/xhtml")
  }
}

extension ODataSingleResponse {
  /// Whether the content is a web page.
  package var isWebPage: Bool { fields[.contentType].map(WebPage.isType) ?? false }

  /// Whether the content has a format in which a service sends the requested resource. A web page has none; and plain text
  /// in place of a payload comes from a proxy or portal.
  package var hasFormatOfResource: Bool {
    if isWebPage { return false }
    switch RequestFields.Kind(path: url) {
    case .raw, .count, .batch: return true
    case .payload, .metadata:
      switch PayloadForm(self) {
      case .json, .xml: return true
      case .bytes: return !(fields[.contentType] ?? "").isEmpty
      case .text, .count, .multipart: return false
      }
    }
  }
}
