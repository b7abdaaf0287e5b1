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
