/// A resource that a request claims until it is done: alone, or with others that share it.
package struct RequestClaim: Sendable, Hashable {
  /// The resource, by any name that is the same for all who claim it.
  package let resource: String
  /// Whether others that share it may go at the same time.
  package let isShared: Bool

  /// Nobody else goes meanwhile.
  package static func alone(_ resource: String) -> RequestClaim { RequestClaim(resource: resource, isShared: false) }

  /// Only those that claim it alone wait.
  package static func shared(_ resource: String) -> RequestClaim { RequestClaim(resource: resource, isShared: true) }
}

/// Which requests go, and which wait for earlier ones, as a pure state machine.
///
/// A request enters with its claims, all at once, so that no two wait for each other.
///
/// | state | leaves by |
/// | --- | --- |
/// | waits | `leave` (given up), or the leaving of the earlier requests that it waits for, to `goes` |
/// | goes | `leave` (done) |
///
/// Nothing is kept of a request that has left, nor of a resource that nobody claims.
struct RequestOrder: Sendable {
  /// A request, by the order of entering.
  typealias Ticket = UInt64

  private struct Entry {
    let claims: [RequestClaim]
    /// The claims that earlier requests hold back.
    var missing: Int
  }

  private var last: Ticket = 0
  private var entries: [Ticket: Entry] = [:]
  private var lines: [String: Line] = [:]

  /// Whether nobody goes or waits.
  var isEmpty: Bool { entries.isEmpty && lines.isEmpty }

  /// Whether a request has entered and not left.
  func contains(_ ticket: Ticket) -> Bool { entries[ticket] != nil }

  /// Whether a request goes.
  func goes(_ ticket: Ticket) -> Bool { entries[ticket]?.missing == 0 }

  /// Takes a request in, behind all that have entered.
  mutating func enter(_ claims: [RequestClaim]) -> Ticket {
    last += 1
    let claims = Self.united(claims)
    var missing = 0
    for claim in claims where !lines[claim.resource, default: Line()].enter(last, isShared: claim.isShared) {
      missing += 1
    }
    entries[last] = Entry(claims: claims, missing: missing)
    return last
  }

  /// Lets a request out, whether it went or waited; gives those that go now. One that has left already does nothing.
  mutating func leave(_ ticket: Ticket) -> [Ticket] {
    guard let entry = entries.removeValue(forKey: ticket) else { return [] }
    var going: [Ticket] = []
    for claim in entry.claims {
      for next in lines[claim.resource]?.leave(ticket) ?? [] {
        entries[next]?.missing -= 1
        if goes(next) { going.append(next) }
      }
      if lines[claim.resource]?.isEmpty == true { lines[claim.resource] = nil }
    }
    return going
  }

  /// One claim a resource: alone where one of them is.
  private static func united(_ claims: [RequestClaim]) -> [RequestClaim] {
    guard claims.count > 1 else { return claims }
    let shared = Dictionary(claims.map { ($0.resource, $0.isShared) }, uniquingKeysWith: { $0 && $1 })
    return shared.map { RequestClaim(resource: $0, isShared: $1) }
  }

  /// Those that claim one resource: first come, first served, so that nobody waits for ever.
  private struct Line: Sendable {
    private var holders = 0
    private var isHeldAlone = false
    private var waiting: [(ticket: Ticket, isShared: Bool)] = []
    /// Where the waiting begin; what stands before has gone.
    private var head = 0

    var isEmpty: Bool { holders == 0 && head == waiting.count }

    /// Whether the claim is granted at once.
    mutating func enter(_ ticket: Ticket, isShared: Bool) -> Bool {
      guard head == waiting.count, isFree(isShared) else {
        waiting.append((ticket, isShared))
        return false
      }
      hold(isShared)
      return true
    }

    /// Gives those whose claim is granted now.
    mutating func leave(_ ticket: Ticket) -> [Ticket] {
      if let place = place(of: ticket) { waiting.remove(at: place) } else { holders -= 1 }
      var granted: [Ticket] = []
      while head < waiting.count, isFree(waiting[head].isShared) {
        hold(waiting[head].isShared)
        granted.append(waiting[head].ticket)
        head += 1
      }
      if head > 32, head > waiting.count / 2 {
        waiting.removeFirst(head)
        head = 0
      }
      return granted
    }

    private func isFree(_ isShared: Bool) -> Bool { holders == 0 || isShared && !isHeldAlone }

    private mutating func hold(_ isShared: Bool) {
      holders += 1
      isHeldAlone = !isShared
    }

    /// Tickets ascend.
    private func place(of ticket: Ticket) -> Int? {
      var (low, high) = (head, waiting.count)
      while low < high {
        let middle = (low + high) / 2
        if waiting[middle].ticket < ticket { low = middle + 1 } else { high = middle }
      }
      return low < waiting.count && waiting[low].ticket == ticket ? low : nil
    }
  }
}
