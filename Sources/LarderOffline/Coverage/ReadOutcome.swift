/// The outcome of a read of something that the local copy lacks, or has only in part. All reads follow this one table.
///
/// | the copy has | `show` | `compute` | `follow` | `list` | `find` | `listLocal` |
/// | --- | --- | --- | --- | --- | --- | --- |
/// | `downloaded` | answer | answer | answer | answer | answer | answer |
/// | `madeHere` | answer | answer | answer | answer | answer | answer |
/// | `leftOut` | absent | `notDownloaded` | `notDownloaded` | answer | answer | answer |
/// | `linkNotDownloaded` | absent | `notDownloaded` | `notDownloaded` | answer | the row, else `notDownloaded` | answer |
/// | `notCovered` | absent | `notDownloaded` | `notDownloaded` | `notDownloaded` | the row, else `notDownloaded` | answer |
/// | `awaited` | absent | `neverDownloaded` | `neverDownloaded` | `neverDownloaded` | the row, else `neverDownloaded` | answer |
///
/// The result of an outcome `answer` may be empty. Then nothing matches, as far as the defining queries reach.
enum ReadOutcome: Sendable, Hashable {
  /// The read returns what the copy has, even if that is nothing.
  case answer
  /// The response leaves the member out.
  case absent
  /// The read returns the row if the copy has it, else fails: it is unknown whether the service has such a row.
  case rowOrFailure(OfflineODataErrorName)
  case failure(OfflineODataErrorName)

  /// What the copy has of a property, a link or an entity set, for the rows that a read is about.
  enum Content: CaseIterable, Sendable {
    /// A defining query has downloaded it, or has shown that there is none.
    case downloaded
    /// It belongs to an entity that was created in the store and has not been downloaded since.
    case madeHere
    /// A property that the `$select` of the defining queries leaves out.
    case leftOut
    /// A link that no `$expand` has brought and that no referential constraint defines.
    case linkNotDownloaded
    /// An entity set or singleton of which no defining query brings rows.
    case notCovered
    /// Rows of a defining query whose first download has not finished.
    case awaited
  }

  /// How a read uses the property, link or entity set.
  enum Use: CaseIterable, Sendable {
    /// The response shows it among other members.
    case show
    /// `$filter`, `$orderby`, `$compute`, `$apply`, `$search`, a lambda or a path that ends with it uses its value.
    case compute
    /// A path, `$expand`, `$count` or an expression follows the link.
    case follow
    /// The read uses all rows of the set: the path ends with it, or an expression begins with it.
    case list
    /// The read uses one entity by its key, in the set or behind the link.
    case find
    /// The read uses the rows of the set that were created in the store.
    case listLocal
  }

  init(_ use: Use, of content: Content) {
    switch (content, use) {
    case (.downloaded, _), (.madeHere, _), (_, .listLocal): self = .answer
    case (_, .show): self = .absent
    case (.leftOut, .list), (.leftOut, .find), (.linkNotDownloaded, .list): self = .answer
    case (.linkNotDownloaded, .find), (.notCovered, .find): self = .rowOrFailure(.notDownloaded)
    case (.leftOut, _), (.linkNotDownloaded, _), (.notCovered, _): self = .failure(.notDownloaded)
    case (.awaited, .find): self = .rowOrFailure(.neverDownloaded)
    case (.awaited, _): self = .failure(.neverDownloaded)
    }
  }

  /// The name of the error if there is no row; nil if the read never fails.
  var failure: OfflineODataErrorName? {
    switch self {
    case .answer, .absent: nil
    case .rowOrFailure(let name), .failure(let name): name
    }
  }
}
