/// The labels of a value, each once, in the order of their bytes.
struct LabelSet: Sendable, Hashable {
  /// The largest number of labels of one value.
  static let limit = 256

  let labels: [ObjectKey]
  /// True if the file's column is not what was written.
  private(set) var isDamaged = false

  static let none = LabelSet(labels: [])

  private init(labels: [ObjectKey]) { self.labels = labels }

  /// Throws `invalidLabel` if a label is empty or longer than ``ObjectStore/keyByteLimit``, and `tooManyLabels` if
  /// there are too many.
  init(
    _ labels: some Collection<String>, key: ObjectKey, for operation: ObjectStoreError.Operation
  ) throws(ObjectStoreError) {
    guard !labels.isEmpty else {
      self = .none
      return
    }
    var keys: Set<ObjectKey> = []
    for label in labels {
      let count = label.utf8.count
      guard count > 0, count <= ObjectKey.byteLimit else {
        throw ObjectStoreError(operation, key: key.text, .invalidLabel(String(label.prefix(64))))
      }
      keys.insert(ObjectKey(stored: label))
    }
    guard keys.count <= LabelSet.limit else {
      throw ObjectStoreError(operation, key: key.text, .tooManyLabels(keys.count))
    }
    self.labels = keys.sorted()
  }

  /// The bytes of the column: for each label the length of its UTF-8 in two bytes (big-endian), then the UTF-8. Nil for
  /// no labels.
  var bytes: [UInt8]? {
    guard !labels.isEmpty else { return nil }
    var bytes: [UInt8] = []
    for label in labels {
      let text = label.text.utf8
      bytes.append(UInt8(truncatingIfNeeded: text.count >> 8))
      bytes.append(UInt8(truncatingIfNeeded: text.count))
      bytes += text
    }
    return bytes
  }

  /// Reads the column. Labels that damage has truncated are omitted.
  init(stored bytes: [UInt8]?) {
    var labels: [ObjectKey] = []
    var remaining = (bytes ?? [])[...]
    while let high = remaining.popFirst(), let low = remaining.popFirst() {
      let count = Int(high) << 8 | Int(low)
      guard remaining.count >= count, let label = String(validating: remaining.prefix(count), as: UTF8.self) else {
        isDamaged = true
        break
      }
      labels.append(ObjectKey(stored: label))
      remaining = remaining.dropFirst(count)
    }
    self.labels = labels
  }

  var texts: [String] { labels.map(\.text) }
}
