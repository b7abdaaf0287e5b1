/// What a read gives of something that is not, or not wholly, in the copy: the one table that all reads go by.
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
/// An answer may be empty: then it is known that there is nothing, as far as the defining queries reach.
enum ReadOutcome: Sendable, Hashable {
  /// What the copy has, were it nothing.
  case answer
  /// The response leaves the member out.
  case absent
  /// The row where there is one, else an error: whether the service has one is not known.
  case rowOrFailure(OfflineODataErrorName)
  case failure(OfflineODataErrorName)

  /// What the copy has of a property, a link or an entity set, for the rows that a read is about.
  enum Content: CaseIterable, Sendable {
    /// A defining query has brought it, or has found that there is none.
    case downloaded
    /// It is of an entity that was created here and has not been downloaded since.
    case madeHere
    /// A property that the `$select` of the defining queries leaves out.
    case leftOut
    /// A link that no `$expand` has brought and no referential constraint gives.
    case linkNotDownloaded
    /// An entity set or singleton that no defining query brings rows of.
    case notCovered
    /// Rows of a defining query whose first download has not ended.
    case awaited
  }

  /// What a read does with it.
  enum Use: CaseIterable, Sendable {
    /// The response shows it among other members.
    case show
    /// `$filter`, `$orderby`, `$compute`, `$apply`, `$search`, a lambda or a path that ends with it takes its value.
    case compute
    /// A path, `$expand`, `$count` or an expression goes over the link.
    case follow
    /// All rows of the set: the path ends with it, or an expression begins with it.
    case list
    /// One entity by its key, in the set or behind the link.
    case find
    /// The rows of the set that were created here.
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

  /// The name of the error where there is no row; nil where there is always an answer.
  var failure: OfflineODataErrorName? {
    switch self {
    case .answer, .absent: nil
    case .rowOrFailure(let name), .failure(let name): name
    }
  }
}
