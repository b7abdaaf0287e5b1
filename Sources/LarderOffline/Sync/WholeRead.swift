/// The state of a whole read that is in progress.
struct WholeRead: Codable, Sendable, Hashable {
  /// The current request, or the next one.
  var request: PageRequest
  /// The first request as intended, before the service rejected any of its options.
  var first: PageRequest
  /// The number of the combination of options in the first request.
  var trial = 0
  /// The status with which the current request was rejected for the first time; nil if it was not.
  var firstRejection: Int?
  /// The status of the last rejection.
  var rejection: Int?
  /// The status with which the service rejected the current link together with preferences.
  var linkRejection: Int?
  var pages = 0
  var rows: Int64 = 0
  /// The number of distinct rows; nil if it is not known.
  var distinct: Int64?
  /// The total number of rows, according to the last page that had a count.
  var count: Int64?
  /// The ETag and the date of the first page.
  var etag: String?
  var lastModified: String?
  /// The state of the pages that the client selects, if it does so.
  var windows: Windows?
  /// How often the transfer of the current page was interrupted.
  var failures = 0
  /// When the read began, in seconds since 1970.
  var began: Double?
  /// Whether entities were left out, because their keys are unknown.
  var leavesOutRows: Bool?
  var seen = SeenLinks()
  /// The number of links that referential constraints contradict; nil for none.
  var contradictedLinks: [String: Int64]?
  /// What the rows show of the links that the query requests; nil for nothing.
  var links: [String: LinkFacts]?
  /// The number of rows of the query's own table, and the page, when it last grew.
  var growth = Growth()

  struct Growth: Codable, Sendable, Hashable {
    var rows: Int64 = 0
    var pages = 0
  }

  /// The state of pages that the client selects with `$top` and `$skip`.
  struct Windows: Codable, Sendable, Hashable {
    /// The number of rows in a page.
    var size: Int
    /// The number of rows that were requested and received: the next page begins there.
    var position: Int64 = 0
    /// The largest number of rows in a page: services may also truncate pages silently.
    var largest: Int64 = 0
    /// The number of rows received in the current window. The service may have divided it into several pages.
    var came: Int64 = 0
    /// The number of rows that were staged before the current window.
    var before: Int64?
  }

  init(_ request: PageRequest) {
    self.request = request
    first = request
  }
}

extension WholeRead.Windows {
  /// The window after the received rows. It repeats the last of them.
  var next: PageRequest.Window {
    PageRequest.Window(top: size, skip: size > 1 ? max(position - 1, 0) : position)
  }
}
