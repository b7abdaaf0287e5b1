#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The conditions with which a cache validates a stored response.
///
/// They are sent only to the URL that sent that response: a date or an entity tag says nothing about the content of another
/// URL (RFC 9110 §8.8, §15.4).
package struct HTTPValidators: Sendable, Hashable {
  /// The value of `If-None-Match`.
  package var etag: String?
  /// The value of `If-Modified-Since`.
  package var lastModified: String?
  /// The URL that sent the stored response; nil if it is that of the request.
  package var sender: String?

  /// Creates conditions.
  package init(etag: String? = nil, lastModified: String? = nil, sender: String? = nil) {
    self.etag = etag
    self.lastModified = lastModified
    self.sender = sender
  }

  /// Whether the conditions are sent to a URL.
  package func apply(to url: URL) -> Bool { sender == nil || sender == url.absoluteString }

  /// Adds the conditions to the fields of a request to a URL, or removes them if they do not apply to it.
  package func setFields(_ fields: inout HTTPFields, of url: URL) {
    let applies = apply(to: url)
    fields[.ifNoneMatch] = applies ? etag : nil
    fields[.ifModifiedSince] = applies ? lastModified : nil
  }
}
