public import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A response to a ``ContentQuery``: the value, and where it comes from.
public struct ContentResponse<Value: Sendable>: Sendable {
  /// The value that the query's parser returned.
  public let value: Value
  /// The content itself.
  public let data: Data
  /// The status, always 2xx.
  public let httpStatus: Int
  /// The header fields, including `Age` and `Cache-Status`.
  public let fields: HTTPFields
  /// The URL of the response, after redirects.
  public let url: URL
  /// Where the content comes from.
  public let origin: ContentOrigin
  /// The time since the server created or validated the content, in whole seconds; nil if that has just happened.
  public let age: Duration?
  /// The status of a later response of the server that hides this content: 404, 410 or that of a redirect. Nil if this
  /// content is the server's latest response.
  ///
  /// Only a query whose policy uses stale content without the server gets such content.
  public let hiddenBy: Int?
  /// True if a newer response, or an error, follows.
  public let isIntermediate: Bool

  /// True if the server has reported since then that the content does not exist any more: 404 or 410.
  public var isGone: Bool { hiddenBy == 404 || hiddenBy == 410 }
  /// True if this is the last response.
  public var isFinal: Bool { !isIntermediate }
  /// What each cache between the server and the caller did; this cache is the last one (RFC 9211).
  public var cacheStatus: String? { fields["Cache-Status"] }
}

extension ContentResponse: CustomReflectable {
  /// Shows the length of the content instead of the content and its value.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "value": Value.self, "data": ByteCount(data), "httpStatus": httpStatus, "fields": fields, "url": url,
        "origin": origin,
        "age": age as Any, "hiddenBy": hiddenBy as Any, "isIntermediate": isIntermediate,
      ], displayStyle: .struct)
  }
}
