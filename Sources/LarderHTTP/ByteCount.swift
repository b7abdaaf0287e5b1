/// Replaces bytes by their count when a value is printed or dumped: content can be long, and contains personal data.
package struct ByteCount: Sendable, CustomStringConvertible, CustomReflectable {
  private let count: Int

  /// Counts the given bytes.
  package init(_ bytes: some Collection) { count = bytes.count }

  /// `12 bytes`.
  package var description: String { "\(count) bytes" }

  /// Nothing but that.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
