/// Changes that an observer has not taken yet: the newest of each key, in the order in which the keys first changed.
struct ChangeBuffer: Sendable {
  private let limit: Int
  private var order: [ObjectKey] = []
  private var taken = 0
  private var changes: [ObjectKey: ObjectChange] = [:]
  private var hasMissed = false

  init(limit: Int) { self.limit = limit }

  /// For tests: how many keys are kept, taken or not.
  var keptCount: Int { order.count }

  /// Notes a change; past the limit all that is noted becomes one ``ObjectChange/missed``.
  mutating func add(_ told: RecordedChange) {
    // Who is to read everything anew need not be told of single keys before that.
    guard !hasMissed else { return }
    guard let key = told.key else {
      miss()
      return
    }
    if changes.updateValue(told.change, forKey: key) == nil { order.append(key) }
    if changes.count > limit { miss() }
  }

  private mutating func miss() {
    (order, taken, changes, hasMissed) = ([], 0, [:], true)
  }

  /// Takes the next change out.
  mutating func next() -> ObjectChange? {
    if hasMissed {
      hasMissed = false
      return .missed
    }
    guard taken < order.count else { return nil }
    let change = changes.removeValue(forKey: order[taken])
    taken += 1
    // Also for an observer that is always a little behind, what was taken goes.
    if taken >= max(16, order.count / 2) || taken == order.count {
      order.removeFirst(taken)
      taken = 0
    }
    return change
  }
}
