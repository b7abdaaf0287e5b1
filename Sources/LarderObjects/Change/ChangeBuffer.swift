/// The pending changes of one observer: the newest change of each key, in the order in which the keys first changed.
struct ChangeBuffer: Sendable {
  private let limit: Int
  private var order: [ObjectKey] = []
  private var taken = 0
  private var changes: [ObjectKey: ObjectChange] = [:]
  private var hasMissed = false

  init(limit: Int) { self.limit = limit }

  /// For tests: how many keys the buffer keeps, including keys that were already taken.
  var keptCount: Int { order.count }

  /// Adds a change. Past the limit, a single ``ObjectChange/missed`` replaces all buffered changes.
  mutating func add(_ told: RecordedChange) {
    // An observer that must read everything again does not need single keys before that.
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

  /// Removes the next change and returns it.
  mutating func next() -> ObjectChange? {
    if hasMissed {
      hasMissed = false
      return .missed
    }
    guard taken < order.count else { return nil }
    let change = changes.removeValue(forKey: order[taken])
    taken += 1
    // Taken keys are removed here too, for an observer that never catches up completely.
    if taken >= max(16, order.count / 2) || taken == order.count {
      order.removeFirst(taken)
      taken = 0
    }
    return change
  }
}
