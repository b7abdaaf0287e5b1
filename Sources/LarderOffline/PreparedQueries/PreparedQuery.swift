import LarderOData
import Synchronization

/// A question that is bound and planned.
struct PreparedQuery: Sendable {
  let url: ODataBoundURL
  var plan: ReadPlan
  let model: EdmModel
  /// What it reads beside the tables of its statements, as numbers of the log of changes.
  var alsoReads: Set<Int> = []
  /// How long its answers took.
  var pace = QueryPacing()
  /// What its answers have in common.
  let heads = ResultHeads()
}

/// How a question is asked beside its text.
struct AskedForm: Sendable {
  /// Whether the answer can tell that there is a next page.
  var isPaged = true
  var showsMarks = false
  /// Whether sets are only those of their rows that were created here.
  var localRowsOnly = false
}

/// Questions that were asked before, of one state of the tables' names.
struct PreparedQueries: Sendable {
  private var version: Int64 = -1
  private var questions: [String: PreparedQuery] = [:]
  private static let limit = 128

  func question(_ text: String, _ version: Int64) -> PreparedQuery? {
    version == self.version ? questions[text] : nil
  }

  /// How long a question takes, whatever the tables are called now; nil where that is not known.
  func pace(_ text: String) -> QueryPacing? { questions[text]?.pace }

  /// Keeps a question.
  mutating func keep(_ question: PreparedQuery, _ text: String, _ version: Int64) {
    if version != self.version || questions.count >= Self.limit {
      guard version >= self.version else { return }
      questions = [:]
      self.version = version
    }
    if text.utf8.count > 4096 { return }
    questions[text] = question
  }
}

/// How long answers to a question took of late: short ones are made on the thread that asks.
final class QueryPacing: Sendable {
  /// The mean, in which the newest counts half.
  private let microseconds = Atomic<Int64>(-1)

  /// What an answer may take to be made on the thread that asks.
  private static let short: Int64 = 1000
  /// After so long it is given up there.
  static let limit = Duration.milliseconds(2)

  /// Whether the next one will be short; nil before the first.
  var isShort: Bool? {
    let known = microseconds.load(ordering: .relaxed)
    return known < 0 ? nil : known <= Self.short
  }

  /// Notes what an answer took. Two at once may take each other's note away: the next one makes up for it.
  func note(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let last = min(max(0, seconds), 1000) &* 1_000_000 &+ attoseconds / 1_000_000_000_000
    let known = microseconds.load(ordering: .relaxed)
    microseconds.store(known < 0 ? last : (known &+ last) / 2, ordering: .relaxed)
  }
}
