/// Removes secrets from a URL before it is used in an error or a log.
enum RedactedURL {
  /// Names of query options whose values are credentials.
  private static let secrets: Set<String> = [
    "access_token", "refresh_token", "token", "code", "client_secret", "password", "passwd", "sap-password", "apikey",
    "api_key", "api-key", "key", "subscription-key", "sig", "signature", "assertion",
  ]

  /// The URL without user information; values of secret query options become `***`.
  static func text(_ url: String) -> String {
    let text = withoutUser(url)
    guard let mark = text.firstIndex(of: "?") else { return text }
    let options = text[text.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
    let redacted = options.map { option -> Substring in
      guard let equals = option.firstIndex(of: "=") else { return option }
      return secrets.contains(option[..<equals].lowercased()) ? option[...equals] + "***" : option
    }
    return text[...mark] + redacted.joined(separator: "&")
  }

  /// A text in which the values of secret query options become `***`, in every URL that it contains.
  static func content(_ text: String) -> String {
    var result = ""
    var rest = text[...]
    while let mark = rest.firstIndex(where: { $0 == "?" || $0 == "&" }) {
      // In XML and HTML the separator is `&amp;`.
      let separator = rest[mark...].hasPrefix("&amp;") ? "&amp;" : String(rest[mark])
      result += rest[..<mark] + separator
      rest = rest[mark...].dropFirst(separator.count)
      let name = rest.prefix { $0.isLetter || $0 == "_" || $0 == "-" }
      let value = rest[name.endIndex...]
      guard value.first == "=", secrets.contains(name.lowercased()) else { continue }
      result += name + "=***"
      rest = value.drop { !"&\"'<>\\) \t\r\n".contains($0) }
    }
    return result + rest
  }

  /// The URL up to its query.
  static func withoutQuery(_ url: String) -> String { String(url.prefix { $0 != "?" && $0 != "#" }) }

  /// Options whose values hold no data of the service.
  private static let plain: Set<String> = ["$count", "$inlinecount", "$top", "$skip", "$orderby", "$select", "$format"]

  /// The URL with the names of its query options, and the values of those that hold no data; other values become `…`.
  static func withOptionNames(_ url: String) -> String {
    let options = url.drop { $0 != "?" }.dropFirst().split(separator: "&").map { option -> Substring in
      guard let equals = option.firstIndex(of: "=") else { return option }
      let name = option[..<equals].replacing("%24", with: "$", maxReplacements: 1)
      return plain.contains(name.lowercased()) ? name + option[equals...] : name + "=…"
    }
    return withoutQuery(url) + (options.isEmpty ? "" : "?" + options.joined(separator: "&"))
  }

  private static func withoutUser(_ url: String) -> String {
    guard let slashes = url.firstRange(of: "://") else { return url }
    let rest = url[slashes.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard let at = authority.lastIndex(of: "@") else { return url }
    return String(url[..<slashes.upperBound]) + rest[rest.index(after: at)...]
  }
}

/// The statuses after which the same request may succeed later.
enum RetryableStatus {
  /// True for too many requests, and for a gateway or service that is unavailable. 500 is not included: the service may
  /// have executed the request.
  static func contains(_ status: Int) -> Bool { status == 429 || (502...504).contains(status) }
}
