import LarderHTTP
import LarderOData

/// A page that is being received from the service.
struct ArrivingPage: Sendable {
  let body: HTTPBodyStream
  let form: PageForm
  /// The position at which the download continues after the page.
  let position: @Sendable (PageEnd) -> String?
  /// Receives the numbers of bytes and rows of the page that have arrived.
  let progress: @Sendable (_ bytes: Int64, _ rows: Int64) -> Void
  /// Whether the page's rows must be written and counted before the call ends, even if another page follows.
  var isCounted = false
}

/// Durable storage for the pages of a download before readers see them.
protocol DownloadStaging: Sendable {
  /// The number of rows of the query's own table that were staged before this run.
  var earlierRows: Int64 { get }
  /// Reads a page to its end and stages its rows. Returns the page's facts and its number of bytes. If another page
  /// follows, rows may be written after the call returns; a later call then throws the error.
  func page(_ page: ArrivingPage) async throws -> (PageEnd, Int64)
  /// Waits until all writes have finished, so that the application may be suspended.
  func settle() async
  /// The next link to a part of an inline collection that must be read before the end; nil for none.
  func nextInlinePage() async throws -> InlinePage?
  /// Makes the links of a navigation property that rows lack pages that must be read before the end. Returns their
  /// number; nil, and changes nothing, if there are more than `limit`.
  func follow(_ table: EntityTable, _ navigation: ReplicaNavigation, limit: Int) async throws -> Int?
  /// Ends an inline page that has no content.
  func end(_ inline: InlinePage) async throws
  /// Reads a part of an inline collection. Returns its facts and its number of bytes.
  func inlinePage(_ inline: InlinePage, _ page: ArrivingPage) async throws -> (PageEnd, Int64)
  /// Makes the staged rows visible to readers, and stores what the next download begins with.
  func finish(
    _ ending: DownloadMachine.Ending, at time: Double, marks: DownloadMarks
  ) async throws -> DownloadOutcome
  /// Discards what is staged.
  func discard() async throws
}
