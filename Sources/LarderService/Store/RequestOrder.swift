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
/// | waits | `leave` (cancelled), or `leave` of the earlier requests that it waits for, to `goes` |
/// | goes | `leave` (done) |
///
/// Nothing is kept for a request that has left, nor for a resource without claims.
struct RequestOrder: Sendable {
  /// Identifies a request, in the order of entering.
  typealias Ticket = UInt64

  private struct Entry {
    let claims: [RequestClaim]
    /// The number of claims that earlier requests block.
    var missing: Int
  }

  private var last: Ticket = 0
  private var entries: [Ticket: Entry] = [:]
  private var lines: [String: Line] = [:]

  /// Whether no request runs or waits.
  var isEmpty: Bool { entries.isEmpty && lines.isEmpty }

  /// Whether a request has entered and not left.
  func contains(_ ticket: Ticket) -> Bool { entries[ticket] != nil }

  /// Whether a request may run.
  func goes(_ ticket: Ticket) -> Bool { entries[ticket]?.missing == 0 }

  /// Adds a request behind all that have entered.
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

  /// Removes a request, whether it ran or waited, and returns the requests that may run now. Does nothing for a request
  /// that has already left.
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

  /// Combines claims to one for each resource, exclusive if one of them is.
  private static func united(_ claims: [RequestClaim]) -> [RequestClaim] {
    guard claims.count > 1 else { return claims }
    let shared = Dictionary(claims.map { ($0.resource, $0.isShared) }, uniquingKeysWith: { $0 && $1 })
    return shared.map { RequestClaim(resource: $0, isShared: $1) }
  }

  /// The claims of one resource in order of arrival, so that no request waits for ever.
  private struct Line: Sendable {
    private var holders = 0
    private var isHeldAlone = false
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
      hold(isShared)
      return true
    }

    /// Removes a claim; returns the requests whose claims are granted now.
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

    /// The index of a ticket, by binary search: tickets ascend.
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
