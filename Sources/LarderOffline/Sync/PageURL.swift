import LarderHTTP
import LarderOData
import LarderService

/// The URL and the header fields of a page's request.
struct PageURL: Sendable {
  /// The defining query, relative to the service root.
  let query: String
  let version: ODataVersion
  /// The names of the key properties.
  let key: [String]

  /// Returns the HTTP request for a page.
  func request(_ page: PageRequest) -> ODataSingleRequest {
    var request = ODataSingleRequest(.read, path(page), useCache: false)
    let prefer = preferences(page)
    if !prefer.isEmpty { request.fields[.prefer] = prefer.joined(separator: ",") }
    if page.etag != nil || page.lastModified != nil {
      request.validators = HTTPValidators(etag: page.etag, lastModified: page.lastModified)
    }
    if page.form == .atom { request.fields[.accept] = "application/atom+xml" }
    return request
  }

  private func preferences(_ page: PageRequest) -> [String] {
    var all: [String] = []
    if page.tracksChanges { all.append("odata.track-changes") }
    if let size = page.maximumPageSize { all.append("odata.maxpagesize=\(size)") }
    return all
  }

  private func path(_ page: PageRequest) -> String {
    switch page.place {
    case .link(let link): return link
    case .query(let window):
      var text = selectingKey(query)
      if let window {
        text = ordered(text)
        text = adding("$top=\(window.top)", to: text)
        if window.skip > 0 { text = adding("$skip=\(window.skip)", to: text) }
      }
      if page.countsRows { text = adding(version < .v4 ? "$inlinecount=allpages" : "$count=true", to: text) }
      return text
    }
  }

  /// Adds the key to the properties that the query selects: without it, rows could not be identified.
  private func selectingKey(_ text: String) -> String {
    guard !key.isEmpty, let mark = text.firstIndex(of: "?") else { return text }
    let options = text[text.index(after: mark)...].split(separator: "&").map { option in
      guard Self.name(option) == "$select", let equals = option.firstIndex(of: "=") else { return String(option) }
      let selected = option[option.index(after: equals)...].split(separator: ",").map { $0.trimmed }
      let missing = selected.contains("*") ? [] : key.filter { !selected.contains($0[...]) }
      return missing.isEmpty ? String(option) : option + "," + missing.joined(separator: ",")
    }
    return text[...mark] + options.joined(separator: "&")
  }

  /// Appends the key to the query's order, so that pages selected with `$skip` fit together.
  private func ordered(_ text: String) -> String {
    guard !key.isEmpty else { return text }
    let keys = key.joined(separator: ",")
    guard let mark = text.firstIndex(of: "?") else { return text + "?$orderby=" + keys }
    let options = text[text.index(after: mark)...].split(separator: "&").map { option in
      Self.name(option) == "$orderby" ? option + "," + keys : String(option)
    }
    let isOrdered = options.contains { Self.name($0[...]) == "$orderby" }
    return text[...mark] + (options + (isOrdered ? [] : ["$orderby=" + keys])).joined(separator: "&")
  }

  private func adding(_ option: String, to text: String) -> String {
    text + (text.contains("?") ? text.hasSuffix("?") || text.hasSuffix("&") ? "" : "&" : "?") + option
  }

  private static func name(_ option: Substring) -> String {
    let name = String(option.prefix { $0 != "=" })
    return name.hasPrefix("%24") ? "$" + name.dropFirst(3) : name
  }

  /// The path of the query's row count: `Set/$count` with the options that restrict the rows.
  var count: String {
    let mark = query.firstIndex(of: "?") ?? query.endIndex
    let options = query[mark...].dropFirst().split(separator: "&").filter { option in
      let name = Self.name(option)
      return name == "$filter" || name == "$search" || !name.hasPrefix("$")
    }
    return query[..<mark] + "/$count" + (options.isEmpty ? "" : "?" + options.joined(separator: "&"))
  }
}

extension Substring {
  /// The text without leading and trailing spaces, whether they are plain or percent-encoded.
  fileprivate var trimmed: Substring {
    var text = self
    while let space = [" ", "%20", "+"].first(where: { text.hasPrefix($0) }) { text = text.dropFirst(space.count) }
    while let space = [" ", "%20", "+"].first(where: { text.hasSuffix($0) }) { text = text.dropLast(space.count) }
    return text
  }
}
