/// The order in which requests were sent. It ensures that a late response never replaces a newer one.
///
/// The changes of a request are remembered only while requests are running that were sent before it.
struct SendOrder: Sendable {
  private struct Resource: Hashable {
    let url: String
    let scope: [UInt8]
  }

  /// The latest changes of one resource, each as the number of the request that caused it.
  private struct Latest {
    var last = 0
    /// The request that removed all representations.
    var removal = 0
    /// The request that stored or confirmed each representation.
    var changes: [[UInt8]: Int] = [:]
  }

  private var last = 0
  private var running: Set<Int> = []
  private var latest: [Resource: Latest] = [:]

  /// Registers a request that is sent now, and returns its number.
  mutating func begin() -> Int {
    last += 1
    running.insert(last)
    return last
  }

  /// Removes a request whose response has arrived and whose changes are written.
  mutating func end(_ number: Int) {
    let wasFirst = running.min() == number
    running.remove(number)
    guard wasFirst else { return }
    let first = running.min() ?? .max
    latest = latest.filter { $0.value.last > first }
  }

  /// False if a request that was sent later has already changed the same resource.
  func allows(_ change: CacheChange, sentAs number: Int) -> Bool {
    guard let latest = latest[Resource(url: change.key.url, scope: change.key.scope)] else { return true }
    switch change {
    case .store(let key, _), .refresh(let key, _):
      return number >= max(latest.removal, latest.changes[key.variant] ?? 0)
    case .remove: return number >= latest.last
    }
  }

  /// Records a change that has been written.
  mutating func note(_ change: CacheChange, sentAs number: Int) {
    guard running.contains(where: { $0 < number }) else { return }
    let resource = Resource(url: change.key.url, scope: change.key.scope)
    var changed = latest[resource] ?? Latest()
    changed.last = max(changed.last, number)
    switch change {
    case .store(let key, _), .refresh(let key, _): changed.changes[key.variant] = number
    case .remove: changed.removal = number
    }
    latest[resource] = changed
  }

  /// The number of remembered resources, for tests.
  var count: Int { latest.count }
}
