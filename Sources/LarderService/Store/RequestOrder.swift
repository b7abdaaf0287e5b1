/// A resource that a request claims until it is done, exclusively or shared with other requests.
package struct RequestClaim: Sendable, Hashable {
  /// The resource, by any name that is equal for all claims of it.
  package let resource: String
  /// Whether other requests with a shared claim may run at the same time.
  package let isShared: Bool

  /// Creates an exclusive claim: no other request with a claim runs meanwhile.
  package static func alone(_ resource: String) -> RequestClaim { RequestClaim(resource: resource, isShared: false) }

  /// Creates a shared claim: only requests with exclusive claims wait.
  package static func shared(_ resource: String) -> RequestClaim { RequestClaim(resource: resource, isShared: true) }
}

/// Decides which requests run and which wait for earlier ones, as a pure state machine.
///
/// A request enters with all its claims at once, so that two requests never wait for each other.
///
/// | state | leaves by |
/// | --- | --- |
/// | waiting | `leave` (cancelled), or `leave` of the earlier requests that it waits for, to runnable |
/// | runnable | `leave` (done) |
///
/// Nothing is kept for a request that has left, nor for a resource without claims.
struct RequestOrder: Sendable {
  /// Identifies a request, in the order of entering.
  typealias Ticket = UInt64

  private struct Entry {
    let claims: [RequestClaim]
    /// The number of claims that earlier requests block.
    var blockedClaims: Int
  }

  private var last: Ticket = 0
  private var entries: [Ticket: Entry] = [:]
  private var queues: [String: ClaimQueue] = [:]

  /// Whether no request runs or waits.
  var isEmpty: Bool { entries.isEmpty && queues.isEmpty }

  /// Whether a request has entered and not left.
  func contains(_ ticket: Ticket) -> Bool { entries[ticket] != nil }

  /// Whether a request may run.
  func canRun(_ ticket: Ticket) -> Bool { entries[ticket]?.blockedClaims == 0 }

  /// Adds a request behind all that have entered.
  mutating func enter(_ claims: [RequestClaim]) -> Ticket {
    last += 1
    let claims = Self.combined(claims)
    var blockedClaims = 0
    for claim in claims where !queues[claim.resource, default: ClaimQueue()].enter(last, isShared: claim.isShared) {
      blockedClaims += 1
    }
    entries[last] = Entry(claims: claims, blockedClaims: blockedClaims)
    return last
  }

  /// Removes a request, whether it ran or waited, and returns the requests that may run now. Does nothing for a request
  /// that has already left.
  mutating func leave(_ ticket: Ticket) -> [Ticket] {
    guard let entry = entries.removeValue(forKey: ticket) else { return [] }
    var runnable: [Ticket] = []
    for claim in entry.claims {
      for next in queues[claim.resource]?.leave(ticket) ?? [] {
        entries[next]?.blockedClaims -= 1
        if canRun(next) { runnable.append(next) }
      }
      if queues[claim.resource]?.isEmpty == true { queues[claim.resource] = nil }
    }
    return runnable
  }

  /// Combines claims to one for each resource, exclusive if one of them is.
  private static func combined(_ claims: [RequestClaim]) -> [RequestClaim] {
    guard claims.count > 1 else { return claims }
    let shared = Dictionary(claims.map { ($0.resource, $0.isShared) }, uniquingKeysWith: { $0 && $1 })
    return shared.map { RequestClaim(resource: $0, isShared: $1) }
  }

  /// The claims of one resource in order of arrival, so that no request waits for ever.
  private struct ClaimQueue: Sendable {
    private var holders = 0
    private var isHeldExclusively = false
    private var waiting: [(ticket: Ticket, isShared: Bool)] = []
    /// The index of the first waiting claim; those before it were granted.
    private var head = 0

    var isEmpty: Bool { holders == 0 && head == waiting.count }

    /// Adds a claim; returns whether it is granted at once.
    mutating func enter(_ ticket: Ticket, isShared: Bool) -> Bool {
      guard head == waiting.count, isFree(isShared) else {
        waiting.append((ticket, isShared))
        return false
      }
      grant(isShared)
      return true
    }

    /// Removes a claim; returns the requests whose claims are granted now.
    mutating func leave(_ ticket: Ticket) -> [Ticket] {
      if let index = index(of: ticket) { waiting.remove(at: index) } else { holders -= 1 }
      var granted: [Ticket] = []
      while head < waiting.count, isFree(waiting[head].isShared) {
        grant(waiting[head].isShared)
        granted.append(waiting[head].ticket)
        head += 1
      }
      if head > 32, head > waiting.count / 2 {
        waiting.removeFirst(head)
        head = 0
      }
      return granted
    }

    private func isFree(_ isShared: Bool) -> Bool { holders == 0 || isShared && !isHeldExclusively }

    private mutating func grant(_ isShared: Bool) {
      holders += 1
      isHeldExclusively = !isShared
    }

    /// The index of a ticket, by binary search: tickets ascend.
    private func index(of ticket: Ticket) -> Int? {
      var (low, high) = (head, waiting.count)
      while low < high {
        let middle = (low + high) / 2
        if waiting[middle].ticket < ticket { low = middle + 1 } else { high = middle }
      }
      return low < waiting.count && waiting[low].ticket == ticket ? low : nil
    }
  }
}
