/// A key or a label: a text that is not empty, compared by its UTF-8 bytes.
///
/// `String` treats texts as equal if Unicode calls them canonically equivalent. Here they are different keys, as they
/// are for SQLite.
struct ObjectKey: Hashable, Sendable, Comparable {
  /// The largest size of a key in UTF-8.
  static let byteLimit = 1024

  let text: String

  /// Throws `invalidKey` if the text is empty or longer than ``ObjectStore/keyByteLimit``.
  init(_ text: String, for operation: ObjectStoreError.Operation) throws(ObjectStoreError) {
    let count = text.utf8.count
    guard count > 0, count <= ObjectKey.byteLimit else {
      throw ObjectStoreError(operation, key: count == 0 ? "" : String(text.prefix(64)), .invalidKey(byteCount: count))
    }
    self.init(stored: text)
  }

  /// Creates a key from the text in the store's file.
  init(stored text: String) {
    var text = text
    text.makeContiguousUTF8()
    self.text = text
  }

  static func == (one: ObjectKey, other: ObjectKey) -> Bool {
    // Texts with the same bytes are equal, so the cheap comparison nearly always decides, and its "not equal" is always
    // right.
    one.text.utf8.count == other.text.utf8.count && one.text == other.text && one.hasBytes(of: other)
  }

  private func hasBytes(of other: ObjectKey) -> Bool {
    // The buffers are read inside the calls that provide them.
    let result = unsafe text.utf8.withContiguousStorageIfAvailable { left in
      unsafe other.text.utf8.withContiguousStorageIfAvailable { right in
        unsafe ObjectKey.areEqual(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
      }
    }
    return (result ?? nil) ?? text.utf8.elementsEqual(other.text.utf8)
  }

  /// Compares eight bytes at a time; both buffers have the same length.
  private static func areEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
    guard one.count == other.count else { return false }
    var offset = 0
    // Every load is inside both buffers.
    while offset &+ 8 <= one.count {
      let (left, right) = unsafe (
        one.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
        other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      )
      if left != right { return false }
      offset &+= 8
    }
    while offset < one.count {
      if unsafe one[offset] != other[offset] { return false }
      offset &+= 1
    }
    return true
  }

  func hash(into hasher: inout Hasher) {
    // The buffer is read inside the call that provides it.
    let isDone: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
      unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    }
    if isDone == nil { for byte in text.utf8 { hasher.combine(byte) } }
  }

  static func < (one: ObjectKey, other: ObjectKey) -> Bool { one.text.utf8.lexicographicallyPrecedes(other.text.utf8) }
}

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
