import LarderOData
import Synchronization

/// A query that is bound and planned.
struct PreparedQuery: Sendable {
  let url: ODataBoundURL
  var plan: ReadPlan
  let model: EdmModel
  /// What the query reads besides the tables of its statements, as numbers in the change log.
  var alsoReads: Set<Int> = []
  /// The measured duration of its executions.
  var pace = QueryPacing()
  /// Parts that all its results have in common.
  let heads = ResultHeads()
}

/// Options of a query besides its text.
struct QueryVariant: Sendable {
  /// Whether the result can state that there is a next page.
  var isPaged = true
  var showsMarks = false
  /// Whether entity sets contain only rows that were created here.
  var localRowsOnly = false
}

/// A cache of prepared queries, valid for one version of the tables' names.
struct PreparedQueries: Sendable {
  private var version: Int64 = -1
  private var queries: [String: PreparedQuery] = [:]
  private static let limit = 128

  func query(_ text: String, _ version: Int64) -> PreparedQuery? {
    version == self.version ? queries[text] : nil
  }

  /// The measured duration of a query, whatever the version of the tables' names; nil if it is not known.
  func pace(_ text: String) -> QueryPacing? { queries[text]?.pace }

  /// Stores a prepared query in the cache.
  mutating func keep(_ query: PreparedQuery, _ text: String, _ version: Int64) {
    if version != self.version || queries.count >= Self.limit {
      guard version >= self.version else { return }
      queries = [:]
      self.version = version
    }
    if text.utf8.count > 4096 { return }
    queries[text] = query
  }
}

/// The recent duration of a query. Short queries run on the caller's thread.
final class QueryPacing: Sendable {
  /// The mean duration in microseconds, in which the newest value counts half; -1 before the first.
  private let microseconds = Atomic<Int64>(-1)

  /// The duration, in microseconds, up to which a query runs on the caller's thread.
  private static let short: Int64 = 1000
  /// The time after which a query on the caller's thread is aborted.
  static let limit = Duration.milliseconds(2)

  /// Whether the next execution is expected to be short; nil before the first.
  var isShort: Bool? {
    let mean = microseconds.load(ordering: .relaxed)
    return mean < 0 ? nil : mean <= Self.short
  }

  /// Records a duration. Of two concurrent calls one may be lost, which the next call corrects.
  func note(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let last = min(max(0, seconds), 1000) &* 1_000_000 &+ attoseconds / 1_000_000_000_000
    let mean = microseconds.load(ordering: .relaxed)
    microseconds.store(mean < 0 ? last : (mean &+ last) / 2, ordering: .relaxed)
  }
}
