package import LarderHTTP

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// What a response to an unsafe request invalidates (RFC 9111 §4.4, RFC 9875 §3).
package struct Invalidation: Sendable, Hashable {
  /// URLs whose stored responses are invalid: the target, and `Location` and `Content-Location` of the same origin.
  package var urls: [URL]
  /// Cache groups of the target's origin whose members are invalid.
  package var groups: [String]

  /// True if nothing is invalid.
  package var isEmpty: Bool { urls.isEmpty && groups.isEmpty }

  /// Determines what a response invalidates: nothing if the method is safe or the status is neither 2xx nor 3xx.
  package init(method: HTTPMethod, url: URL, status: Int, fields: HTTPFields) {
    urls = []
    groups = []
    guard RequestRules.MethodKind(method) == .unsafe, (200...399).contains(status) else { return }
    urls = [url]
    for name in [HTTPFieldName.location, "Content-Location"] {
      for value in fields.values(of: name) {
        guard let other = URL(string: value, relativeTo: url)?.absoluteURL else { continue }
        if Invalidation.isSameOrigin(other, url), !urls.contains(other) { urls.append(other) }
      }
    }
    groups = CacheGroups.names(fields.values(of: "Cache-Group-Invalidation"))
  }

  /// True for the same scheme, host and port (RFC 9110 §4.3.1): a response must not invalidate those of another origin.
  package static func isSameOrigin(_ left: URL, _ right: URL) -> Bool {
    guard let origin = HTTPRedirection.origin(left) else { return false }
    return origin == HTTPRedirection.origin(right)
  }
}
