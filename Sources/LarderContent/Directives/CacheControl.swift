package import LarderHTTP

/// The directives of `Cache-Control`, in a request or a response (RFC 9111 §5.2).
///
/// Only what concerns a private cache is read: `s-maxage`, `proxy-revalidate` and `public`'s permission to shared
/// caches have no effect here, and neither have `CDN-Cache-Control` and `Surrogate-Control`, which address other
/// caches. `Pragma` is not read at all (§5.4 deprecates it). `none`, which some servers send, means `no-store`.
package struct CacheControl: Sendable, Hashable {
  /// The directives without argument, and `no-cache` and `private` if they apply to the whole response.
  package var directives: Directives
  /// `max-age` in seconds. In a response whose value is not a number it is 0: stale at once (§4.2.1).
  package var maxAge: Int64?
  /// `min-fresh` of a request, in seconds.
  package var minFresh: Int64?
  /// `max-stale` of a request, in seconds; ``CacheControl/unlimited`` if it has no argument.
  package var maxStale: Int64?
  /// `stale-while-revalidate` of a response, in seconds (RFC 5861 §3).
  package var staleWhileRevalidate: Int64?
  /// `stale-if-error`, in seconds (RFC 5861 §4).
  package var staleIfError: Int64?
  /// True if an element is not `token`, `token=token` or `token="quoted"`: what the server wants is then not fully known.
  package var hasInvalidElement: Bool
  /// The fields that `no-cache="…"` names: they are not stored (§3.1, §5.2.2.4).
  package var noCacheFields: [HTTPFieldName]

  /// Directives that are present or not.
  package struct Directives: OptionSet, Sendable, Hashable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `no-store`, or `none` (§5.2.1.5, §5.2.2.5).
    package static let noStore = Directives(rawValue: 1 << 0)
    /// `no-cache` without a list of fields (§5.2.1.4, §5.2.2.4).
    package static let noCache = Directives(rawValue: 1 << 1)
    /// `must-revalidate` (§5.2.2.2).
    package static let mustRevalidate = Directives(rawValue: 1 << 2)
    /// `must-understand` (§5.2.2.3).
    package static let mustUnderstand = Directives(rawValue: 1 << 3)
    /// `public` (§5.2.2.9).
    package static let isPublic = Directives(rawValue: 1 << 4)
    /// `private`, with a list of fields or without (§5.2.2.7).
    package static let isPrivate = Directives(rawValue: 1 << 5)
    /// `immutable` (RFC 8246 §2).
    package static let immutable = Directives(rawValue: 1 << 6)
    /// `only-if-cached` (§5.2.1.7).
    package static let onlyIfCached = Directives(rawValue: 1 << 7)
    /// `no-transform` (§5.2.1.6, §5.2.2.6): this cache transforms nothing, so the directive is only passed on.
    package static let noTransform = Directives(rawValue: 1 << 8)
  }

  /// The value of `max-stale` without argument: any staleness.
  package static let unlimited = Int64.max

  /// The directives of a message's `Cache-Control` fields, read as one list.
  package init(_ fields: HTTPFields) {
    self.init()
    for field in fields where field.name.canonicalName == "cache-control" { read(field.value) }
  }

  /// Creates a value without directives.
  package init() {
    directives = []
    hasInvalidElement = false
    noCacheFields = []
  }

  /// True if a directive is present.
  package func contains(_ directive: Directives) -> Bool { directives.contains(directive) }
}
