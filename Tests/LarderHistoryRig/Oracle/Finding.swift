/// Something that must not be.
package struct Finding: Sendable, Hashable, CustomStringConvertible {
  package enum Rule: String, Sendable, CaseIterable {
    /// A change took effect more than once.
    case twice
    /// A change left the queue, and nothing of it is at the service.
    case lost
    /// A change is no longer in the queue, and nobody took it out.
    case vanished
    /// A change was rejected, and took effect.
    case rejectedThoughDone
    /// A change went to the archive as one of unknown outcome, and the service shows, or said, that it is done.
    case unclearThoughShown
    /// A change overwrote what another client wrote and the store had never seen.
    case overwritten
    /// A store changed something that nobody asked for.
    case unasked
    /// Changes of one entity took effect in another order than they were made.
    case order
    /// A change was reported as taken back and took effect.
    case undoneThoughDone
    /// One change of a transaction went another way than the others.
    case torn
    /// Changes stay in the queue though the service does all that it is asked.
    case stuck
    /// Rows that no defining query returns.
    case leftOver
    /// Rows of the defining queries that are missing.
    case missing
    /// A row has other values than the service.
    case different
    /// Entities of a deep insert that are not there after the upload.
    case childrenGone
    /// Values of a creation that never came to the service.
    case valuesLost
    /// The service asks for a condition that the store knows and does not send.
    case conditionMissing
    /// An operation failed that should not.
    case failed
  }

  package let rule: Rule
  /// The fault of issue 19 that this shows; nil for one that is not in its list.
  package let item: Int?
  package let text: String

  package init(_ rule: Rule, item: Int?, _ text: String) { (self.rule, self.item, self.text) = (rule, item, text) }

  /// What findings of one fault have in common.
  package var name: String { item.map { "item \($0)" } ?? rule.rawValue }

  package var description: String { "\(rule.rawValue)\(item.map { " (item \($0))" } ?? ""): \(text)" }
}
