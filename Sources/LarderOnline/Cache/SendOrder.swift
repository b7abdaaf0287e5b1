/// The order in which requests were sent, as far as it still matters: a late response never replaces a newer one.
///
/// What a request has changed is remembered while requests are under way that were sent before it, and no longer.
struct SendOrder: Sendable {
  private struct Resource: Hashable {
    let url: String
    let scope: [UInt8]
  }

  /// The latest changes of one resource, each as the number of its request.
  private struct Latest {
    var last = 0
    /// The removal of all representations.
    var removal = 0
    /// What was stored or confirmed, by the representation.
    var changes: [[UInt8]: Int] = [:]
  }

  private var last = 0
  private var underWay: Set<Int> = []
  private var latest: [Resource: Latest] = [:]

  /// The number of a request that is sent now.
  mutating func begin() -> Int {
    last += 1
    underWay.insert(last)
    return last
  }

  /// A request has been answered, and what it changes is written.
  mutating func end(_ number: Int) {
    let wasFirst = underWay.min() == number
    underWay.remove(number)
    guard wasFirst else { return }
    let first = underWay.min() ?? .max
    latest = latest.filter { $0.value.last > first }
  }

  /// False where a request that was sent later has changed the same already.
  func allows(_ change: CacheChange, sentAs number: Int) -> Bool {
    guard let latest = latest[Resource(url: change.key.url, scope: change.key.scope)] else { return true }
    switch change {
    case .store(let key, _), .refresh(let key, _):
      return number >= max(latest.removal, latest.changes[key.variant] ?? 0)
    case .remove: return number >= latest.last
    }
  }

  /// A change has been written.
  mutating func note(_ change: CacheChange, sentAs number: Int) {
    guard underWay.contains(where: { $0 < number }) else { return }
    let resource = Resource(url: change.key.url, scope: change.key.scope)
    var changed = latest[resource] ?? Latest()
    changed.last = max(changed.last, number)
    switch change {
    case .store(let key, _), .refresh(let key, _): changed.changes[key.variant] = number
    case .remove: changed.removal = number
    }
    latest[resource] = changed
  }

  /// For tests: how many resources are remembered.
  var count: Int { latest.count }
}
