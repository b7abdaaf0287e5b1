import LarderCore

// The text `read (GET https://host/S/Orders): HTTP 404: …`, with which descriptions of `ODataServiceError` begin.
extension ErrorExchange {
  /// Returns a text that names the operation and the request before what happened. The URL is shown as it is.
  package static func text(_ operation: String, method: String?, url: String?, _ problem: String) -> String {
    guard let url else { return "\(operation): \(problem)" }
    return "\(operation) (\(method.map { $0 + " " } ?? "")\(url)): \(problem)"
  }

  /// Reads the first exchange that a text names; nil if it names none.
  ///
  /// URLs contain no spaces, so parentheses in them do not end them.
  package init?(in text: String) {
    let pattern = /\((?:([A-Z]+) )?(https?:\/\/[^ ]+)\): (?:HTTP ([0-9]{3}):)?/
    guard let match = text.firstMatch(of: pattern)?.output else { return nil }
    self.init(method: match.1.map(String.init), url: String(match.2), status: match.3.flatMap { Int($0) })
  }
}
