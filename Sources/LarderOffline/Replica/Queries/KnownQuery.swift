/// A defining query, with the facts that determine what the rows of its last download have.
struct KnownQuery: Sendable, Hashable {
  let name: String
  /// The text of the last finished download. Before the first download it is the text that will be downloaded.
  let url: String
  let isDownloaded: Bool
  /// The query's bit in ``SystemColumn/queries``, by the number of the table.
  let bits: [Int: Int64]
  /// The requested links that the service did not return, by the names of ``RequestedLinks``.
  var missingLinks: Set<String> = []
}
