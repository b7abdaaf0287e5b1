@_spi(Stores) import LarderCore
import LarderOData

/// What all results of a query in one form have in common, independent of the rows.
final class ResultHead: Sendable {
  let form: ResultForm
  /// The context URL as the first member; empty if the form has none.
  let context: [UInt8]
  /// How rows are written; nil for counts, raw values and media.
  let object: ResultObject?

  init(_ run: ResultRun) {
    form = run.form
    context = run.writtenContext
    switch run.plan.content {
    case .objects(let shape), .references(let shape): object = run.prepared(shape)
    case .value, .count, .media: object = nil
    }
  }
}

/// Caches the head of a query's last form: a repeated query mostly has the same form.
final class ResultHeads: Sendable {
  private let cached = Locked<ResultHead?>(nil)

  func head(_ run: ResultRun) -> ResultHead {
    if let head = cached.withLock({ $0 }), head.form == run.form { return head }
    let head = ResultHead(run)
    cached.withLock { $0 = head }
    return head
  }
}
