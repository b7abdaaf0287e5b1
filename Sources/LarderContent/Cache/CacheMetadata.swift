import LarderCore
public import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The metadata of a stored response: plain values that a cache of any kind can store.
///
/// ``encoded()`` and ``init(encoded:)`` convert it to bytes and back.
public struct CacheMetadata: Sendable, Hashable {
  /// The target URI, without fragment.
  public var url: String
  /// The final status code.
  public var status: Int
  /// The header fields, without those of the connection (RFC 9111 §3.1).
  public var fields: HTTPFields
  /// ``requestTime`` in milliseconds since 1970.
  package var requestMilliseconds: Int64
  /// ``responseTime`` in milliseconds since 1970.
  package var responseMilliseconds: Int64
  /// The request's fields that `Vary` names, normalised. Fields that the request did not have are not included (RFC
  /// 9111 §4.1).
  public var selecting: HTTPFields
  /// Which bytes of the representation are stored.
  public var content: StoredContent
  /// True if the response must be validated before it is used, whatever its age (RFC 9111 §4.4).
  public var isInvalidated: Bool
  /// The cache groups of the response, and the generation of each when the response was stored (RFC 9875).
  public var groups: [CacheGroup]
  /// The variants of this URL, if this is their index rather than a response.
  public var variants: [CacheVariant]
  /// The status of a later response that hides this success: 404, 410 or that of a redirect. Nil if there is none.
  ///
  /// The later response is stored under a key of its own, and the cache may have dropped it. For an index, it is the
  /// response to requests for any variant.
  public var hiddenBy: Int?

  /// Which bytes of a representation are stored.
  public enum StoredContent: Sendable, Hashable {
    /// The whole representation.
    case whole
    /// Parts of the representation: the stored content is these ranges one after another, in order, with gaps between
    /// them (RFC 9111 §3.3). `length` is the whole representation's in bytes, nil if no server has sent it.
    case parts([Range<Int>], length: Int?)
  }

  /// Creates the metadata of a response.
  public init(
    url: String, status: Int, fields: HTTPFields = [:], requestTime: Date, responseTime: Date,
    selecting: HTTPFields = [:], content: StoredContent = .whole, isInvalidated: Bool = false,
    groups: [CacheGroup] = [], variants: [CacheVariant] = [], hiddenBy: Int? = nil
  ) {
    self.init(
      url: url, status: status, fields: fields, requestTime: requestTime.unixMilliseconds,
      responseTime: responseTime.unixMilliseconds, selecting: selecting, content: content,
      isInvalidated: isInvalidated, groups: groups, variants: variants, hiddenBy: hiddenBy)
  }

  /// Creates the metadata of a response with times in milliseconds since 1970.
  package init(
    url: String, status: Int, fields: HTTPFields = [:], requestTime: Int64, responseTime: Int64,
    selecting: HTTPFields = [:], content: StoredContent = .whole, isInvalidated: Bool = false,
    groups: [CacheGroup] = [], variants: [CacheVariant] = [], hiddenBy: Int? = nil
  ) {
    self.url = url
    self.status = status
    self.fields = fields
    requestMilliseconds = requestTime
    responseMilliseconds = responseTime
    self.selecting = selecting
    self.content = content
    self.isInvalidated = isInvalidated
    self.groups = groups
    self.variants = variants
    self.hiddenBy = hiddenBy
  }

  /// When the request was sent that led to this response or validated it last, in whole milliseconds.
  public var requestTime: Date {
    get { Date(unixMilliseconds: requestMilliseconds) }
    set { requestMilliseconds = newValue.unixMilliseconds }
  }

  /// When the head of that request's response arrived, in whole milliseconds.
  public var responseTime: Date {
    get { Date(unixMilliseconds: responseMilliseconds) }
    set { responseMilliseconds = newValue.unixMilliseconds }
  }
}

/// A response's membership in a cache group (RFC 9875 §2).
///
/// Each group has a record of its own in the cache that holds its current generation. An entry is used without
/// validation only if that record exists and has the same generation.
public struct CacheGroup: Sendable, Hashable {
  /// The group's name, within its origin.
  public var name: String
  /// The record's generation when the response was stored.
  public var generation: String

  /// Creates a group from a name and a generation.
  public init(name: String, generation: String) {
    self.name = name
    self.generation = generation
  }
}

/// One of several responses of a URL, which differ by fields of the request (RFC 9111 §4.1).
public struct CacheVariant: Sendable, Hashable {
  /// The key of the variant's entry.
  public var key: String
  /// The field names of its `Vary`, in lower case, sorted.
  public var names: [String]
  /// The request's normalised fields of those names.
  public var selecting: HTTPFields
  /// Its entity tag as sent, for validating several variants at once; nil if it has none.
  public var etag: String?
  /// ``date`` in milliseconds since 1970.
  package var dateMilliseconds: Int64

  /// Creates a variant.
  public init(key: String, names: [String], selecting: HTTPFields, etag: String?, date: Date) {
    self.init(key: key, names: names, selecting: selecting, etag: etag, date: date.unixMilliseconds)
  }

  /// Creates a variant with a date in milliseconds since 1970.
  package init(key: String, names: [String], selecting: HTTPFields, etag: String?, date: Int64) {
    self.key = key
    self.names = names
    self.selecting = selecting
    self.etag = etag
    dateMilliseconds = date
  }

  /// Its `Date`, or when it arrived, in whole milliseconds: if several variants match, the latest is used.
  public var date: Date {
    get { Date(unixMilliseconds: dateMilliseconds) }
    set { dateMilliseconds = newValue.unixMilliseconds }
  }
}
