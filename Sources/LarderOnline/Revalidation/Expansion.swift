@_spi(Stores) import LarderHTTP
import LarderOData

/// Requests for an entity with the entities that are related to it.
enum Expansion {
  /// Whether the ETag of the response may be that of an entity: it stays the same when an expanded entity changes (OData
  /// Protocol 4.01 §8.3.1), so the request must not be conditional. The ETag of a collection is that of its content.
  static func hidesChanges(_ url: String, model: EdmModel?) -> Bool {
    guard let mark = url.firstIndex(of: "?") else { return false }
    let expands = url[url.index(after: mark)...].split(separator: "&").contains { option in
      let name = String(option.prefix { $0 != "=" })
      return ["$expand", "expand"].contains((PercentEncoding.decode(name) ?? name).lowercased())
    }
    return expands && model.flatMap { ResourceShape(url: url, model: $0)?.kind } != .collection
  }
}
