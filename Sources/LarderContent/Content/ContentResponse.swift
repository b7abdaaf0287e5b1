public import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An answer to a ``ContentQuery``: the value, and where it comes from.
public struct ContentResponse<Value: Sendable>: Sendable {
  /// What the query's parser made of the content.
  public let value: Value
  /// The content itself.
  public let data: Data
  /// The status, always 2xx.
  public let status: Int
  /// The header fields, `Age` and `Cache-Status` among them.
  public let fields: HTTPFields
  /// The URL that answered, after redirects.
  public let url: URL
  /// Where the content comes from.
  public let origin: ContentOrigin
  /// Seconds since the server made or validated the content; nil where that has just happened.
  public let age: Int?
  /// The status with which the server has answered since then, 404, 410 or that of a redirect, where that answer hides
  /// this content; nil where this is the server's last word.
  ///
  /// Only a query whose policy uses stale content without the server gets such content.
  public let hiddenBy: Int?
  /// True where a newer response, or an error, follows.
  public let isIntermediate: Bool

  /// True where the server has said since then that the content is not there any more: 404 or 410.
  public var isGone: Bool { hiddenBy == 404 || hiddenBy == 410 }
  /// True where this is the last response.
  public var isFinal: Bool { !isIntermediate }
  /// What each cache on the way did, this one last (RFC 9211).
  public var cacheStatus: String? { fields["Cache-Status"] }
}

extension ContentResponse: CustomReflectable {
  /// All but the content and what was made of it, of which the length.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "value": Value.self, "data": ByteCount(data), "status": status, "fields": fields, "url": url, "origin": origin,
        "age": age as Any, "hiddenBy": hiddenBy as Any, "isIntermediate": isIntermediate,
      ], displayStyle: .struct)
  }
}
