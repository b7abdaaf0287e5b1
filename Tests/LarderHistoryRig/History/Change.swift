/// A change that a store has acknowledged, and what has become of it so far.
package struct Change: Sendable {
  package enum Operation: String, Sendable {
    case create, createDeep, update, delete, link, unlink, media, createMedia, action
  }

  package enum Target: Sendable, Hashable {
    case there(ModelService.Name)
    /// What another change makes, by its number.
    case created(Int)
  }

  package enum Outcome: Sendable, Hashable {
    case pending
    case archived(reason: String, status: Int?, isHeld: Bool)
    /// It left the queue by an upload.
    case sent
    case undone
    /// A person took it back from the archive.
    case discarded
    /// It left the queue and the archive, and no one requested that.
    case vanished(String)
  }

  package let number: Int
  package let store: String
  package let operation: Operation
  package var set: String
  package var target: Target?
  /// The entity that it refers to: a store keeps that for as long as the change waits.
  package var reference: Target?
  /// The first change of the same transaction.
  package var transaction: Int?
  /// What the store had, when the change was made, where the change writes.
  package var seen: [String: String] = [:]
  /// The entities that the client itself gives a key.
  package var keys: [ModelService.Name] = []
  /// The texts that no other change sends, but for one that is its twin.
  package var texts: [String] = []
  /// Those of them that entities created together with the first have.
  package var childTexts: Set<String> = []
  /// Another creation that has sent the same values: which of the entities is whose does not matter.
  package var twin: Int?
  /// Whether an update sets nothing but a link.
  package var isOfLinkAlone = false
  package var outcome = Outcome.pending
  /// The conflict policies of the uploads while it was pending.
  package var policies: Set<String> = []
  /// The faults that touched requests with it.
  package var faults: [Fault] = []
  /// The change of the archive that is sent as this one, which mends it.
  package var mends: Int?
  /// Whether a person has sent it again from the archive.
  package var isRetried = false

  package var isLink: Bool { operation == .link || operation == .unlink }

  /// Whether it is in the queue or in the archive, as far as one has looked.
  var isWaiting: Bool {
    switch outcome {
    case .pending, .archived: true
    default: false
    }
  }

  /// Whether a change that was in the archive is sent as another one, which mends it.
  ///
  /// - Parameter isSameEntity: both change one entity that the service has.
  func isMended(by other: Change, isSameEntity: Bool) -> Bool {
    guard case .archived = outcome, other.store == store, other.number > number, other.target != nil else {
      return false
    }
    return isSameEntity || other.target == target || other.target == .created(number)
  }

  package var mark: String { "m\(number)" }
}
