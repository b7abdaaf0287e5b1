/// The name of a header field: compared without regard to case (RFC 9110 §5.1), printed as given.
public struct HTTPFieldName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The name as it was given.
  public let rawName: String
  /// The name in lower case: what equality and hashing use.
  public let canonicalName: String

  /// Takes a name as it is.
  public init(_ name: String) {
    rawName = name
    canonicalName = HTTPFieldName.lowercasingASCII(name)
  }

  /// Takes a literal name.
  public init(stringLiteral value: String) { self.init(value) }

  /// The name as it was given.
  public var description: String { rawName }

  /// Equal up to case.
  public static func == (left: HTTPFieldName, right: HTTPFieldName) -> Bool {
    left.canonicalName == right.canonicalName
  }

  /// Hashes the lower-case name.
  public func hash(into hasher: inout Hasher) { hasher.combine(canonicalName) }

  /// True where every byte is one that a field name may hold (RFC 9110 §5.6.2, `token`).
  public var isValid: Bool {
    !rawName.isEmpty && rawName.utf8.allSatisfy(HTTPFieldName.isTokenByte)
  }

  /// Only A to Z: Unicode's rules would make other letters equal to ASCII ones (the Kelvin sign to k).
  private static func lowercasingASCII(_ name: String) -> String {
    guard name.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return name }
    return String(decoding: name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  package static func isTokenByte(_ byte: UInt8) -> Bool {
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
  /// The field's value, without white space around it. Bytes that are no UTF-8 pass too, see ``bytes``.
  public var value: String

  /// Joins a name and a value.
  public init(name: HTTPFieldName, value: String) {
    self.name = name
    self.value = value
  }

  /// False where the name is no token or the value could break out of its line (CR, LF, NUL).
  public var isValid: Bool {
    name.isValid && !value.utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0x00 }
  }
}

/// Header fields in their order; several may share a name.
///
/// Equal where they hold the same fields in the same order, names compared without regard to case.
public struct HTTPFields: Hashable, Sendable, ExpressibleByDictionaryLiteral, Sequence {
  private var fields: [HTTPField]

  /// No fields.
  public init() { fields = [] }

  /// The given fields in their order.
  public init(_ fields: [HTTPField]) { self.fields = fields }

  /// Fields from a literal, in its order.
  public init(dictionaryLiteral elements: (HTTPFieldName, String)...) {
    fields = elements.map { HTTPField(name: $0.0, value: $0.1) }
  }

  /// The value of a field; several of one name are joined by a comma (RFC 9110 §5.3).
  ///
  /// Setting replaces all of that name, at the place of the first; setting `nil` removes them.
  public subscript(name: HTTPFieldName) -> String? {
    get {
      var found: String?
      for field in fields where field.name == name {
        found = found.map { $0 + ", " + field.value } ?? field.value
      }
      return found
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

  /// Every value of a name, in order, unjoined (`Set-Cookie` needs this).
  public func values(of name: HTTPFieldName) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  /// True where a field of that name is present.
  public func contains(_ name: HTTPFieldName) -> Bool { fields.contains { $0.name == name } }

  /// Adds a field behind the others, whatever their names.
  public mutating func append(_ name: HTTPFieldName, _ value: String) {
    fields.append(HTTPField(name: name, value: value))
  }

  /// Sets a field where none of that name is there yet.
  public mutating func setDefault(_ name: HTTPFieldName, _ value: @autoclosure () -> String) {
    if !contains(name) { fields.append(HTTPField(name: name, value: value())) }
  }

  /// How many fields there are.
  public var count: Int { fields.count }
  /// True where there are none.
  public var isEmpty: Bool { fields.isEmpty }

  /// Walks the fields in order.
  public func makeIterator() -> IndexingIterator<[HTTPField]> { fields.makeIterator() }
}

extension HTTPFieldName {
  /// RFC 9110 §12.5.1.
  public static let accept: HTTPFieldName = "Accept"
  /// RFC 9110 §12.5.4.
  public static let acceptLanguage: HTTPFieldName = "Accept-Language"
  /// RFC 9110 §11.6.2.
  public static let authorization: HTTPFieldName = "Authorization"
  /// RFC 9111 §5.2.
  public static let cacheControl: HTTPFieldName = "Cache-Control"
  /// RFC 9110 §8.4.
  public static let contentEncoding: HTTPFieldName = "Content-Encoding"
  /// MIME; OData's `$batch` parts.
  public static let contentID: HTTPFieldName = "Content-ID"
  /// RFC 9110 §8.6.
  public static let contentLength: HTTPFieldName = "Content-Length"
  /// MIME; OData's `$batch` parts.
  public static let contentTransferEncoding: HTTPFieldName = "Content-Transfer-Encoding"
  /// RFC 9110 §8.3.
  public static let contentType: HTTPFieldName = "Content-Type"
  /// RFC 6265.
  public static let cookie: HTTPFieldName = "Cookie"
  /// SAP's token against cross-site request forgery.
  public static let csrfToken: HTTPFieldName = "X-CSRF-Token"
  /// OData V2: the version of this message.
  public static let dataServiceVersion: HTTPFieldName = "DataServiceVersion"
  /// RFC 9110 §6.6.1.
  public static let date: HTTPFieldName = "Date"
  /// RFC 9110 §8.8.3.
  public static let etag: HTTPFieldName = "ETag"
  /// RFC 9110 §13.1.1.
  public static let ifMatch: HTTPFieldName = "If-Match"
  /// RFC 9110 §13.1.3.
  public static let ifModifiedSince: HTTPFieldName = "If-Modified-Since"
  /// RFC 9110 §13.1.2.
  public static let ifNoneMatch: HTTPFieldName = "If-None-Match"
  /// RFC 9110 §8.8.2.
  public static let lastModified: HTTPFieldName = "Last-Modified"
  /// RFC 9110 §10.2.2.
  public static let location: HTTPFieldName = "Location"
  /// OData V2: the highest version the client reads.
  public static let maxDataServiceVersion: HTTPFieldName = "MaxDataServiceVersion"
  /// OData V4: the highest version the client reads.
  public static let odataMaxVersion: HTTPFieldName = "OData-MaxVersion"
  /// OData V4: the version of this message.
  public static let odataVersion: HTTPFieldName = "OData-Version"
  /// RFC 7240.
  public static let prefer: HTTPFieldName = "Prefer"
  /// RFC 7240.
  public static let preferenceApplied: HTTPFieldName = "Preference-Applied"
  /// RFC 9110 §10.2.3.
  public static let retryAfter: HTTPFieldName = "Retry-After"
  /// SAP Gateway: one leading message of a V2 answer, as JSON or XML.
  public static let sapMessage: HTTPFieldName = "sap-message"
  /// SAP Gateway: the messages of a V4 answer, a JSON array.
  public static let sapMessages: HTTPFieldName = "sap-messages"
  /// RFC 6265.
  public static let setCookie: HTTPFieldName = "Set-Cookie"
  /// The media resource's name that a POST of one suggests (RFC 5023 §9.7).
  public static let slug: HTTPFieldName = "Slug"
  /// RFC 9110 §10.1.5.
  public static let userAgent: HTTPFieldName = "User-Agent"
  /// RFC 9110 §12.5.5.
  public static let vary: HTTPFieldName = "Vary"
  /// RFC 9110 §11.6.1.
  public static let wwwAuthenticate: HTTPFieldName = "WWW-Authenticate"
  /// Method tunnelling: the method that a POST replaces.
  public static let httpMethod: HTTPFieldName = "X-HTTP-Method"
  /// Method tunnelling, the other spelling.
  public static let httpMethodOverride: HTTPFieldName = "X-HTTP-Method-Override"
}
