/// A change of a value in an ``ObjectStore``, as reported to an observer.
public enum ObjectChange: Sendable, Hashable {
  /// A value was put under the key. Read it to get its newest state.
  case put(key: String)
  /// A call removed the value under the key.
  case removed(key: String)
  /// The value under the key had expired and has been removed.
  ///
  /// The value is absent from its expiry date on. The store reports the change when it removes the row, some time
  /// later.
  case expired(key: String)
  /// The store removed the value under the key to keep the file within its limits.
  case evicted(key: String)
  /// Too many changes to report one by one: read again what you show.
  ///
  /// Reported if the observer was more than ``ObjectStore/observedChangeLimit`` keys behind, if more values than that
  /// were removed at once, and if another process has changed the file.
  case missed
}

/// A change as the writer records it, for observers of keys and of labels.
struct RecordedChange: Sendable {
  enum Kind: Sendable {
    case put
    case removed
    case expired
    case evicted
    /// Everything was removed: too many values to report one by one.
    case cleared
    case missed
  }

  static let missed = RecordedChange(kind: .missed, key: nil, labels: [])
  static let cleared = RecordedChange(kind: .cleared, key: nil, labels: [])

  let kind: Kind
  /// The changed key. Nil only for `cleared` and `missed`.
  let key: ObjectKey?
  /// The labels before the change and after it.
  let labels: [ObjectKey]

  /// Whether a call removed one value or all values.
  var isRemoval: Bool { kind == .removed || kind == .cleared }

  var change: ObjectChange {
    guard let key else { return .missed }
    return switch kind {
    case .put: .put(key: key.text)
    case .removed: .removed(key: key.text)
    case .expired: .expired(key: key.text)
    case .evicted: .evicted(key: key.text)
    case .cleared, .missed: .missed
    }
  }
}
