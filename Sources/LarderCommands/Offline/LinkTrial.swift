internal import LarderOffline

/// The links of a set that a clone asks for, while the service rejects some of them: first all, then those without
/// casts, then those that it accepts one by one, then none.
struct LinkTrial: Sendable {
  /// The query of the set with the links that are tried now.
  private(set) var query: OfflineODataDefiningQuery
  /// The items of `$expand` that are tried now.
  private(set) var links: [String]
  private let allLinks: [String]
  private let set: String
  private var step = Step.all

  private enum Step: Int { case all, withoutCasts, accepted, none }

  /// Creates the trial of a query of the form `Set` or `Set?$expand=…`.
  init(_ query: OfflineODataDefiningQuery) {
    self.query = query
    let mark = query.query.firstRange(of: "?$expand=")
    set = String(query.query[..<(mark?.lowerBound ?? query.query.endIndex)])
    allLinks = mark.map { Self.items(query.query[$0.upperBound...]) } ?? []
    links = allLinks
  }

  /// The links that are not tried now.
  var leftOut: [String] { allLinks.filter { !links.contains($0) } }

  /// The query with other links.
  func path(expanding links: [String]) -> String {
    links.isEmpty ? set : "\(set)?$expand=\(links.joined(separator: ","))"
  }

  /// Continues with the next combination of links, after a rejection.
  mutating func advance(isAccepted: (String) async throws -> Bool) async throws {
    let rejected = links
    links = []
    if step == .all {
      step = .withoutCasts
      let plain = allLinks.filter { !$0.contains(".") }
      if plain.count < allLinks.count { links = plain }
    }
    if links.isEmpty, step == .withoutCasts {
      step = .accepted
      // A single link has already been rejected.
      if allLinks.count > 1 {
        for link in allLinks where try await isAccepted(link) { links.append(link) }
      }
      if links == rejected { links = [] }
    } else if links.isEmpty {
      step = .none
    }
    query.query = path(expanding: links)
  }

  /// The items of a list, which may have commas in parentheses.
  private static func items(_ text: Substring) -> [String] {
    var items = [""]
    var depth = 0
    for character in text {
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      if character == ",", depth == 0 { items.append("") } else { items[items.count - 1].append(character) }
    }
    return items
  }
}
