/// A whole read on its way.
struct WholeRead: Codable, Sendable, Hashable {
  /// What is asked now, or next.
  var request: PageRequest
  /// The first request as it was meant, before the service refused any of its options.
  var first: PageRequest
  /// Which combination of options the first request is at.
  var trial = 0
  /// The status of the last refusal.
  var refusal: Int?
  /// The status by which the link that is asked now was refused with preferences.
  var linkRefusal: Int?
  var pages = 0
  var rows: Int64 = 0
  /// The same without rows that came twice; nil where that is not known.
  var distinct: Int64?
  /// How many there are, by the last page that said it.
  var count: Int64?
  /// Of the first page.
  var etag: String?
  var lastModified: String?
  /// Pages cut out by the client, where it does that.
  var windows: Windows?
  /// How often the page asked for was cut.
  var failures = 0
  /// When it began, in seconds since 1970.
  var began: Double?
  var seen = SeenLinks()
  /// Links that their referential constraints contradict; nil for none.
  var contradictedLinks: [String: Int64]?
  /// The rows of the query's own table when they were last found to have grown.
  var growth = Growth()

  struct Growth: Codable, Sendable, Hashable {
    var rows: Int64 = 0
    var pages = 0
  }

  /// Pages cut out by the client.
  struct Windows: Codable, Sendable, Hashable {
    /// The rows of a page.
    var size: Int
    /// How many rows have been asked for and came: where the next page begins.
    var position: Int64 = 0
    /// The most rows that a page brought: services also cut silently.
    var largest: Int64 = 0
    /// Rows that came in the current window, and the pages that the service made of it.
    var came: Int64 = 0
    /// Rows that were staged before the current window.
    var before: Int64?
  }

  init(_ request: PageRequest) {
    self.request = request
    first = request
  }
}

extension WholeRead.Windows {
  /// The window behind the rows that came, with the last of them once more.
  var next: PageRequest.Window {
    PageRequest.Window(top: size, skip: size > 1 ? max(position - 1, 0) : position)
  }
}
