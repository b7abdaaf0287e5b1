/// The pending changes of one observer: the newest change of each key, in the order in which the keys first changed.
struct ChangeBuffer: Sendable {
  private let limit: Int
  private var order: [ObjectKey] = []
  private var takenCount = 0
  private var changes: [ObjectKey: ObjectChange] = [:]
  private var hasMissed = false

  init(limit: Int) { self.limit = limit }

  /// For tests: how many keys the buffer contains, including keys that were already taken.
  var keyCount: Int { order.count }

  /// Adds a change. Past the limit, a single ``ObjectChange/missed`` replaces all buffered changes.
  mutating func add(_ recorded: RecordedChange) {
    // An observer that must read everything again does not need single keys before that.
    guard !hasMissed else { return }
    guard let key = recorded.key else {
      replaceByMissed()
      return
    }
    if changes.updateValue(recorded.change, forKey: key) == nil { order.append(key) }
    if changes.count > limit { replaceByMissed() }
  }

  private mutating func replaceByMissed() {
    (order, takenCount, changes, hasMissed) = ([], 0, [:], true)
  }

  /// Removes the next change and returns it.
  mutating func next() -> ObjectChange? {
    if hasMissed {
      hasMissed = false
      return .missed
    }
    guard takenCount < order.count else { return nil }
    let change = changes.removeValue(forKey: order[takenCount])
    takenCount += 1
    // Taken keys are removed here too, for an observer that never catches up completely.
    if takenCount >= max(16, order.count / 2) || takenCount == order.count {
      order.removeFirst(takenCount)
      takenCount = 0
    }
    return change
  }
}
