public import LarderHTTP

/// What is known of a stored response besides its content; plain values that a cache of any kind can keep.
///
/// ``encoded()`` and ``init(encoded:)`` turn it to bytes and back.
public struct CacheMetadata: Sendable, Hashable {
  /// The target URI, without fragment.
  public var url: String
  /// The final status code.
  public var status: Int
  /// The header fields, those of the connection left out (RFC 9111 §3.1).
  public var fields: HTTPFields
  /// When the request was sent that this response answered or that validated it last: milliseconds since 1970.
  public var requestTime: Int64
  /// When its answer's head arrived: milliseconds since 1970.
  public var responseTime: Int64
  /// The request's fields that `Vary` names, normalised; those it lacked are not in it (RFC 9111 §4.1).
  public var selecting: HTTPFields
  /// Which bytes of the representation the stored content is.
  public var content: StoredContent
  /// True where the response must be validated before it is used, whatever its age (RFC 9111 §4.4).
  public var isInvalidated: Bool
  /// Cache groups of the response and the generation of each when it was stored (RFC 9875).
  public var groups: [CacheGroup]
  /// The variants under this URL where this is their index and no response itself.
  public var variants: [CacheVariant]
  /// The status of a later response that hides this success: 404, 410 or that of a redirect; nil where none does.
  ///
  /// The later response lies under a key of its own, and the cache may have forgotten it. For an index it is a response
  /// to requests for any variant.
  public var hiddenBy: Int?

  /// Which bytes of a representation are stored.
  public enum StoredContent: Sendable, Hashable {
    /// All of it.
    case whole
    /// Some: the stored content is these ranges one after another, in order, apart from one another (RFC 9111 §3.3).
    /// `length` is the whole representation's in bytes, nil where no server has said it.
    case parts([Range<Int>], length: Int?)
  }

  /// Describes a response.
  public init(
    url: String, status: Int, fields: HTTPFields = [:], requestTime: Int64, responseTime: Int64,
    selecting: HTTPFields = [:], content: StoredContent = .whole, isInvalidated: Bool = false,
    groups: [CacheGroup] = [], variants: [CacheVariant] = [], hiddenBy: Int? = nil
  ) {
    self.url = url
    self.status = status
    self.fields = fields
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.selecting = selecting
    self.content = content
    self.isInvalidated = isInvalidated
    self.groups = groups
    self.variants = variants
    self.hiddenBy = hiddenBy
  }
}

/// A response's membership in a cache group (RFC 9875 §2).
///
/// Each group has a record of its own in the cache that holds its present generation; an entry is used unvalidated only
/// where that record is there and says the same.
public struct CacheGroup: Sendable, Hashable {
  /// The group's name, within its origin.
  public var name: String
  /// The record's generation when the response was stored.
  public var generation: String

  /// Joins a name and a generation.
  public init(name: String, generation: String) {
    self.name = name
    self.generation = generation
  }
}

/// One of several responses of a URL, told apart by fields of the request (RFC 9111 §4.1).
public struct CacheVariant: Sendable, Hashable {
  /// The key that its entry is stored under.
  public var key: String
  /// The names that its `Vary` held, in lower case, sorted.
  public var names: [String]
  /// The request's normalised fields of those names.
  public var selecting: HTTPFields
  /// Its entity tag as sent, for validating several variants at once; nil where it has none.
  public var etag: String?
  /// Its `Date`, else when it came, in milliseconds since 1970: of several that match the latest is used.
  public var date: Int64

  /// Describes a variant.
  public init(key: String, names: [String], selecting: HTTPFields, etag: String?, date: Int64) {
    self.key = key
    self.names = names
    self.selecting = selecting
    self.etag = etag
    self.date = date
  }
}
