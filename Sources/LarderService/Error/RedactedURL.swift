/// Removes secrets from a URL before it is used in an error or a log.
enum RedactedURL {
  /// The URL without user information; values of secret options become `***`.
  static func text(_ url: String) -> String { SecretScan.url(url) }

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
}
