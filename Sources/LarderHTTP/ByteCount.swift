/// Replaces bytes by their count when a value is printed or dumped: content can be long, and contains personal data.
package struct ByteCount: Sendable, CustomStringConvertible, CustomReflectable {
  private let count: Int

  /// Counts the given bytes.
  package init(_ bytes: some Collection) { count = bytes.count }

  /// `12 bytes`.
  package var description: String { "\(count) bytes" }

  /// An empty mirror: a dump shows only the description.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
