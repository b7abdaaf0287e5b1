@_spi(Stores) internal import LarderHTTP
internal import LarderOData

/// Derives the folder of a clone from the URL of the service's root, if no folder is given.
enum CloneName {
  /// Path segments that many services share; the segment before them identifies the service.
  private static let genericSegments: Set<String> = ["api", "odata", "odata2", "odata4", "rest", "svc"]
  /// The longest name, with room for a suffix within the file systems' limit.
  private static let limit = 200

  /// The last segment of the path that identifies the service. It is not a version (`v4`, `1.0`, `0001`), not a session
  /// (`(S(…))`), and none of the words that services share (`odata`, `api`). If there is none, the host's name.
  ///
  /// Throws if the name cannot be used for a folder.
  static func folder(of root: String, _ arguments: ParsedArguments) throws(UsageError) -> String {
    let address = root.prefix { $0 != "?" }
    let rest = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address
    let host = rest.prefix { $0 != "/" }
    let segments = rest.dropFirst(host.count).split(separator: "/").map { $0.prefix { $0 != ";" } }
    guard let segment = segments.last(where: isServiceName) else {
      return String(host.prefix { $0 != ":" }.drop { $0 == "[" })
    }
    guard let name = PercentEncoding.decode(String(segment)), isValidFolderName(name) else {
      throw arguments.usage(
        "the name of the service, '\(segment)', cannot be used for a folder",
        hint: "Specify a folder: larder clone SERVICE DIR.")
    }
    return name
  }

  private static func isServiceName(_ segment: Substring) -> Bool {
    let version = segment.first == "v" || segment.first == "V" ? segment.dropFirst() : segment
    let isVersion = !version.isEmpty && version.allSatisfy { $0.isASCII && $0.isNumber || $0 == "." }
    return !segment.isEmpty && !segment.hasPrefix("(") && !isVersion && !genericSegments.contains(segment.lowercased())
  }

  private static func isValidFolderName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && !name.hasPrefix("-") && name.utf8.count <= limit
      && !name.hasSuffix(UnfinishedClone.suffix)
      && !name.unicodeScalars.contains { $0 == "/" || $0 == "\t" || $0 == "\n" || TerminalText.isInvisible($0) }
  }
}
