/// The outcome of a read of something that the local copy lacks, or has only in part. All reads follow this one table.
///
/// | the copy has | `show` | `compute` | `follow` | `list` | `find` | `listLocal` |
/// | --- | --- | --- | --- | --- | --- | --- |
/// | `downloaded` | available | available | available | available | available | available |
/// | `createdLocally` | available | available | available | available | available | available |
/// | `leftOut` | absent | `notDownloaded` | `notDownloaded` | available | available | available |
/// | `linkNotDownloaded` | absent | `notDownloaded` | `notDownloaded` | available | the row, else `notDownloaded` | available |
/// | `notCovered` | absent | `notDownloaded` | `notDownloaded` | `notDownloaded` | the row, else `notDownloaded` | available |
/// | `awaited` | absent | `neverDownloaded` | `neverDownloaded` | `neverDownloaded` | the row, else `neverDownloaded` | available |
///
/// The result of an outcome `available` may be empty. Then nothing matches, as far as the defining queries reach.
enum ReadOutcome: Sendable, Hashable {
  /// The read returns what the copy has, even if that is nothing.
  case available
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
    case createdLocally
    /// A property that the `$select` of the defining queries leaves out.
    case leftOut
    /// A link that no `$expand` has returned and that no referential constraint defines.
    case linkNotDownloaded
    /// An entity set or singleton of which no defining query returns rows.
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
    case (.downloaded, _), (.createdLocally, _), (_, .listLocal): self = .available
    case (_, .show): self = .absent
    case (.leftOut, .list), (.leftOut, .find), (.linkNotDownloaded, .list): self = .available
    case (.linkNotDownloaded, .find), (.notCovered, .find): self = .rowOrFailure(.notDownloaded)
    case (.leftOut, _), (.linkNotDownloaded, _), (.notCovered, _): self = .failure(.notDownloaded)
    case (.awaited, .find): self = .rowOrFailure(.neverDownloaded)
    case (.awaited, _): self = .failure(.neverDownloaded)
    }
  }

  /// The name of the error if there is no row; nil if the read never fails.
  var failure: OfflineODataErrorName? {
    switch self {
    case .available, .absent: nil
    case .rowOrFailure(let name), .failure(let name): name
    }
  }
}
