@_spi(Stores) import LarderCore

/// Whether the content of a transfer may replace what is stored: a pure state machine.
///
/// A reader with a parser decides after it has parsed all of the content. One reader that accepts the content is enough,
/// and a reader without a parser accepts any content.
struct Approval {
  enum Verdict {
    case accepted
    case rejected
    /// No parser decided: all of their queries were cancelled.
    case undecided
  }

  private var isAccepted = false
  private var isRejected = false
  /// The readers without a parser that have not received the response.
  private var acceptingMembers: Set<Int> = []
  /// The readers whose parsers have not decided, and whether each has received the response.
  private var undecided: [Int: Bool] = [:]

  /// The verdict; nil while parsers must still decide.
  var verdict: Verdict? {
    if !needsParser { return .accepted }
    guard undecided.isEmpty else { return nil }
    return isRejected ? .rejected : .undecided
  }

  /// True if only parsers can accept the content.
  var needsParser: Bool { !isAccepted && acceptingMembers.isEmpty }

  mutating func join(_ member: Int, parses: Bool) {
    if parses { undecided[member] = false } else { acceptingMembers.insert(member) }
  }

  /// Notes that a reader has received the response: from here on its parser decides.
  mutating func receive(_ member: Int) {
    if undecided[member] != nil { undecided[member] = true }
    if acceptingMembers.contains(member) { isAccepted = true }
  }

  /// Removes a reader that may have left without the response.
  mutating func leave(_ member: Int) {
    acceptingMembers.remove(member)
    if undecided[member] == false { undecided[member] = nil }
  }

  /// Takes the decision of a reader's parser, or nil if there will be none. Only the first one counts.
  mutating func decide(_ member: Int, accepts: Bool?) {
    guard undecided.removeValue(forKey: member) != nil, let accepts else { return }
    if accepts { isAccepted = true } else { isRejected = true }
  }
}

/// The approval of a transfer's content, for the pump, which waits for it, and for the readers, which wait until the
/// content is stored.
final class ContentApproval: Sendable {
  private struct State {
    var approval = Approval()
    var isSettled = false
    var pump: CheckedContinuation<Void, Never>?
    var readers: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  var needsParser: Bool { state.withLock { $0.approval.needsParser } }

  func join(_ member: Int, parses: Bool) { change { $0.join(member, parses: parses) } }
  func leave(_ member: Int) { change { $0.leave(member) } }
  func decide(_ member: Int, accepts: Bool?) { change { $0.decide(member, accepts: accepts) } }

  /// Notes that a reader has received the response, and returns what its parser decides with. A reader without a parser
  /// releases it.
  ///
  /// - Parameter onRejection: called before the parser's rejection counts.
  func receive(_ member: Int, onRejection: @escaping @Sendable () -> Void = {}) -> ParserVerdict {
    change { $0.receive(member) }
    return ParserVerdict(self, member, onRejection: onRejection)
  }

  private func change(_ change: (inout Approval) -> Void) {
    let pump = state.withLock { state -> CheckedContinuation<Void, Never>? in
      change(&state.approval)
      return state.approval.verdict == nil ? nil : state.pump.take()
    }
    pump?.resume()
  }

  /// Waits for the verdict. A cancelled transfer has none.
  func verdict() async -> Approval.Verdict {
    while !Task.isCancelled {
      if let verdict = state.withLock({ $0.approval.verdict }) { return verdict }
      await waitForDecision()
    }
    return .undecided
  }

  private func waitForDecision() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiting in
        let isWaiting = state.withLock { state in
          if state.approval.verdict != nil || Task.isCancelled { return false }
          state.pump = waiting
          return true
        }
        if !isWaiting { waiting.resume() }
      }
    } onCancel: {
      state.withLock { $0.pump.take() }?.resume()
    }
  }

  /// Notes that the content has been stored, or will not be.
  func settle() {
    let readers = state.withLock { state in
      state.isSettled = true
      return exchange(&state.readers, with: [])
    }
    for waiting in readers { waiting.resume() }
  }

  /// Waits until the content has been stored, or will not be.
  func settled() async {
    await withCheckedContinuation { waiting in
      let isWaiting = state.withLock { state in
        if !state.isSettled { state.readers.append(waiting) }
        return !state.isSettled
      }
      if !isWaiting { waiting.resume() }
    }
  }
}

/// What a query's parser says about the content of a response from the network. If it is released before, the parser
/// has said nothing.
final class ParserVerdict: Sendable {
  private let approval: ContentApproval
  private let member: Int
  private let onRejection: @Sendable () -> Void

  init(_ approval: ContentApproval, _ member: Int, onRejection: @escaping @Sendable () -> Void) {
    self.approval = approval
    self.member = member
    self.onRejection = onRejection
  }

  deinit { approval.decide(member, accepts: nil) }

  /// Accepts the content, and waits until it is stored, so that a later query finds it.
  func accept() async {
    approval.decide(member, accepts: true)
    await approval.settled()
  }

  /// Rejects the content.
  func reject() {
    onRejection()
    approval.decide(member, accepts: false)
  }
}
