@_spi(Stores) internal import LarderCore
@_spi(Stores) internal import LarderHTTP
internal import LarderService

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A URL from the command line: the requested resource, and the service that it belongs to.
struct RequestTarget: Sendable, Hashable {
  /// The absolute URL, percent-encoded if the given one was not (`Articles('x')?$orderby=Date desc`).
  let url: String
  /// The service's root, with the query options of `--service`.
  let root: URL
  /// The root without query options; ends with a slash.
  let rootText: String

  /// The URL's query, with the `?` before it; empty if there is none.
  var query: String { String(url.drop { $0 != "?" }) }

  /// The root of the URL's origin.
  let origin: URL

  /// Creates a target from a URL.
  ///
  /// - Parameters:
  ///   - given: the URL; it may be relative to `service`.
  ///   - service: `--service`; the URL must be below it and gets its query options. Without it,
  ///     the root is derived from the form of the URL.
  init(_ given: String, service: String? = nil, in arguments: ParsedArguments) throws(UsageError) {
    let reference = Self.withoutBytes(String(given.prefix { $0 != "#" }))
    let givenRoot: String
    if let service {
      givenRoot = try Self.serviceRoot(service, in: arguments)
      rootText = String(givenRoot.prefix { $0 != "?" })
      let absolute =
        Self.isAbsolute(reference)
        ? try Self.absolute(reference, arguments) : try Self.absolute(reference, below: rootText, arguments)
      guard absolute.hasPrefix(rootText) || absolute + "/" == rootText else {
        throw arguments.usage("\(given) is not below --service \(service)")
      }
      url = Self.adding(optionsOf: givenRoot, to: absolute)
    } else {
      url = try Self.absolute(reference, arguments)
      rootText = Self.root(of: url)
      givenRoot = rootText
    }
    let address = String(url.prefix { $0 != "?" })
    let pathStart = address.firstRange(of: "://").flatMap { address[$0.upperBound...].firstIndex(of: "/") }
    guard let root = URL(string: givenRoot),
      let origin = URL(string: address[..<(pathStart ?? address.endIndex)] + "/")
    else {
      throw arguments.usage("'\(given)' is not a URL")
    }
    self.origin = origin
    self.root = root
  }

  /// The reference with each byte that is not UTF-8 percent-encoded as it is.
  private static func withoutBytes(_ reference: String) -> String {
    guard ByteText.hasEscapes(reference) else { return reference }
    var bytes: [UInt8] = []
    for scalar in reference.unicodeScalars {
      if ByteText.hasEscapes(String(scalar)) {
        for byte in ByteText.bytes(of: String(scalar)) { PercentEncoding.append(byte, to: &bytes) }
      } else {
        bytes += Array(String(scalar).utf8)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The root of a service that is given explicitly: with a slash at the path's end, and with the service's own query
  /// options (`?sap-client=100`), which every request carries. The URLs of its `$metadata` and `$batch` are accepted too.
  static func serviceRoot(
    _ given: String, in arguments: ParsedArguments, hint: String? = nil
  ) throws(UsageError) -> String {
    guard !given.contains("#") else { throw arguments.usage("the service's root must not contain '#'") }
    let given = withoutBytes(given)
    var address = String(given.prefix { $0 != "?" })
    let query = given.dropFirst(address.count + 1)
    if let option = query.split(separator: "&").first(where: { $0.hasPrefix("$") || $0.hasPrefix("%24") }) {
      throw arguments.usage(
        "'\(option.prefix { $0 != "=" })' belongs to a query, not to the service's root", hint: hint)
    }
    for name in ["/$metadata", "/%24metadata", "/$batch", "/%24batch"] where address.hasSuffix(name) {
      address.removeLast(name.count - 1)
    }
    if !address.hasSuffix("/") { address += "/" }
    return try absolute(query.isEmpty ? address : address + "?" + query, arguments)
  }

  /// Rejects everything except web URLs and references relative to a service, such as `Products(1)`.
  static func check(_ given: String, in arguments: ParsedArguments) throws(UsageError) {
    if isAbsolute(given) { _ = try absolute(given, arguments) } else { try checkCharacters(given, arguments) }
  }

  /// Whether the text has a scheme: a colon before a slash, a query, a fragment or a key ends one (RFC 3986 §4.2).
  private static func isAbsolute(_ given: String) -> Bool {
    given.prefix { !"/?#('".contains($0) }.contains(":")
  }

  private static func checkCharacters(_ given: String, _ arguments: ParsedArguments) throws(UsageError) {
    guard !given.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
      throw arguments.usage("the URL contains control characters")
    }
  }

  /// The URL of a relative reference.
  private static func absolute(
    _ reference: String, below root: String, _ arguments: ParsedArguments
  ) throws(UsageError) -> String {
    try checkCharacters(reference, arguments)
    guard let url = URL(string: root) else { throw arguments.usage("'\(root)' is not a URL") }
    do throws(ODataServiceError) { return try ODataServiceRoot(url).resolve(reference).absoluteString } catch {
      throw arguments.usage("'\(reference)' is not a URL")
    }
  }

  /// Adds the query options of the root that the URL lacks.
  private static func adding(optionsOf root: String, to url: String) -> String {
    func query(_ url: String) -> Substring { url.drop { $0 != "?" }.dropFirst() }
    func name(_ option: Substring) -> String {
      let name = String(option.prefix { $0 != "=" })
      return PercentEncoding.decode(name) ?? name
    }
    let names = query(url).split(separator: "&").map(name)
    let missing = query(root).split(separator: "&").filter { !names.contains(name($0)) }
    guard !missing.isEmpty else { return url }
    return url.prefix { $0 != "?" } + "?" + ([query(url)].filter { !$0.isEmpty } + missing).joined(separator: "&")
  }

  /// The URL, percent-encoded if necessary. Throws if it cannot be requested or contains secrets.
  private static func absolute(_ given: String, _ arguments: ParsedArguments) throws(UsageError) -> String {
    let rest = given.firstRange(of: "://").map { given[$0.upperBound...] } ?? given[given.endIndex...]
    let authority = rest.prefix { !"/?#".contains($0) }
    guard !authority.contains("@") else {
      throw arguments.usage(
        "a URL must not contain a user name or password: other users of this machine can read arguments",
        hint: "Put user:password into a file and use --user-file FILE, or set LARDER_USER and LARDER_PASSWORD.")
    }
    let isHTTP = ["http://", "https://"].contains { given.lowercased().hasPrefix($0) }
    guard isHTTP, !authority.isEmpty else {
      throw arguments.usage(
        "'\(given)' is not an http or https URL", hint: "Use a complete URL, such as https://host/service/Products.")
    }
    try checkCharacters(given, arguments)
    let host = given[..<rest.startIndex] + authority + "/"
    guard let url = URL(string: String(host)), url.host() != nil else {
      throw arguments.usage("'\(given)' is not a URL")
    }
    do throws(ODataServiceError) { return try ODataServiceRoot(url).resolve(given).absoluteString } catch {
      throw arguments.usage("'\(given)' is not a URL")
    }
  }

  /// The part of a URL that is probably the service's root, derived from its form alone.
  ///
  /// A path that ends with a slash is a root. Otherwise the root ends before the first segment that only a resource can
  /// have: a name with parentheses, or one that begins with `$` (for `$count`, `$value`, `$ref`, `$links` the segment
  /// before it is the resource). If there is none, the last segment is the resource.
  static func root(of url: String) -> String {
    let path = url.prefix { $0 != "?" }
    guard let scheme = path.firstRange(of: "://"), let first = path[scheme.upperBound...].firstIndex(of: "/") else {
      return path + "/"
    }
    let prefix = path[..<first]
    let segments = path[path.index(after: first)...].split(separator: "/", omittingEmptySubsequences: false)
    var count = segments.count - 1
    for (index, segment) in segments.enumerated() {
      let segment = segment.replacing("%24", with: "$")
      if ["$count", "$value", "$ref", "$links"].contains(segment) {
        count = max(index - 1, 0)
        break
      }
      let hasKey = !segment.hasPrefix("(") && (segment.contains("(") || segment.contains("%28"))
      if segment.hasPrefix("$") || hasKey {
        count = index
        break
      }
    }
    return prefix + "/" + segments[..<count].map { $0 + "/" }.joined()
  }
}
