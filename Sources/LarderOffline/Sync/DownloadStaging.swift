import LarderHTTP
import LarderOData

/// A page that comes from the service.
struct ArrivingPage: Sendable {
  let body: HTTPBodyStream
  let form: PageForm
  /// Where the download goes on behind the page.
  let position: @Sendable (PageFacts) -> String?
  /// Bytes and rows that have come of the page.
  let progress: @Sendable (_ bytes: Int64, _ rows: Int64) -> Void
  /// Whether its rows are to be written and counted before the call ends, though another page follows.
  var isCounted = false
}

/// Where the pages of a download are gathered, durably, before readers see them.
protocol DownloadStaging: Sendable {
  var kind: DownloadMachine.Staging { get }
  /// Rows of the query's own table that were staged before this run.
  var earlierRows: Int64 { get }
  /// Reads a page to its end and stages its rows; answers what it told, and its bytes. Where another page follows, rows may
  /// be written behind the call: what fails then is thrown by a later one.
  func page(_ page: ArrivingPage) async throws -> (PageFacts, Int64)
  /// Waits until nothing is written any more: the application may be suspended then.
  func settle() async
  /// The next link to a part of a collection in line that has to be read before the end; nil for none.
  func nextInlinePage() async throws -> InlinePage?
  /// Reads such a part; answers what is new in it, and its bytes.
  func inlinePage(_ inline: InlinePage, _ page: ArrivingPage) async throws -> (new: Int64, bytes: Int64)
  /// Makes the staged rows those that readers see, with what the next download begins with.
  func finish(
    _ ending: DownloadMachine.Ending, at time: Double, marks: DownloadMarks
  ) async throws -> StagedOutcome
  /// Throws it away.
  func discard() async throws
}
