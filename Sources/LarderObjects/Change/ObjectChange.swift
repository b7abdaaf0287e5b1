/// A change of a value in an ``ObjectStore``, as an observer is told it.
public enum ObjectChange: Sendable, Hashable {
  /// A value was put under the key: read it for its newest state.
  case put(key: String)
  /// The value under the key was deleted by a call.
  case deleted(key: String)
  /// The value under the key had expired and has been removed.
  ///
  /// It is absent from the moment of its expiry on; this is told when the store clears it up, some time later.
  case expired(key: String)
  /// The value under the key was removed to keep the file within its limits.
  case evicted(key: String)
  /// More has changed than could be told: read anew what you show.
  ///
  /// Told where the observer was more than ``ObjectStore/observedChangeLimit`` keys behind, where more values than that
  /// were deleted at once, and where another process has changed the file.
  case missed
}

/// A change as the writer notes it, for observers of keys and of labels.
struct RecordedChange: Sendable {
  enum Kind: Sendable {
    case put
    case deleted
    case expired
    case evicted
    /// Everything was deleted, too many to be told one by one.
    case cleared
    case missed
  }

  static let missed = RecordedChange(kind: .missed, key: nil, labels: [])
  static let cleared = RecordedChange(kind: .cleared, key: nil, labels: [])

  let kind: Kind
  /// Nil only for `cleared` and `missed`.
  let key: ObjectKey?
  /// The labels before the change and after it.
  let labels: [ObjectKey]

  /// True for a delete by a call, of one value or of all.
  var isDelete: Bool { kind == .deleted || kind == .cleared }

  var change: ObjectChange {
    guard let key else { return .missed }
    return switch kind {
    case .put: .put(key: key.text)
    case .deleted: .deleted(key: key.text)
    case .expired: .expired(key: key.text)
    case .evicted: .evicted(key: key.text)
    case .cleared, .missed: .missed
    }
  }
}
