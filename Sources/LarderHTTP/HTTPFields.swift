/// The name of a header field: compared without regard to case (RFC 9110 §5.1), printed as given.
public struct HTTPFieldName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The name as given.
  public let rawName: String
  /// The name in lower case: what equality and hashing use.
  package let canonicalName: String

  /// Creates a name from a text, unchanged.
  public init(_ name: String) {
    rawName = name
    canonicalName = HTTPFieldName.lowercasingASCII(name)
  }

  /// Creates a name from a literal.
  public init(stringLiteral value: String) { self.init(value) }

  /// The name as given.
  public var description: String { rawName }

  /// Whether two names are equal without regard to case.
  public static func == (left: HTTPFieldName, right: HTTPFieldName) -> Bool {
    left.canonicalName == right.canonicalName
  }

  /// Hashes the lower-case name.
  public func hash(into hasher: inout Hasher) { hasher.combine(canonicalName) }

  /// Whether every byte is allowed in a field name (RFC 9110 §5.6.2, `token`).
  package var isValid: Bool {
    !rawName.isEmpty && rawName.utf8.allSatisfy(HTTPFieldName.isTokenByte)
  }

  /// Lowercases only A to Z: Unicode's rules would make other letters equal to ASCII ones (the Kelvin sign to k).
  private static func lowercasingASCII(_ name: String) -> String {
    guard name.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return name }
    return String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// Whether a byte may be in a token (RFC 9110 §5.6.2).
  @_spi(Stores) @inlinable
  public static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
    default: false
    }
  }
}

/// One header field.
public struct HTTPField: Hashable, Sendable {
  /// The field's name.
  public var name: HTTPFieldName
  /// The field's value, without white space around it. Bytes that are not UTF-8 are kept too, see ``bytes``.
  public var value: String

  /// Creates a field from a name and a value.
  public init(name: HTTPFieldName, value: String) {
    self.name = name
    self.value = value
  }

  /// False if the name is not a token, or if the value contains a byte that could end its line (CR, LF, NUL).
  package var isValid: Bool {
    name.isValid && !value.utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0x00 }
  }
}

/// Header fields in their order; several may have the same name.
///
/// Two values are equal if they have the same fields in the same order. Names are compared without regard to case.
public struct HTTPFields: Hashable, Sendable, ExpressibleByDictionaryLiteral, Sequence {
  private var fields: [HTTPField]

  /// Creates an empty list of fields.
  public init() { fields = [] }

  /// Creates a list of the given fields, in their order.
  public init(_ fields: [HTTPField]) { self.fields = fields }

  /// Creates a list of fields from a literal, in its order.
  public init(dictionaryLiteral elements: (HTTPFieldName, String)...) {
    fields = elements.map { HTTPField(name: $0.0, value: $0.1) }
  }

  /// The value of a field; several fields of one name are joined by a comma (RFC 9110 §5.3).
  ///
  /// Setting a value replaces all fields of that name, at the position of the first; setting `nil` removes them.
  public subscript(name: HTTPFieldName) -> String? {
    get {
      var joined: String?
      for field in fields where field.name == name {
        joined = joined.map { $0 + ", " + field.value } ?? field.value
      }
      return joined
    }
    set {
      guard let newValue else {
        fields.removeAll { $0.name == name }
        return
      }
      guard let first = fields.firstIndex(where: { $0.name == name }) else {
        fields.append(HTTPField(name: name, value: newValue))
        return
      }
      fields[first].value = newValue
      let rest = fields[(first + 1)...].filter { $0.name != name }
      fields.replaceSubrange((first + 1)..., with: rest)
    }
  }

  /// Every value of a name, in order, not joined (`Set-Cookie` needs this).
  public func values(of name: HTTPFieldName) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  /// Whether a field of that name is present.
  public func contains(_ name: HTTPFieldName) -> Bool { fields.contains { $0.name == name } }

  /// Appends a field; fields of the same name are kept.
  public mutating func append(_ name: HTTPFieldName, _ value: String) {
    fields.append(HTTPField(name: name, value: value))
  }

  /// Sets a field if there is none of that name yet.
  package mutating func setDefault(_ name: HTTPFieldName, _ value: @autoclosure () -> String) {
    if !contains(name) { fields.append(HTTPField(name: name, value: value())) }
  }

  /// The number of fields.
  public var count: Int { fields.count }
  /// Whether there are no fields.
  public var isEmpty: Bool { fields.isEmpty }

  /// Iterates over the fields in order.
  public func makeIterator() -> IndexingIterator<[HTTPField]> { fields.makeIterator() }
}

extension HTTPFieldName {
  /// The media types that the client accepts (RFC 9110 §12.5.1).
  public static let accept: HTTPFieldName = "Accept"
  /// The languages that the client prefers (RFC 9110 §12.5.4).
  public static let acceptLanguage: HTTPFieldName = "Accept-Language"
  /// The client's credentials (RFC 9110 §11.6.2).
  public static let authorization: HTTPFieldName = "Authorization"
  /// Directives for caches (RFC 9111 §5.2).
  public static let cacheControl: HTTPFieldName = "Cache-Control"
  /// The codings of the content, such as gzip (RFC 9110 §8.4).
  public static let contentEncoding: HTTPFieldName = "Content-Encoding"
  /// The id of a part (MIME); OData uses it in `$batch`.
  package static let contentID: HTTPFieldName = "Content-ID"
  /// The length of the content in bytes (RFC 9110 §8.6).
  public static let contentLength: HTTPFieldName = "Content-Length"
  /// The media type of the content (RFC 9110 §8.3).
  public static let contentType: HTTPFieldName = "Content-Type"
  /// The cookies that the client returns (RFC 6265).
  public static let cookie: HTTPFieldName = "Cookie"
  /// SAP's token against cross-site request forgery.
  package static let csrfToken: HTTPFieldName = "X-CSRF-Token"
  /// OData V2: the version of this message.
  package static let dataServiceVersion: HTTPFieldName = "DataServiceVersion"
  /// The date of the message (RFC 9110 §6.6.1).
  public static let date: HTTPFieldName = "Date"
  /// The entity tag of a representation (RFC 9110 §8.8.3).
  public static let etag: HTTPFieldName = "ETag"
  /// Precondition: the entity tag matches (RFC 9110 §13.1.1).
  public static let ifMatch: HTTPFieldName = "If-Match"
  /// Precondition: the resource was modified since a date (RFC 9110 §13.1.3).
  public static let ifModifiedSince: HTTPFieldName = "If-Modified-Since"
  /// Precondition: no entity tag matches (RFC 9110 §13.1.2).
  public static let ifNoneMatch: HTTPFieldName = "If-None-Match"
  /// The date of the last modification (RFC 9110 §8.8.2).
  public static let lastModified: HTTPFieldName = "Last-Modified"
  /// The URL of a redirect or of a created resource (RFC 9110 §10.2.2).
  public static let location: HTTPFieldName = "Location"
  /// OData V2: the highest version the client reads.
  package static let maxDataServiceVersion: HTTPFieldName = "MaxDataServiceVersion"
  /// OData V4: the highest version the client reads.
  package static let odataMaxVersion: HTTPFieldName = "OData-MaxVersion"
  /// OData V4: the version of this message.
  package static let odataVersion: HTTPFieldName = "OData-Version"
  /// Preferences of the client (RFC 7240).
  public static let prefer: HTTPFieldName = "Prefer"
  /// The preferences that the server applied (RFC 7240).
  package static let preferenceApplied: HTTPFieldName = "Preference-Applied"
  /// How long to wait before the next request (RFC 9110 §10.2.3).
  public static let retryAfter: HTTPFieldName = "Retry-After"
  /// SAP Gateway: one leading message of a V2 response, as JSON or XML.
  package static let sapMessage: HTTPFieldName = "sap-message"
  /// SAP Gateway: the messages of a V4 response, a JSON array.
  package static let sapMessages: HTTPFieldName = "sap-messages"
  /// A cookie that the server sets (RFC 6265).
  public static let setCookie: HTTPFieldName = "Set-Cookie"
  /// The name that a POST suggests for a new media resource (RFC 5023 §9.7).
  public static let slug: HTTPFieldName = "Slug"
  /// The software of the client (RFC 9110 §10.1.5).
  public static let userAgent: HTTPFieldName = "User-Agent"
  /// The request fields that select the representation (RFC 9110 §12.5.5).
  public static let vary: HTTPFieldName = "Vary"
  /// The authentication that the server demands (RFC 9110 §11.6.1).
  public static let wwwAuthenticate: HTTPFieldName = "WWW-Authenticate"
  /// Method tunnelling: the method that a POST replaces.
  package static let httpMethod: HTTPFieldName = "X-HTTP-Method"
  /// Method tunnelling, the other spelling.
  package static let httpMethodOverride: HTTPFieldName = "X-HTTP-Method-Override"
}
