import LarderStorage

/// The links that a defining query requests and that the service did not return, as they are stored in the file. They
/// describe the rows of the query's last download, and change in the transaction that makes rows visible.
enum MissingLinks {
  /// The name of the setting, before the number of the query.
  static let setting = "missing links "

  static func names(_ text: String?) -> Set<String> {
    text.flatMap { JSONSettings.decode(Set<String>.self, $0) } ?? []
  }

  static func of(_ query: Int64, _ connection: Connection) throws(StorageError) -> Set<String> {
    guard case .text(let text)? = try connection.setting(setting + String(query)) else { return [] }
    return names(text)
  }

  static func set(_ links: [String], of query: Int64, _ connection: Connection) throws(StorageError) {
    try connection.set(setting + String(query), to: links.isEmpty ? nil : .text(JSONSettings.encode(links.sorted())))
  }
}
